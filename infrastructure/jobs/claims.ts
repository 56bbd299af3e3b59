// Claims of one queue and lane in pg-boss's tables: claims jobs, ends them, releases them, and records failures.
import { type JobPayload, PayloadsFailed, Stopping } from '../../application/ports/jobs.ts';
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import type { Mode } from '../../domain/kernel/ids.ts';
import type { Claim, ClaimedJob, Claims, Room } from './jobLoop.ts';
import { laneBounds } from './lanes.ts';
import { type KnownQueue, MalformedPayload, NewerPayload } from './payloads.ts';
import * as statements from './statements.ts';

/** Longest stored error message, in characters. */
const MESSAGE_MAX = 500;

/**
 * A job of a newer version waits for this to twice this before a worker may claim it again. The time is random: workers poll at a fixed
 * rate, so the same older one could be the first each time.
 */
const PUT_BACK_MS = 5_000;

/** A failure as it is stored in a job. */
export interface PayloadFailure {
  readonly payload: JobPayload;
  readonly error: string;
}

export interface JobFailure {
  readonly queue: string;
  /** The payloads whose work failed, with the reasons; empty if the failure was outside a job's work. */
  readonly failures: readonly PayloadFailure[];
  /** Whether the job is not retried automatically. */
  readonly isFinal: boolean;
}

interface Needs {
  readonly pool: SqlPool;
  readonly mayClaim?: () => boolean;
  readonly onError: (error: Error, failure: JobFailure) => void;
  /** Called when a job was left to a worker of a newer version. */
  readonly onPutBack: (queue: string, error: NewerPayload) => void;
}

export const claimsOf = (
  { pool, onError, onPutBack, mayClaim = () => true }: Needs,
  known: KnownQueue,
  lane: Mode,
): Claims => {
  const { name: queue, isOwedByRow } = known;
  const [first] = laneBounds(lane);
  /** The next claim visits the tenants after this one. */
  let after = first;
  const done = async (claims: readonly Claim[]): Promise<void> => {
    const statement = isOwedByRow ? statements.DONE_OWED : statements.DONE;
    await pool.query({ ...statement, values: ended(claims) });
  };
  const ended = (claims: readonly Claim[]) => [queue, claims.map(({ id }) => id), claims.map(({ attempt }) => attempt)];
  return {
    mayClaim,
    claim: async (room, claims) => {
      if (!mayClaim()) {
        if (claims.length > 0) await done(claims);
        return { jobs: [], isWhole: true };
      }
      const rows = await claim(pool, known, { after, lane }, room, claims);
      const jobs = rows.filter((row): row is ClaimedRow & ClaimedJob => row.payloads !== null);
      const isPart = rows[0]?.isPart ?? false;
      // Otherwise another claim would find more: earlier tenants were not visited, or another worker claimed some of the jobs.
      const isWhole = jobs.length === rows.length && (isPart || after === first);
      after = isPart ? rows.map(({ tenant }) => tenant).reduce((a, b) => (a > b ? a : b)) : first;
      return { jobs, isWhole };
    },
    done,
    failed: async (job, error) => {
      if (error instanceof NewerPayload) {
        const output = JSON.stringify({ message: said(error), failures: [], version: error.version });
        await pool.query(statements.PUT_BACK, [...ended([job]), PUT_BACK_MS, output]);
        return onPutBack(queue, error);
      }
      const failures = failuresOf(job, error);
      const real = failures.filter((failure) => !(failure.error instanceof Stopping));
      if (real.length === 0) return releaseRest(pool, known, job, failures);
      const isFinal = await recordFailure(pool, known, job, error, failures);
      onError(error, { queue, failures: real.map(stored), isFinal });
    },
    release: async (claims) => void (await pool.query(statements.RELEASE, ended(claims))),
  };
};

interface ClaimedRow extends Claim {
  /** null: another worker claimed the job in the meantime. */
  readonly payloads: readonly JobPayload[] | null;
  readonly tenant: string;
  readonly target: string;
  /** Whether tenants after those of this claim were not visited. */
  readonly isPart: boolean;
}

const claim = async (
  db: Sql,
  { name, isOwedByRow }: KnownQueue,
  { after, lane }: { readonly after: string; readonly lane: Mode },
  room: Room,
  done: readonly Claim[],
): Promise<readonly ClaimedRow[]> => {
  const afterDone = isOwedByRow ? statements.CLAIM_AFTER_DONE_OWED : statements.CLAIM_AFTER_DONE;
  const { rows } = await db.query<ClaimedRow>({
    ...(done.length === 0 ? statements.CLAIM : afterDone),
    values: [
      name,
      after,
      laneBounds(lane)[1],
      room.free,
      room.perTenant,
      room.tenants.map(({ tenant }) => tenant),
      room.tenants.map(({ held }) => held),
      room.tenants.map((tenant) => tenant.room),
      room.perTarget,
      room.targets.map(({ tenant }) => tenant),
      room.targets.map(({ target }) => target),
      room.targets.map((target) => target.room),
      room.tenants.map(({ latest }) => latest),
      ...(done.length === 0 ? [] : [done.map(({ id }) => id), done.map(({ attempt }) => attempt)]),
    ],
  });
  return rows;
};

/** jsonb stores neither NUL nor half of a surrogate pair. */
const said = (error: Error): string => error.message.replaceAll('\0', '\ufffd').slice(0, MESSAGE_MAX).toWellFormed();

type Failures = PayloadsFailed['failures'];

const failuresOf = (job: ClaimedJob, error: Error): Failures =>
  error instanceof PayloadsFailed ? error.failures : job.payloads.map((payload) => ({ payload, error }));

const stored = ({ payload, error }: Failures[number]): PayloadFailure => ({ payload, error: said(error) });

/** Records a failed attempt. Returns whether the job failed permanently. A claim lost in the meantime is left unchanged. */
const recordFailure = async (
  db: Sql,
  known: KnownQueue,
  job: ClaimedJob,
  error: Error,
  failures: Failures,
): Promise<boolean> => {
  const output = JSON.stringify({ message: said(error), failures: failures.map(stored) });
  const isInVain = failures.every((failure) => failure.error instanceof MalformedPayload);
  const values = [known.name, job.id, job.attempt, leftOf(failures), output, isInVain];
  const { rows } = await db.query<{ state: string }>({ ...statements.FAIL, values });
  await endOwed(db, known, job, failures);
  return rows[0]?.state === 'failed';
};

/** Returns payloads that have not begun to the queue. The others of the job are done. */
const releaseRest = async (db: Sql, known: KnownQueue, job: ClaimedJob, unbegun: Failures): Promise<void> => {
  await db.query(statements.RELEASE_REST, [known.name, job.id, job.attempt, leftOf(unbegun)]);
  await endOwed(db, known, job, unbegun);
};

const leftOf = (failures: Failures): string => JSON.stringify(failures.map(({ payload }) => payload));

/** Deletes the owed rows of a job's payloads that were done. */
const endOwed = async (db: Sql, { name, isOwedByRow }: KnownQueue, job: ClaimedJob, left: Failures): Promise<void> => {
  const open = new Set(left.map(({ payload }) => JSON.stringify(payload)));
  const done = job.payloads.map((payload) => JSON.stringify(payload)).filter((payload) => !open.has(payload));
  if (isOwedByRow && done.length > 0) await db.query(statements.NOT_OWED, [name, done]);
};
