// CLI commands that inspect and retry the platform's work.

import { QUEUES } from '../../application/capabilities.ts';
import type { LedgerLine } from '../../application/operations/ledger.ts';
import { NotDivided, PARTITIONS_MAX } from '../../application/ports/consumers.ts';
import { AlreadyRunning, type WorkProgress } from '../../application/ports/readModelWork.ts';
import { ACCOUNT } from '../../domain/account/account.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { type CliCommand, type CliInput, CONSUMERS, streamOf, UsageError } from '../cli/command.ts';
import { amountText, type Screen, table } from '../cli/output.ts';
import { type FailedJob, listFailedJobs, redriveJobs } from '../jobs/failedJobs.ts';
import { asOfCommand } from './commands/asOf.ts';
import { eventCommands } from './commands/events.ts';
import { orderCommands } from './commands/orders.ts';
import { parkedCommands } from './commands/parked.ts';

// --- Lists and retries failed jobs (architecture §7). The watchdog retries pending work by itself; these commands show what fails, and
// let an operator who fixed the cause retry at once. ---

const LISTED_MAX = 1_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const QUEUE = QUEUES;
const queueOf = ({ options: { queue } }: CliInput): string | null => (queue === undefined ? null : (queue as string));

const shown = ({ tenant: { accountId, mode }, ...job }: FailedJob) => {
  const { id, queue, payloads, attempts, state, error, failures, failedAt, nextAttemptAt } = job;
  const accountOf = ACCOUNT.idPrefix + accountId;
  return { id, queue, state, accountId: accountOf, mode, payloads, attempts, error, failures, failedAt, nextAttemptAt };
};

const stateText = ({ state, nextAttemptAt }: ReturnType<typeof shown>): string => {
  if (state === 'failed') return 'failed permanently';
  return state === 'retry' ? `next attempt ${nextAttemptAt}` : 'awaits a newer version';
};

const JOBS_HEAD = ['FAILED', 'JOB', 'QUEUE', 'STATE', 'ACCOUNT', 'ATTEMPTS', 'PAYLOADS', 'ERROR'];
const jobCells = (job: ReturnType<typeof shown>): readonly string[] => [
  job.failedAt,
  job.id,
  job.queue,
  stateText(job),
  `${job.accountId} ${job.mode}`,
  `${job.attempts} attempts`,
  job.payloads.map((payload) => JSON.stringify(payload)).join(' '),
  job.error,
];

const listJobs: CliCommand = {
  name: 'jobs list',
  summary: `List jobs that failed permanently (kept 30 days) or await a retry or an upgrade (at most ${LISTED_MAX})`,
  options: { queue: { description: 'only jobs of this queue', choices: QUEUE } },
  run: async ({ storage }, input) => {
    const { jobs, total } = await listFailedJobs(storage.reads, queueOf(input), LISTED_MAX);
    const all = jobs.map(shown);
    const rest = total > all.length ? `\nand ${total - all.length} more` : '';
    const text = (screen: Screen) => table(screen, JOBS_HEAD, all.map(jobCells)) + rest;
    return { json: { jobs: all, total }, text: total === 0 ? 'no failed jobs' : text };
  },
};

const redriveCommand: CliCommand = {
  name: 'jobs redrive',
  summary: 'Retry permanently failed jobs now: one job by its id, a queue, or --all; completed steps are not repeated',
  args: [{ name: 'id', optional: true }],
  options: {
    queue: { description: 'all failed jobs of this queue', choices: QUEUE },
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
    const text =
      jobs.length === 0 ? 'no permanently failed jobs' : `retrying ${jobs.length} jobs with ${payloads} payloads`;
    return { json: { redriven: jobs }, text };
  },
};

// --- Read models: shows their progress, rebuilds them, and compares them with the events ---

/** Names are padded so that positions line up when the output is piped, too. */
const NAME_WIDTH = Math.max(...CONSUMERS.map(({ length }) => length));

const projectionStatus: CliCommand = {
  name: 'projections status',
  summary: 'Show the position of each read model and process in the log',
  run: async (world) => {
    const { head, consumers } = await world.platform.listConsumers();
    const row = (name: string, position: string | null): readonly string[] => [
      name.padEnd(NAME_WIDTH),
      position ?? '-',
      position === head ? 'caught up' : 'behind',
    ];
    const rows = consumers.flatMap(({ name, position, partitions }) => [
      row(name, position),
      ...partitions.map((one) => row(`  partition ${one.partition} of ${partitions.length}`, one.position)),
    ]);
    const text = (screen: Screen) =>
      table(screen, ['NAME', 'POSITION', ''], [['head of the log'.padEnd(NAME_WIDTH), head ?? '-', ''], ...rows]);
    return { json: { head, consumers }, text };
  },
};

const PARTITION_COUNTS = Array.from({ length: Math.log2(PARTITIONS_MAX) + 1 }, (_, n) => String(2 ** n));

const partitionCommand: CliCommand = {
  name: 'projections partition',
  summary: 'Divide a read model or process by account into partitions, which processes share; 1 ends the division',
  args: [
    { name: 'consumer', choices: CONSUMERS },
    { name: 'partitions', choices: PARTITION_COUNTS },
  ],
  changes: 'always',
  run: async (world, { args: [consumer = '', count] }) => {
    const partitions = Number(count);
    const outcome = await world.platform.divideConsumer(consumer, partitions, world.signal).catch((error: unknown) => {
      if (error instanceof NotDivided) throw new UsageError(error.message);
      throw error;
    });
    const isEven = outcome === 'even';
    const rest = 'some are still ahead of the others; run the command again when projections status shows them even';
    const text = `${consumer} has ${partitions === 1 ? 'one partition' : `${partitions} partitions`}`;
    return { json: { consumer, partitions, isEven }, text: isEven ? text : `${text}, but ${rest}`, isBad: !isEven };
  },
};

