// The request log. Finished requests are buffered in memory and written twice a second, so that no request waits. If writing fails and
// the buffer is full, the oldest entries are dropped and counted.

import type { Position } from '../../application/ports/eventStore.ts';
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import type {
  AnsweredRequest,
  LoggedRequest,
  RequestLogReads,
  RequestLogStore,
  RequestLogUpkeep,
} from '../../application/ports/requestLog.ts';
import type { RequestMinutes } from '../../application/ports/requestShares.ts';
import { asTimestamp, type Sql, TextArray } from '../../application/ports/sql.ts';
import type { Clock, Randomness } from '../../application/ports/system.ts';
import { type AccountId, BEHIND_TIME, encodeTimedId, type RequestLogId, timeOfId } from '../../domain/kernel/ids.ts';
import { fromMillis, toMillis } from '../../domain/kernel/time.ts';
import { int8Array } from '../postgres/binaryArrays.ts';
import { withTimeout } from '../waiting.ts';
import { requestMinutes } from './requestShares.ts';

const WRITE_EVERY_MS = 500;
/** Rows per statement. */
const BATCH_MAX = 1_000;
/** Size of the buffer, about 5 MB. */
const WAITING_MAX = 10_000;
/** How long the last write of a stopping process may take. */
const LAST_WRITE_MS_MAX = 2_000;

interface RequestLogOptions {
  readonly store: RequestLogStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Returns the position of the newest event that this process knows. */
  readonly head: () => Position | null;
  /** Called with the first of consecutive failures. */
  readonly onError: (error: Error) => void;
  readonly waitingMax?: number;
}

const SEQUENCES = 2 ** 32;
const SEQUENCE_BYTES = 4;

export class RequestLog {
  readonly #options: RequestLogOptions;
  readonly #waitingMax: number;
  readonly #writing: Repeating;
  /** A ring buffer: entry n is at n modulo its size. */
  readonly #ring: (LoggedRequest | null)[] = [];
  #first = 0;
  #end = 0;
  #dropped = 0;
  #begun = 0;
  #hasFailed = false;

  constructor(options: RequestLogOptions) {
    this.#options = options;
    this.#waitingMax = options.waitingMax ?? WAITING_MAX;
    this.#writing = repeating(WRITE_EVERY_MS, () => this.#write());
  }

  /** Requests that were never written since the process started. */
  get dropped(): number {
    return this.#dropped;
  }

  /** See BeginRequest. */
  begin(): (answered: AnsweredRequest) => void {
    const atMs = this.#options.clock.now();
    const logPosition = this.#options.head();
    const sequence = this.#begun++;
    return (answered) =>
      this.#add({ ...answered, id: this.#newId(atMs, sequence), createdAt: fromMillis(atMs), logPosition });
  }

  /** Writes the buffered requests now. Never rejects: a failed write is retried with the next one. */
  flush(): Promise<void> {
    return this.#writing.now();
  }

