// Checks that a deployment under long load doesn’t grow: memory and open files of its processes, and the tables that hold only open work.
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { median } from '../../bench/statistics.ts';
import type { Deployment, Role, Running } from './processes.ts';

const PAGE_BYTES = 4_096;
const MEBIBYTE = 2 ** 20;
/** A younger process is still opening its connections. */
const OPENED_MS = 20_000;
/** A younger process is still compiling code and filling its caches. */
const WARM_MS = 60_000;
/** Minimum number of samples of a warm process. Fewer say nothing about growth. */
const WARM_SAMPLES_MIN = 6;
const FDS_MORE_MAX = 10;
const RSS_RATIO_MAX = 1.5;
/** Open work varies with the most recent fault. */
const [ROWS_RATIO_MAX, ROWS_MORE_MAX] = [2, 100] as const;
const [BYTES_RATIO_MAX, BYTES_MORE_MAX] = [2, 16 * MEBIBYTE] as const;
/** Jobs of the newer release that no worker supports are found again within two minutes. */
const QUIET_MS = 240_000;
const LOOK_MS = 1_000;

/** Tables of open work, and how many more rows than before the load may be left when the deployment is quiet. */
const OPEN_WORK: Readonly<
  Record<
    string,
    { readonly rows?: string; readonly more: number; readonly morePerAccount?: number; readonly morePerKill?: number }
  >
> = {
  // If both workers have been replaced by the older release, jobs of the newer one wait for the next upgrade (docs/upgrading.md).
  'jobs.job': { rows: `output->'version' IS NULL`, more: 0 },
  'operations.timers': { rows: 'due_at < now()', more: 0 },
  'operations.owed': { more: 0 },
  'operations.scheduled_deliveries': { more: 0 },
  // One row for each endpoint, event type and direction.
  'operations.scheduled_counts': { more: 0, morePerAccount: 4 },
  'operations.provider_notifications': { rows: 'handled_at IS NULL', more: 0 },
  'operations.failing_targets': { more: 0 },
  'operations.connection_circuits': { more: 0 },
  // The lease of a killed process stays until the next change of a key.
  'operations.access_leases': { more: 2, morePerKill: 1 },
  'operations.sessions': { more: 0 },
  'operations.payout_reservations': { more: 0 },
  'operations.refund_reservations': { more: 0 },
  // One row for each partition of five consumers.
  'subscriptions.checkpoints': { more: 80 },
  'subscriptions.leaderships': { more: 10 },
  'subscriptions.parked_streams': { more: 0 },
};
/** These tables also hold finished work, so their size may grow. */
const WITH_HISTORY = ['operations.timers', 'operations.provider_notifications'];

interface TableSize {
  readonly rows: number;
  readonly bytes: number;
}
type Tables = Readonly<Record<string, TableSize>>;

interface ProcessSize extends Running {
  readonly rssMib: number;
  readonly fds: number;
}
interface Sample {
  readonly processes: readonly ProcessSize[];
  readonly tables: Tables;
}

const SIZES = Object.entries(OPEN_WORK)
  .map(
    ([table, { rows = 'true' }]) =>
      `SELECT '${table}' AS name, (SELECT count(*)::int FROM ${table} WHERE ${rows}) AS rows,
        (SELECT sum(pg_total_relation_size(part))::int FROM
          (SELECT '${table}'::regclass AS part UNION SELECT relid FROM pg_partition_tree('${table}')) AS parts) AS bytes`,
  )
  .join(' UNION ALL ');

const tablesOf = async (db: pg.Client): Promise<Tables> => {
  const { rows } = await db.query<TableSize & { name: string }>(SIZES);
  return Object.fromEntries(rows.map(({ name, ...size }) => [name, size]));
};

/** Returns null if the process has ended. */
const sizeOf = async (process: Running): Promise<ProcessSize | null> => {
  const folder = `/proc/${process.pid}`;
  const [statm, fds] = await Promise.all([readFile(`${folder}/statm`, 'utf8'), readdir(`${folder}/fd`)]).catch(
    () => [null, []] as const,
  );
  if (statm === null) return null;
  return { ...process, rssMib: (Number(statm.split(' ')[1]) * PAGE_BYTES) / MEBIBYTE, fds: fds.length };
};

const part = <T>(all: readonly T[], quarter: 1 | 2 | 4): readonly T[] =>
  all.slice(Math.floor(((quarter - 1) * all.length) / 4), Math.ceil((quarter * all.length) / 4));

export interface Flatness {
  readonly table: string;
  /** Everything that grew. Must be empty. */
  readonly rises: readonly string[];
  /** Roles with a process that lived long enough to judge its memory. */
  readonly judged: readonly Role[];
}

export class Sampler {
  readonly #deployment: Deployment;
  readonly #db: pg.Client;
  readonly #before: Tables;
  readonly #accounts: number;
  readonly #samples: Sample[] = [];
  readonly #over = new AbortController();
  #sampling: Promise<void> = Promise.resolve();

  private constructor(deployment: Deployment, db: pg.Client, before: Tables, accounts: number) {
    this.#deployment = deployment;
    this.#db = db;
    this.#before = before;
    this.#accounts = accounts;
  }

  /** Starts sampling every `everyMs`. Call it while the deployment of `accounts` accounts is quiet. */
  static async start(
    deployment: Deployment,
    connectionString: string,
    { everyMs, accounts }: { readonly everyMs: number; readonly accounts: number },
  ): Promise<Sampler> {
    const db = new pg.Client({ connectionString, application_name: 'quita soak' });
    await db.connect();
    const sampler = new Sampler(deployment, db, await tablesOf(db), accounts);
    sampler.#sampling = sampler.#sample(everyMs);
    sampler.#sampling.catch(() => undefined); // `stop` reports the error.
    return sampler;
  }

