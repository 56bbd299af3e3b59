// Lists and retries failed jobs (architecture §7). The watchdog retries pending work by itself; these commands show what
// fails, and let an operator who fixed the cause retry at once.

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
  job.state === 'failed' ? 'failed permanently' : `next attempt ${job.nextAttemptAt}`,
  `${job.accountId} ${job.mode}`,
  `${job.attempts} attempts`,
  job.payloads.map((payload) => JSON.stringify(payload)).join(' '),
  job.error,
];

const list: CliCommand = {
  name: 'jobs list',
  summary: `List jobs that failed permanently (kept 30 days) or await a retry (at most ${LISTED_MAX})`,
  options: { queue: { description: 'only jobs of this queue', choice: QUEUE } },
  run: async ({ storage }, input) => {
    const { jobs, total } = await listFailedJobs(storage.reads, queueOf(input), LISTED_MAX);
    const all = jobs.map(shown);
    const rest = total > all.length ? `\nand ${total - all.length} more` : '';
    const text = (screen: Screen) => table(screen, HEAD, all.map(cells)) + rest;
    return { json: { jobs: all, total }, text: total === 0 ? 'no failed jobs' : text };
  },
};

const redrive: CliCommand = {
  name: 'jobs redrive',
  summary: 'Retry permanently failed jobs now: one job by its id, a queue, or --all; completed steps are not repeated',
  args: [{ name: 'id', optional: true }],
  options: {
    queue: { description: 'all failed jobs of this queue', choice: QUEUE },
    all: { description: 'all failed jobs of every queue', flag: true },
  },
  changes: 'always',
  run: async ({ storage }, input) => {
    const [id] = input.args;
    const queue = queueOf(input);
    const isAll = input.options['all'] === true;
    if ([id !== undefined, queue !== null, isAll].filter(Boolean).length !== 1)
      throw new UsageError('give exactly one of a job id, --queue <value> and --all');
    if (id !== undefined && !UUID.test(id))
      throw new UsageError(`"${id}" is not a job id; npm run cli -- jobs list shows them`);
    const jobs = await redriveJobs(storage.operations, { id: id ?? null, queue });
    if (id !== undefined && jobs.length === 0) throw new UsageError(`no permanently failed job has the id ${id}`);
    const payloads = jobs.reduce((sum, job) => sum + job.payloads.length, 0);
    return { json: { redriven: jobs }, text: `retrying ${jobs.length} jobs with ${payloads} payloads` };
  },
};

export const jobCommands: readonly CliCommand[] = [list, redrive];