  /** Writes the buffered requests, for at most 2 s. */
  async close(): Promise<void> {
    void this.flush();
    await withTimeout(
      this.#writing.stop(),
      LAST_WRITE_MS_MAX,
      () => new Error('the last requests could not be written in time'),
    ).catch(this.#options.onError);
  }

  /** Ids sort by the start of the requests in this process, also within a millisecond. */
  #newId(atMs: number, sequence: number): RequestLogId {
    const rest = Buffer.allocUnsafe(BEHIND_TIME);
    rest.writeUInt32BE(sequence % SEQUENCES);
    rest.set(this.#options.randomness.bytes(BEHIND_TIME - SEQUENCE_BYTES), SEQUENCE_BYTES);
    return encodeTimedId(atMs, rest) as RequestLogId;
  }

  #add(request: LoggedRequest): void {
    this.#ring[this.#end % this.#waitingMax] = request;
    this.#end += 1;
    if (this.#end - this.#first <= this.#waitingMax) return;
    this.#first += 1;
    this.#dropped += 1;
  }

  /** Writes the buffer in batches. An entry that is dropped while it is being written counts as dropped. */
  async #write(): Promise<void> {
    try {
      for (const end = this.#end; this.#first < end; ) {
        const upTo = Math.min(this.#first + BATCH_MAX, end);
        const batch: LoggedRequest[] = [];
        for (let n = this.#first; n < upTo; n++) batch.push(this.#ring[n % this.#waitingMax] as LoggedRequest);
        await this.#options.store.write(batch);
        // Released at once, because long-lived garbage is expensive to collect.
        for (; this.#first < upTo; this.#first++) this.#ring[this.#first % this.#waitingMax] = null;
      }
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#options.onError(error as Error);
      this.#hasFailed = true;
    }
  }
}

// --- Storage in Postgres: written in batches, read by account, dropped by day ---

const DAYS_AHEAD = 3;

const KEEP = 'SELECT operations.keep_request_log(($1::timestamptz AT TIME ZONE $2)::date, $3, $4)';
/** Creates partitions, and drops old ones unless `daysKept` is null. */
const keepFor = (db: Sql, now: string, daysKept: number | null) => db.query(KEEP, [now, 'UTC', DAYS_AHEAD, daysKept]);

export const requestUpkeep = (db: Sql, clock: Clock, daysKept: number): RequestLogUpkeep & RequestMinutes => ({
  ...requestMinutes(db),
  keepDays: async () => void (await keepFor(db, fromMillis(clock.now()), daysKept)),
});

/**
 * Views of pages have an owner of their own, so that lists without them need not skip any, and requests of keys need no further index.
 * Without an account, requests are those of operators.
 */
const ownersOf = (accountId: AccountId | null): readonly [own: string, views: string] => [
  accountId ?? '',
  `${accountId ?? ''}/views`,
];
/** Files that pages offer. */
const DOWNLOAD = /\/(?:export|receipt\.pdf|statements\/[^/]+)$/;
/** Whether a request only showed a page. Downloads and failures count like other requests. */
const isViewOf = ({ method, path, status }: LoggedRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && path.startsWith('/dashboard') && status < 400 && !DOWNLOAD.test(path);
const ownerOf = (request: LoggedRequest): string => {
  const { accountId } = request;
  const isView = isViewOf(request);
  return ownersOf(accountId)[isView ? 1 : 0];
};

const INSERT = `INSERT INTO operations.request_log (id, request_id, account_id, mode, method, path, status, duration_ms, key_fingerprint,
    user_id, created_at, log_position)
  SELECT id, request_id, account_id, mode, method, path, status, duration_ms, key_fingerprint, user_id,
    to_timestamp(created_ms / 1000.0), log_position
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::text[],
    $10::text[], $11::bigint[], $12::text[]) AS r(id, request_id, account_id, mode, method, path, status, duration_ms, key_fingerprint,
    user_id, created_ms, log_position)`;
/** Used only for a retry, because checking each row for a conflict costs a sixth of the batch. */
const INSERT_AGAIN = `${INSERT} ON CONFLICT DO NOTHING`;

/** SQLSTATEs: no partition for a row, or the row exists because the response to an earlier attempt was lost. */
const NO_PARTITION = '23514';
const WRITTEN_BEFORE = '23505';

export const requestLogStore = (db: Sql): RequestLogStore => {
  const insert = (requests: readonly LoggedRequest[], isAgain: boolean) => {
    const texts = (of: (request: LoggedRequest) => string | null) => new TextArray(requests.map(of));
    return db.query({
      name: isAgain ? 'write_request_log_again' : 'write_request_log',
      text: isAgain ? INSERT_AGAIN : INSERT,
      values: [
        texts(({ id }) => id),
        texts(({ requestId }) => requestId),
        texts(ownerOf),
        texts(({ mode }) => mode),
        texts(({ method }) => method),
        texts(({ path }) => path),
        int8Array(requests.map(({ status }) => status)),
        int8Array(requests.map(({ durationMs }) => durationMs)),
        texts(({ keyFingerprint }) => keyFingerprint),
        texts(({ userId }) => userId),
        int8Array(requests.map(({ createdAt }) => toMillis(createdAt))),
        texts(({ logPosition }) => logPosition),
      ],
    });
  };
  return {
    write: async (requests) => {
      try {
        await insert(requests, false);
      } catch (error) {
        const { code } = error as { code?: string };
        if (code !== NO_PARTITION && code !== WRITTEN_BEFORE) throw error;
        // If no worker has run for days, the partitions are missing and created here.
        for (const day of new Set(requests.map(({ createdAt }) => createdAt.slice(0, 10))))
          await keepFor(db, `${day}T12:00:00.000Z`, null);
        await insert(requests, true);
      }
    },
  };
};

/** As in the condition of its index. */
const ONLY_CHANGES = `user_id IS NOT NULL AND method NOT IN ('GET', 'HEAD')`;

const COLUMNS = `id, request_id AS "requestId", nullif(split_part(account_id, '/', 1), '') AS "accountId", mode, method, path, status,
  duration_ms AS "durationMs", key_fingerprint AS "keyFingerprint", user_id AS "userId", ${asTimestamp('created_at')} AS "createdAt",
  log_position AS "logPosition"`;

export const requestLogReads = (db: Sql): RequestLogReads => {
  const rowsOf = async (text: string, values: readonly unknown[]) => (await db.query<LoggedRequest>(text, values)).rows;
  return {
    list: (accountId, filter, after, limit) => {
      const { statuses, keyFingerprint, onlyChanges = false, withoutViews = false } = filter;
      const [own, views] = ownersOf(accountId);
      // Keys view no pages.
      const hasViews = !withoutViews && !onlyChanges && keyFingerprint === null;
      const values: unknown[] = [hasViews ? [own, views] : [own], limit];
      const bound = (value: unknown): string => `$${values.push(value)}`;
      // Each owner and status is read by its own index, so that a rare one is found among millions of others.
      const wanted = [`unnest($1::text[]) AS o(owner)`];
      const conditions = ['account_id = owner'];
      if (statuses !== null) {
        wanted.push(`unnest(${bound(statuses)}::integer[]) AS of(wanted)`);
        conditions.push('status = wanted');
      }
      if (keyFingerprint !== null) conditions.push(`key_fingerprint = ${bound(keyFingerprint)}`);
      if (onlyChanges) conditions.push(ONLY_CHANGES);
      if (after !== null) {
        const at = bound(after.createdAt);
        // The first condition is redundant but lets the planner choose partitions.
        conditions.push(
          `created_at <= ${at}::timestamptz`,
          `(created_at, id) < (${at}::timestamptz, ${bound(after.id)})`,
        );
      }
      const order = 'ORDER BY created_at DESC, id DESC LIMIT $2';
      const each = `SELECT * FROM operations.request_log WHERE ${conditions.join(' AND ')} ${order}`;
      return rowsOf(
        `SELECT ${COLUMNS} FROM ${wanted.join(' CROSS JOIN ')} CROSS JOIN LATERAL (${each}) found ${order}`,
        values,
      );
    },
    find: async (accountId, id) => {
      const text = `SELECT ${COLUMNS} FROM operations.request_log
        WHERE account_id = ANY ($1) AND created_at = to_timestamp($2 / 1000.0)::timestamptz(3) AND id = $3`;
      return (await rowsOf(text, [ownersOf(accountId), timeOfId(id), id]))[0] ?? null;
    },
    withRequestId: (requestId, limit, accountId) =>
      rowsOf(
        `SELECT ${COLUMNS} FROM operations.request_log WHERE request_id = $1 AND ($3::text[] IS NULL OR account_id = ANY ($3))
         ORDER BY created_at DESC, id DESC LIMIT $2`,
        [requestId, limit, accountId === undefined ? null : ownersOf(accountId)],
      ),
  };
};