  /** Ends the sampling, so that the samples cover only the time under load. */
  async stop(): Promise<void> {
    this.#over.abort();
    await this.#sampling;
  }

  /** Waits some minutes for the tables to return to their former level, and compares. `kills` is the number of processes killed with -9. */
  async compare(kills: number): Promise<Flatness> {
    let quiet = await tablesOf(this.#db);
    const left = (): readonly string[] =>
      Object.entries(OPEN_WORK).flatMap(([name, { more, morePerAccount = 0, morePerKill = 0 }]) => {
        const [now, then] = [quiet[name]!.rows, this.#before[name]!.rows];
        return now <= then + more + morePerAccount * this.#accounts + morePerKill * kills
          ? []
          : [`${name}: ${now} rows are left, ${then} before`];
      });
    for (const beganAtMs = performance.now(); left().length > 0 && performance.now() - beganAtMs < QUIET_MS; ) {
      await pause(LOOK_MS);
      quiet = await tablesOf(this.#db);
    }
    const [tables, files, memory] = [this.#tables(quiet), this.#files(), this.#memory()];
    const examples = await Promise.all(left().map((line) => this.#example(line.slice(0, line.indexOf(':')))));
    return {
      table: [...files.lines, ...memory.lines, ...tables.lines, ...examples].join('\n'),
      rises: [...left(), ...files.rises, ...memory.rises, ...tables.rises],
      judged: memory.judged,
    };
  }

  /** Returns a row of open work that was left. */
  async #example(table: string): Promise<string> {
    const { rows } = await this.#db.query<{ row: string }>(
      `SELECT to_jsonb(t)::text AS row FROM ${table} t WHERE ${OPEN_WORK[table]?.rows ?? 'true'} LIMIT 1`,
    );
    return `left in ${table}: ${rows[0]?.row ?? 'nothing any more'}`;
  }

  close(): Promise<void> {
    return this.#db.end();
  }

  async #sample(everyMs: number): Promise<void> {
    const { signal } = this.#over;
    for (; !signal.aborted; await pause(everyMs, undefined, { signal }).catch(() => undefined)) {
      const sizes = await Promise.all(this.#deployment.running.map(sizeOf));
      this.#samples.push({ processes: sizes.filter((one) => one !== null), tables: await tablesOf(this.#db) });
    }
  }

  #tables(quiet: Tables): { readonly lines: readonly string[]; readonly rises: readonly string[] } {
    const [lines, rises]: [string[], string[]] = [[], []];
    for (const [name, { morePerAccount = 0 }] of Object.entries(OPEN_WORK)) {
      const of = (quarter: 2 | 4, what: keyof TableSize): number =>
        median(part(this.#samples, quarter).map(({ tables }) => tables[name]![what]));
      const [rows, bytes] = (['rows', 'bytes'] as const).map((what) => [of(2, what), of(4, what)] as const);
      const counts = `${this.#before[name]!.rows} before, ${rows![0]} and ${rows![1]} under load, ${quiet[name]!.rows} after`;
      const line = `${name}: rows ${counts}; kB ${bytes!.map((size) => Math.round(size / 1_024)).join(' and ')}`;
      lines.push(line);
      const more = ROWS_MORE_MAX + morePerAccount * this.#accounts;
      const hasMoreRows = rows![1] > ROWS_RATIO_MAX * rows![0] + more;
      const isLarger = bytes![1] > BYTES_RATIO_MAX * bytes![0] + BYTES_MORE_MAX && !WITH_HISTORY.includes(name);
      if (hasMoreRows || isLarger) rises.push(line);
    }
    return { lines, rises };
  }

  #files(): { readonly lines: readonly string[]; readonly rises: readonly string[] } {
    const [lines, rises]: [string[], string[]] = [[], []];
    for (const role of ['projector', 'worker', 'api'] as const) {
      const of = (quarter: 2 | 4): number =>
        median(
          part(this.#samples, quarter)
            .flatMap(({ processes }) => processes)
            .filter((one) => one.role === role && one.ageMs >= OPENED_MS)
            .map(({ fds }) => fds),
        );
      const [then, now] = [of(2), of(4)];
      const line = `${role}s: open files ${then} in the second quarter, ${now} in the last`;
      lines.push(line);
      if (!(now <= then + FDS_MORE_MAX)) rises.push(line);
    }
    return { lines, rises };
  }

  #memory(): {
    readonly lines: readonly string[];
    readonly rises: readonly string[];
    readonly judged: readonly Role[];
  } {
    const [lines, rises]: [string[], string[]] = [[], []];
    const judged = new Set<Role>();
    const warm = this.#samples.flatMap(({ processes }) => processes).filter(({ ageMs }) => ageMs >= WARM_MS);
    for (const life of Map.groupBy(warm, ({ pid }) => pid).values()) {
      if (life.length < WARM_SAMPLES_MIN) continue;
      const of = (quarter: 1 | 4): number => Math.round(median(part(life, quarter).map(({ rssMib }) => rssMib)));
      const { name, role, release, pid, ageMs } = life.at(-1)!;
      const line = `${name} (${release}, ${pid}): ${of(1)} MiB when warm, ${of(4)} at the end of ${Math.round(ageMs / 1_000)} s`;
      judged.add(role);
      lines.push(line);
      if (of(4) > RSS_RATIO_MAX * of(1)) rises.push(line);
    }
    return { lines, rises, judged: [...judged] };
  }
}
