// All reads of the PostgreSQL log: a small pool, one statement per page, and retries if the connection is lost.

import { hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { EventStoreUnavailable, type Position, type RecordedEvent } from '../../../application/ports/eventStore.ts';
import { RARE_CATEGORIES } from '../../../domain/aggregates.ts';
import { readStreamName } from '../../../domain/kernel/aggregate.ts';
import type { StreamName } from '../../../domain/kernel/ids.ts';
import { ask } from '../../postgres/ask.ts';
import { int8Array, textArray } from '../../postgres/binaryArrays.ts';
import { hidden } from '../../postgres/hidden.ts';
import { PoolConnections, watchedClient, withConnection } from '../../postgres/poolConnections.ts';
import type { SessionWatch } from '../../postgres/sessionWatch.ts';
import { backoffMs, whenLate } from '../../waiting.ts';
import { IN_USE, type LogState } from '../logState.ts';
import { checkCategories } from '../subscribeOptions.ts';
import { clientConfig, isTransient, prepareSession, withQueryTimeout } from './session.ts';
import { type StreamRead, StreamReads } from './streamReads.ts';

// --- Positions: 1, 2, 3 … in commit order, written with 19 digits so that text order is log order ---

/** As many digits as the largest bigint has. */
const DIGITS = 19;
const FORM = /^\d{19}$/;

/** Returns the position of a place. `place` is a safe integer of at least 1; no log reaches 9·10¹⁵ events. */
export const positionOf = (place: number): Position => String(place).padStart(DIGITS, '0') as Position;

/** Returns the place of a position of this adapter; 0 for null, which is before the first event. Throws RangeError for any other text. */
export const placeOf = (position: Position | null): number => {
  if (position === null) return 0;
  const place = FORM.test(position) ? Number(position) : Number.NaN;
  if (!Number.isSafeInteger(place)) throw new RangeError(`not a position of this event store: ${position}`);
  return place;
};

export const positionOrNull = (place: number): Position | null => (place === 0 ? null : positionOf(place));

// --- A subscription's categories, as SQL and as a test in memory, which must agree ---

export interface CategoryFilter {
  /** Part of the prepared statement's name: equal for equal filters. A hash, because PostgreSQL cuts names at 63 bytes. */
  readonly key: string;
  /** Items of an IN list, as literals: with a parameter, the planner would not see that the partial index applies. */
  readonly literals: string;
  /** How many positions one page may scan; null if an index leads directly to the next match. */
  readonly windowPlaces: number | null;
  readonly matches: (stream: string) => boolean;
}

/** Categories of the index `events_of_rare_categories`. */
const RARE: ReadonlySet<string> = new Set(RARE_CATEGORIES);
/** About 20 ms of scanning, so that the statement stays short even if matches are rare. */
const WINDOW_PLACES = 20_000;

/** Returns the filter, or null for null (all categories). Throws RangeError for an invalid name or an empty list. */
export const categoryFilter = (categories: readonly string[] | null): CategoryFilter | null => {
  if (categories === null) return null;
  const names = checkCategories(categories);
  const wanted = new Set(names);
  return {
    key: hash('sha1', names.join('_')),
    literals: names.map((name) => `'${name}'`).join(', '),
    windowPlaces: names.every((name) => RARE.has(name)) ? null : WINDOW_PLACES,
    matches: (stream) => wanted.has(readStreamName(stream).category),
  };
};

// --- Pages ---

interface ReaderOptions {
  readonly connectionString: string;
  readonly watch: SessionWatch;
  /** Most connections. */
  readonly poolSize: number;
  readonly onError: (error: unknown) => void;
  /** Checks each new connection before it is used. */
  readonly check?: (session: pg.ClientBase) => Promise<void>;
}

/** Events of one query, and the place up to which it read the log. */
export interface LogPage {
  readonly events: readonly RecordedEvent[];
  /** Every matching event up to this place is in this page or before it. */
  readonly upTo: number;
  /** Whether `upTo` was the head when the page was read. */
  readonly atHead: boolean;
}

/** Most events per read of a stream. */
export const STREAM_PAGE_EVENTS = 500;
const STATEMENT_MS_MAX = 5_000;
/** Longer than the statement's own limit, so that it cuts off only a silent server. */
const ANSWER_MS_MAX = 6_000;
/** A read whose connection is lost is retried for this long, in which a server can restart. */
const RETRY_MS_MAX = 3_000;
const CLOSE_MS_MAX = 1_000;

type Row = [
  place: string,
  stream: string,
  revision: string,
  id: string,
  type: string,
  data: string,
  metadata: string,
  at: string,
];

type StoreRow = [storeId: string, state: LogState['kind'], otherId: string, otherAddress: string];

/** Converts `2026-11-21 11:39:07.1+00` (UTC, 0 to 3 decimals) to ISO 8601 with milliseconds. */
const isoTime = (at: string): string => `${at.slice(0, 10)}T${at.slice(11, 19)}.${at.slice(20, -3).padEnd(3, '0')}Z`;

const recordedEvent = ([place, stream, revision, id, type, data, metadata, at]: Row): RecordedEvent => ({
  id,
  type,
  data,
  metadata,
  stream: stream as StreamName,
  revision: Number(revision),
  position: positionOf(Number(place)),
  recordedAt: isoTime(at),
});

export class Reader {
  readonly #pool: pg.Pool;
  readonly #connections: PoolConnections;
  readonly #onError: (error: unknown) => void;
  readonly #streams = new StreamReads((reads) => this.#streamPages(reads));

  constructor({ connectionString, watch, poolSize, onError, check }: ReaderOptions) {
    this.#onError = onError;
    const name = 'quita event store: reads';
    this.#pool = new pg.Pool({
      ...clientConfig({ connectionString, name }),
      Client: watchedClient(watch),
      max: poolSize,
      idleTimeoutMillis: 30_000,
      onConnect: (client) => prepareSession(client, `SET statement_timeout = ${STATEMENT_MS_MAX}`, check),
    });
    this.#pool.on('error', onError);
    this.#connections = new PoolConnections(this.#pool, watch);
  }

  /** Returns the log's identity and state. Throws EventStoreUnavailable, also if the migrations have not run. */
  async store(): Promise<{ readonly storeId: string; readonly state: LogState }> {
    const [row] = await this.#rows<StoreRow>({ name: 'store', text: STORE_TEXT, values: [] });
    if (row === undefined) throw new EventStoreUnavailable('the event store has no identity: was it migrated?');
    const [storeId, kind, otherId, address] = row;
    return { storeId, state: kind === 'inUse' ? IN_USE : { kind, other: { storeId: otherId, address } } };
  }

  /** Returns the place of the newest event, or 0 if the log is empty. */
  async head(): Promise<number> {
    const [row] = await this.#rows<[string]>({ name: 'head', text: HEAD_TEXT, values: [] });
    return Number(row![0]);
  }

  /** Returns the head, and the id of the event at `place`, or null if that place is empty. */
  async lookAt(place: number): Promise<{ readonly head: number; readonly id: string | null }> {
    const [row] = await this.#rows<[string, string | null]>({ name: 'look', text: LOOK_TEXT, values: [place] });
    const [head, id] = row!;
    return { head: Number(head), id };
  }

  /** Returns at most STREAM_PAGE_EVENTS events of a stream, from revision `from`. */
  streamPage(stream: string, from: number): Promise<readonly RecordedEvent[]> {
    return this.#streams.read(stream, from);
  }

  async #streamPages(reads: readonly StreamRead[]): Promise<RecordedEvent[][]> {
    const [first] = reads;
    if (reads.length === 1 && first !== undefined) {
      const values = [first.stream, first.from, STREAM_PAGE_EVENTS];
      return [(await this.#rows<Row>({ name: 'stream', text: STREAM_PAGE_TEXT, values })).map(recordedEvent)];
    }
    const values = [
      textArray(reads.map(({ stream }) => stream)),
      int8Array(reads.map(({ from }) => from)),
      STREAM_PAGE_EVENTS,
    ];
    const rows = await this.#rows<[string, ...Row]>({ name: 'streams', text: STREAM_PAGES_TEXT, values });
    const pages: RecordedEvent[][] = reads.map(() => []);
    for (const [number, ...row] of rows) pages[Number(number) - 1]!.push(recordedEvent(row));
    return pages;
  }

  /**
   * Returns at most `limit` events of the log after a place.
   *
   * No event can be skipped. Positions are assigned under the append lock, which is held until the commit, so a snapshot that shows
   * position n shows every position below n.
   */
  async logPage(after: number, filter: CategoryFilter | null, limit: number): Promise<LogPage> {
    return filter === null ? await this.#wholePage(after, limit) : await this.#filteredPage(after, filter, limit);
  }

  /** Waits a second for running reads, then cuts their connections. */
  async close(): Promise<void> {
    await whenLate(this.#connections.end(), CLOSE_MS_MAX, () => this.#connections.cut());
  }

  async #wholePage(after: number, limit: number): Promise<LogPage> {
    const rows = await this.#rows<Row>({ name: `log_${limit}`, text: wholePageText(limit), values: [after] });
    const last = rows.at(-1);
    return {
      events: rows.map(recordedEvent),
      upTo: last === undefined ? after : Number(last[0]),
      atHead: rows.length < limit,
    };
  }

  async #filteredPage(after: number, filter: CategoryFilter, limit: number): Promise<LogPage> {
    const rows = await this.#rows<[string, ...(Row | null[])]>({
      name: `log_${limit}_${filter.key}`,
      text: filteredPageText(filter, limit),
      values: [after],
    });
    const head = Number(rows[0]![0]);
    const matches = rows.filter((row) => row[1] !== null).map(([, ...row]) => row as Row);
    if (matches.length === limit) {
      const upTo = Number(matches.at(-1)![0]);
      return { events: matches.map(recordedEvent), upTo, atHead: upTo >= head };
    }
    const reach = filter.windowPlaces === null ? head : Math.min(head, after + filter.windowPlaces);
    const upTo = Math.max(after, reach);
    return { events: matches.map(recordedEvent), upTo, atHead: upTo >= head };
  }

  #ask<R extends unknown[]>(query: pg.QueryConfig): Promise<R[]> {
    return withConnection(this.#pool, async ({ client, onBroken }) => {
      try {
        const answer = ask<R>(client, { ...query, rowMode: 'array' });
        return (await withQueryTimeout(client, answer, ANSWER_MS_MAX)).rows;
      } catch (error) {
        onBroken(error as Error);
        throw error;
      }
    });
  }

  /** Retries connection failures. Throws EventStoreUnavailable after 3 s, or after 9 s if the server is silent. */
  async #rows<R extends unknown[]>(query: pg.QueryConfig): Promise<R[]> {
    const giveUpAtMs = performance.now() + RETRY_MS_MAX;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#ask<R>(query);
      } catch (error) {
        if (this.#pool.ending || performance.now() > giveUpAtMs || !isTransient(error)) {
          throw new EventStoreUnavailable('the database did not answer a read', { cause: error });
        }
        this.#onError(error);
        await pause(backoffMs(attempt));
      }
    }
  }
}

