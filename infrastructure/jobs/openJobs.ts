// Opens the job queue of a process. Failed jobs are logged.
import type { Log } from '../log/log.ts';
import { PgBossJobs } from './pgBossJobs.ts';

type Opening = Parameters<typeof PgBossJobs.open>[0];

interface World {
  readonly storage: { readonly derived: Opening['pool']; readonly notices: Opening['notices'] };
  readonly log: Log;
  readonly isAlone: boolean;
  readonly clockFault?: () => string | null;
}

export const openJobs = async (
  { storage, log, isAlone, clockFault = () => null }: World,
  queues: Opening['queues'],
): Promise<PgBossJobs> => {
  const reported = new Set<string>();
  const jobs = await PgBossJobs.open({
    pool: storage.derived,
    notices: storage.notices,
    queues,
    onPutBack: (queue, { version, message }) => {
      if (reported.has(`${queue} ${version}`)) return;
      reported.add(`${queue} ${version}`);
      log.warn({ queue, version }, `job left to a newer worker: ${message}`);
    },
    mayClaim: () => clockFault() === null,
    onError: (err, { queue, failures, isFinal }) =>
      isFinal
        ? log.error({ err, queue, failures }, 'job failed permanently: run npm run cli -- jobs list')
        : log.warn({ err, queue, failures }, 'job failed; it will be retried'),
  });
  if (isAlone) await jobs.releaseClaims();
  return jobs;
};