/** Throws UsageError if another rebuild or verification is running. */
const ofOne = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AlreadyRunning) throw new UsageError(error.message);
    throw error;
  }
};

const rebuildCommand: CliCommand = {
  name: 'projections rebuild',
  summary: `Rebuild a read model beside the live copy, then swap them (${PROJECTIONS.map(({ name }) => name).join(', ')}, or all)`,
  args: [{ name: 'name', choices: [...PROJECTIONS.map(({ name }) => name), 'all'] }],
  changes: 'always',
  run: async (world, { args: [name] }, { progress }) => {
    const onProgress = ({ share, what }: WorkProgress) => progress.show(share, what);
    const reports = await ofOne(() => world.platform.rebuild(name as string, world.signal, onProgress));
    const lines = reports.map(
      ({ projection, events, seconds }) => `${projection}: ${events} events in ${seconds.toFixed(1)} s`,
    );
    return { json: { rebuilt: reports }, text: lines.join('\n') };
  },
};

const verifyCommand: CliCommand = {
  name: 'projections verify',
  summary:
    'Compare every read model with a replay of the log, and each row with its stream; any difference is an error',
  run: async (world, _, { progress }) => {
    const onProgress = ({ share, what }: WorkProgress) => progress.show(share, what);
    const report = await ofOne(() => world.platform.verify(world.signal, onProgress));
    const { position, rows, differences, differenceCount, parked } = report;
    const lines = differences.map(
      ({ table, live, replayed }) =>
        `${table}\n  live     ${live ?? '(missing)'}\n  replayed ${replayed ?? '(missing)'}`,
    );
    const text = [
      ...lines,
      ...(differenceCount > differences.length ? [`and ${differenceCount - differences.length} more differences`] : []),
      ...parked.map(({ consumer, stream, revision }) => `${consumer} parked ${stream} at event ${revision}`),
      `${rows} rows compared at ${position ?? 'an empty log'}: ${differenceCount} differences${parked.length > 0 ? `, ${parked.length} parked streams skipped` : ''}`,
    ].join('\n');
    return {
      json: report,
      text,
      isBad: differenceCount > 0 || parked.length > 0,
    };
  },
};

// --- Checks whether the ledger balances, and shows the postings of one payment or payout ---

const checkLedger: CliCommand = {
  name: 'ledger check',
  summary: 'Check that each entry and the whole ledger sum to zero, and that each balance is the sum of its postings',
  reads: ['wallet'],
  run: async (world) => {
    const { sums, entries, balances, disputes, isBalanced } = await world.platform.checkLedger();
    const lines = [
      ...sums.map(({ currency, sum, postings }) => `${currency}: ${postings} postings sum to ${sum}`),
      ...entries.map((entry) => `${entry.stream}@${entry.revision} sums to ${entry.sum}`),
      ...balances.map(
        (b) =>
          `${b.account_id} ${b.mode} ${b.currency} ${b.ledger_account}: balance ${b.balance}, postings ${b.postings}`,
      ),
      ...disputes.map(
        ({ account_id: account, mode, currency, rest }) =>
          `${account} ${mode} ${currency} disputes: ${rest} left, the platform’s ${rest > 0 ? 'gain' : 'loss'}`,
      ),
      isBalanced ? 'the ledger balances' : 'the ledger does not balance',
    ];
    return { json: { sums, entries, balances, disputes }, text: lines.join('\n'), isBad: !isBalanced };
  },
};

const HEAD = ['AT', 'REVISION', 'EVENT', 'LEDGER ACCOUNT', 'CURRENCY', 'AMOUNT', 'SUM', 'WHAT'];
const cells = ({ revision, event, at, account, currency, amount, sum, what }: LedgerLine): readonly string[] => [
  at,
  `@${revision}`.padEnd(4),
  event.padEnd(26),
  account.padEnd(18),
  currency,
  amountText(amount, currency).padStart(14),
  amountText(sum, currency).padStart(14),
  what,
];

const showPostings: CliCommand = {
  name: 'ledger show',
  summary: 'Show every posting of a payment or payout: time, event, ledger account, amount, running sum and reason',
  args: [{ name: 'payment or payout' }],
  reads: ['wallet'],
  run: async (world, { args: [id = ''] }) => {
    const stream = streamOf(id);
    const ledger = await world.platform.showLedger(stream);
    if (ledger === null) throw new UsageError('There is no such payment or payout.');
    const { postings: lines, totals, differences } = ledger;
    const isBad = differences.length > 0 || totals.some(({ sum }) => sum !== 0);
    const text = (screen: Screen) =>
      [
        lines.length === 0 ? 'no postings' : table(screen, HEAD, lines.map(cells)),
        ...totals.map(({ currency, sum }) => `${currency}: all postings sum to ${amountText(sum, currency)}`),
        ...differences,
        ...(differences.length > 0 ? ['if the differences persist: npm run cli -- projections verify'] : []),
      ].join('\n');
    return { json: { stream, ...ledger }, text, isBad };
  },
};

export const commands = [
  listJobs,
  redriveCommand,
  ...orderCommands,
  projectionStatus,
  partitionCommand,
  rebuildCommand,
  verifyCommand,
  asOfCommand,
  ...parkedCommands,
  ...eventCommands,
  checkLedger,
  showPostings,
];
