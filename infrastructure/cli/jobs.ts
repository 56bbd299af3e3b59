// Work that failed: what it was, why, and again (architecture §7). The watchdog finds by itself what is owed; this is for whoever mended
// the cause and does not want to wait, and to see what goes wrong.

import { QUEUES } from '../../application/capabilities.ts';
import { ACCOUNT } from '../../domain/account/account.ts';
import { type FailedJob, listFailedJobs, redriveJobs } from '../jobs/failedJobs.ts';
import { type CliCommand, type CliInput, UsageError } from './command.ts';
import { type Screen, table } from './output.ts';

const LISTED_MAX = 1_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const QUEUE = { what: 'queue', names: QUEUES };
const queueOf = ({ options: { queue } }: CliInput): string | null => (queue === undefined ? null : (queue as string));

const shown = ({ tenant: { accountId, mode }, ...job }: FailedJob) => {
  const { id, queue, payloads, attempts, state, error, failures, failedAt, nextAttemptAt } = job;
  const accountOf = ACCOUNT.idPrefix + accountId;
  return { id, queue, state, accountId: accountOf, mode, payloads, attempts, error, failures, failedAt, nextAttemptAt };
};

const HEAD = ['FAILED', 'JOB', 'QUEUE', 'STATE', 'ACCOUNT', 'ATTEMPTS', 'PAYLOADS', 'ERROR'];
const cells = (job: ReturnType<typeof shown>): readonly string[] => [
  job.failedAt,
  job.id,
  job.queue,
  job.state === 'failed' ? 'failed for good' : `next attempt ${job.nextAttemptAt}`,
  `${job.accountId} ${job.mode}`,
  `${job.attempts} attempts`,
  job.payloads.map((payload) => JSON.stringify(payload)).join(' '),
  job.error,
];

const list: CliCommand = {
  name: 'jobs list',
  summary: `Work that failed, for good (kept 30 days) or until its next attempt (at most ${LISTED_MAX})`,
  args: [],
  options: { queue: { description: 'only of this queue', choice: QUEUE } },
  run: async ({ storage }, input) => {
    const { jobs, total } = await listFailedJobs(storage.reads, queueOf(input), LISTED_MAX);
    const all = jobs.map(shown);
    const rest = total > all.length ? `\nand ${total - all.length} more` : '';
    const text = (screen: Screen) => table(screen, HEAD, all.map(cells)) + rest;
    return { json: { jobs: all, total }, text: total === 0 ? 'nothing has failed' : text };
  },
};

const redrive: CliCommand = {
  name: 'jobs redrive',
  summary:
    'Begin work that failed for good again, at once: one job by its id, a queue, or --all; what is done already stays as it is',
  args: [{ name: 'id', optional: true }],
  options: {
    queue: { description: 'all of this queue', choice: QUEUE },
    all: { description: 'all of every queue', flag: true },
  },
  changes: 'always',
  run: async ({ storage }, input) => {
    const [id] = input.args;
    const queue = queueOf(input);
    const isAll = input.options['all'] === true;
    if ([id !== undefined, queue !== null, isAll].filter(Boolean).length !== 1)
      throw new UsageError('say which: the id of a job, --queue with a name, or --all');
    if (id !== undefined && !UUID.test(id)) throw new UsageError(`"${id}" is no id of a job; npm run cli -- jobs list`);
    const jobs = await redriveJobs(storage.operations, { id: id ?? null, queue });
    if (id !== undefined && jobs.length === 0) throw new UsageError(`no job ${id} has failed for good`);
    const payloads = jobs.reduce((sum, job) => sum + job.payloads.length, 0);
    return { json: { redriven: jobs }, text: `${jobs.length} jobs with ${payloads} payloads begin again` };
  },
};

export const jobCommands: readonly CliCommand[] = [list, redrive];
