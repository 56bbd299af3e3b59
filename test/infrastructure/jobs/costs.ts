// Buffers that the queue's statements read with their generic plans.
import type { Room } from '../../../infrastructure/jobs/jobLoop.ts';
import * as statements from '../../../infrastructure/jobs/statements.ts';
import { QUEUES_UNDER_TEST, type QueueUnderTest } from './queueUnderTest.ts';

const NAMES = QUEUES_UNDER_TEST.map(({ kind }) => kind.name);

interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly Node[];
}
export interface Cost {
  readonly buffers: number;
  /** The number of returned rows. */
  readonly jobs: number;
  /** The tables that were scanned completely. */
  readonly scans: readonly string[];
}

const literal = (value: unknown): string => {
  if (Array.isArray(value)) return `ARRAY[${value.map(literal)}]`;
  return typeof value === 'number' ? `${value}` : `'${value}'`;
};
const nodesOf = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** Runs the statement, rolls it back, and returns its cost. */
export const costOf = async (
  test: QueueUnderTest,
  text: string,
  types: readonly string[],
  values: readonly unknown[],
): Promise<Cost> => {
  const { sql } = test.backends;
  await sql.query('BEGIN');
  try {
    await sql.query('SET LOCAL plan_cache_mode = force_generic_plan');
    await sql.query(`PREPARE cost${types.length === 0 ? '' : `(${types})`} AS ${text}`);
    const cast = values.map((value, i) => `${literal(value)}::${types[i]}`);
    const { rows } = await sql.query(
      `EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT JSON) EXECUTE cost${cast.length === 0 ? '' : `(${cast})`}`,
    );
    const plan = (rows[0] as { 'QUERY PLAN': { Plan: Node }[] })['QUERY PLAN'][0]?.Plan as Node;
    return {
      buffers: (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0),
      jobs: plan['Actual Rows'] ?? 0,
      scans: nodesOf(plan).flatMap((node) =>
        node['Node Type'] === 'Seq Scan' && node['Relation Name']?.startsWith('job') ? [node['Relation Name']] : [],
      ),
    };
  } finally {
    await sql.query('ROLLBACK');
    await sql.query('DEALLOCATE ALL');
  }
};

const CLAIM_TYPES = [
  ...['text', 'text', 'text', 'int', 'int', 'text[]', 'int[]', 'int[]', 'int', 'text[]', 'text[]', 'int[]', 'text[]'],
];
const EMPTY: Pick<Room, 'tenants' | 'targets'> = { tenants: [], targets: [] };

/** Returns the cost of one claim of 24 slots of the queue `settle`. */
export const claimCosts = (test: QueueUnderTest, { tenants, targets } = EMPTY): Promise<Cost> =>
  costOf(test, statements.CLAIM.text, CLAIM_TYPES, [
    ...['settle', 'live/', 'live0', 24, 8],
    tenants.map(({ tenant }) => tenant),
    tenants.map(({ held }) => held),
    tenants.map(({ room }) => room),
    16,
    targets.map(({ tenant }) => tenant),
    targets.map(({ target }) => target),
    targets.map(({ room }) => room),
    tenants.map(({ latest }) => latest),
  ]);

const insert = (count: number, tenant: string, target: string, more = "'created', now()"): string =>
  `INSERT INTO jobs.job (name, data, group_id, group_tier, policy, state, start_after)
   SELECT 'settle', jsonb_build_object('payloads', jsonb_build_array(jsonb_build_object('id', n::text))), ${tenant}, ${target}, 'standard',
     ${more} FROM generate_series(1, ${count}) n`;
const RETRY = "'retry', now() + interval '1 h'";

/** Returns the statement that creates jobs of a tenant for different targets. */
export const waitingOf = (tenant: string, count: number): string => insert(count, `'${tenant}'`, "'h' || n");

/** Returns states of the queue with `lines` waiting jobs, each with the statement that creates it. */
export const waitingLines = (lines: number): readonly (readonly [string, string])[] => [
  ['a line of each tenant, all due', insert(lines, "'live/t' || n", "''")],
  ['a line of each tenant, none due', insert(lines, "'live/t' || n", "''", RETRY)],
  ['lines of one tenant, all due', insert(lines, "'live/t'", "'h' || n")],
  ['lines of ten tenants, all due', insert(lines, "'live/t' || n % 10", "'h' || n")],
  ['one line of one tenant', insert(lines, "'live/t'", "'h'")],
  [
    'a line of each tenant, none due, followed by 24 due ones',
    `${insert(lines, "'live/t' || n", "''", RETRY)}; ${insert(24, "'live/u' || n", "''")}`,
  ],
  ['lines in test mode', insert(lines, "'test/t' || n", "''")],
];

type Upkeep = readonly [string, (test: QueueUnderTest) => Promise<Cost>];
/** The regular upkeep statements, when nothing is due. */
export const UPKEEP_COSTS: readonly Upkeep[] = [
  [
    'make deferred jobs ready',
    (test) =>
      costOf(
        test,
        statements.READY_LANES.text,
        ['text[]', 'text[]', 'text[]', 'text[]', 'int'],
        [NAMES.map((name) => `${name}/test`), NAMES, NAMES.map(() => 'test/'), NAMES.map(() => 'test0'), 1_000],
      ),
  ],
  [
    'reopen claims of dead workers',
    (test) => costOf(test, statements.REOPEN_EXPIRED, ['text[]', 'int', 'timestamptz'], [NAMES, 9_000, 'now']),
  ],
  ['release all claims', (test) => costOf(test, statements.RELEASE_ALL, ['text[]'], [NAMES])],
  [
    'delete old jobs',
    (test) => costOf(test, statements.DELETE_OLD, ['text[]', 'int', 'int'], [NAMES, 2_592_000, 1_000]),
  ],
  ['count the open jobs of a queue', (test) => costOf(test, statements.COUNT_OPEN, ['text'], ['refund'])],
  [
    'count the open jobs of a tenant',
    (test) => costOf(test, statements.COUNT_OPEN_OF, ['text', 'text'], ['settle', 'live/t7']),
  ],
  [
    'count the jobs of a tenant that are under way',
    (test) => costOf(test, statements.COUNT_UNDER_WAY, ['text[]', 'text'], [NAMES, 'live/t7']),
  ],
  [
    'list running jobs of a tenant',
    (test) => costOf(test, statements.RUNNING_PAYLOADS.text, ['text', 'text'], ['settle', 'live/t7']),
  ],
  [
    'look for the open jobs of owed work',
    (test) => costOf(test, statements.OPEN_PAYLOADS, ['text', 'text[]'], ['settle', ['live/t7', 'live/t8']]),
  ],
  [
    'look for the failed jobs of owed work',
    (test) => costOf(test, statements.FAILED_PAYLOADS, ['text', 'text[]'], ['settle', ['live/t7', 'live/t8']]),
  ],
];