// The queries of the event store. Limits and categories are literals: a plan for an unknown limit may sort the whole table, and only
// literal categories show the planner that the partial index applies.

const COLUMNS = 'position, stream, revision, id, type, data, metadata, recorded_at';

const HEAD_TEXT = 'SELECT coalesce(max(position), 0) FROM event_store.events';

/** $1 a place. */
const LOOK_TEXT = `SELECT coalesce(max(position), 0), (SELECT e.id FROM event_store.events e WHERE e.position = $1)
  FROM event_store.events`;

const STORE_TEXT = 'SELECT id, use, other_id, other_address FROM event_store.store';

/** $1 stream, $2 first revision, $3 limit. */
export const STREAM_PAGE_TEXT = `SELECT ${COLUMNS} FROM event_store.of_stream($1)
  WHERE revision >= $2 ORDER BY revision LIMIT $3`;

/** $1 streams, $2 first revisions, $3 limit per stream. A row holds the stream's number in $1, from 1, and an event. */
export const STREAM_PAGES_TEXT = `SELECT wanted.number, page.*
  FROM unnest(${hidden('$1::text[]')}, ${hidden('$2::bigint[]')}) WITH ORDINALITY wanted(stream, first, number)
  CROSS JOIN LATERAL (
    SELECT ${COLUMNS} FROM event_store.of_stream(wanted.stream) e
    WHERE e.revision >= wanted.first ORDER BY e.revision LIMIT $3
  ) page
  ORDER BY wanted.number, page.revision`;

/** $1 exclusive position. */
export const wholePageText = (limit: number): string => `SELECT ${COLUMNS} FROM event_store.events
  WHERE position > ${hidden('$1::bigint')} ORDER BY position LIMIT ${limit}`;

/**
 * $1 exclusive position. A row holds the head and an event's columns; if nothing matches, one row has null columns. Page and head come
 * from one statement and thus one snapshot, so there is no match between the last match and the head.
 */
export const filteredPageText = ({ literals, windowPlaces }: CategoryFilter, limit: number): string => {
  const after = hidden('$1::bigint');
  const window = windowPlaces === null ? '' : `AND position <= ${after} + ${windowPlaces}`;
  return `SELECT head.place, page.*
    FROM (SELECT coalesce(max(position), 0) AS place FROM event_store.events) head
    LEFT JOIN LATERAL (
      SELECT ${COLUMNS} FROM event_store.events
      WHERE position > ${after} ${window} AND split_part(stream, '-', 1) IN (${literals}) ORDER BY position LIMIT ${limit}
    ) page ON true
    ORDER BY page.position`;
};
