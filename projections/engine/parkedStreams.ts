// Rows of parked streams, written in the transaction that moves the consumer's checkpoint past them (architecture §7).
import { asTimestamp, type Sql } from '../../application/ports/sql.ts';

export interface ParkedStream {
  readonly consumer: string;
  readonly stream: string;
  /** null if neither the event nor the first event of its stream names it. */
  readonly account: string | null;
  readonly mode: string | null;
  /** Revision of the first event that failed. */
  readonly revision: number;
  readonly eventId: string;
  readonly eventType: string;
  /** Error text without personal data. */
  readonly error: string;
}
export interface ParkedRow extends ParkedStream {
  /** ISO 8601 timestamp. */
  readonly parkedAt: string;
  readonly isRetryAsked: boolean;
}

/** Payload of the notice to other processes, which arrives before the progress notice. Any other payload means "read the rows". */
export interface ParkedNotice {
  readonly parked?: readonly Omit<ParkedStream, 'error'>[];
  readonly taken?: readonly Pick<ParkedStream, 'consumer' | 'stream'>[];
}
export const PARKED_CHANNEL = 'quita_parked';

/** Returns whether the consumer is a copy of a read model in progress, which no request reads yet. */
const isCopy = (consumer: string): boolean => consumer.endsWith('/next');

const COLUMNS = `consumer, stream, account_id AS account, mode, revision, event_id AS "eventId", event_type AS "eventType", error,
  ${asTimestamp('parked_at')} AS "parkedAt", retry_asked_at IS NOT NULL AS "isRetryAsked"`;

/** Returns the parked streams of these consumers, oldest first. null selects all consumers except copies in progress. */
export const readParked = async (db: Sql, consumers: readonly string[] | null): Promise<readonly ParkedRow[]> => {
  const text = `SELECT ${COLUMNS} FROM subscriptions.parked_streams
    WHERE ($1::text[] IS NULL AND consumer NOT LIKE '%/next') OR consumer = ANY($1::text[]) ORDER BY parked_at, consumer, stream`;
  return (await db.query<ParkedRow>(text, [consumers])).rows;
};

/** Returns the parked streams of these consumers for which an operator requested a retry, in order of request. */
export const readAsked = async (db: Sql, consumers: readonly string[]): Promise<readonly ParkedRow[]> => {
  const text = `SELECT ${COLUMNS} FROM subscriptions.parked_streams WHERE retry_asked_at IS NOT NULL AND consumer = ANY($1::text[])
    ORDER BY retry_asked_at, consumer, stream`;
  return (await db.query<ParkedRow>(text, [consumers])).rows;
};

/** Returns those of the streams that the consumer has parked. Its state of them is incomplete. */
export const parkedAmong = async (
  db: Sql,
  consumer: string,
  streams: readonly string[],
): Promise<ReadonlySet<string>> => {
  const { rows } = await db.query<{ stream: string }>({
    name: 'parked_among',
    text: 'SELECT stream FROM subscriptions.parked_streams WHERE consumer = $1 AND stream = ANY($2::text[])',
    values: [consumer, streams],
  });
  return new Set(rows.map(({ stream }) => stream));
};

/** Maximum rows per notice, because PostgreSQL limits the payload to 8,000 bytes. */
const NOTICE_ROWS = 20;

const notify = async (tx: Sql, key: keyof ParkedNotice, rows: readonly object[]): Promise<void> => {
  for (let at = 0; at < rows.length; at += NOTICE_ROWS)
    await tx.query('SELECT pg_notify($1, $2)', [
      PARKED_CHANNEL,
      JSON.stringify({ [key]: rows.slice(at, at + NOTICE_ROWS) }),
    ]);
};

/** Parks streams. Call it in the transaction that moves the checkpoint, before moving it. Parking again updates the fault. */
export const park = async (tx: Sql, streams: readonly ParkedStream[]): Promise<void> => {
  if (streams.length === 0) return;
  await tx.query(
    `INSERT INTO subscriptions.parked_streams (consumer, stream, account_id, mode, revision, event_id, event_type, error)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::text[], $7::text[], $8::text[])
     ON CONFLICT (consumer, stream) DO UPDATE SET revision = excluded.revision, event_id = excluded.event_id,
       event_type = excluded.event_type, error = excluded.error, parked_at = now(), retry_asked_at = NULL`,
    (['consumer', 'stream', 'account', 'mode', 'revision', 'eventId', 'eventType', 'error'] as const).map((key) =>
      streams.map((one) => one[key]),
    ),
  );
  const shown = streams.filter(({ consumer }) => !isCopy(consumer)).map(({ error: _, ...rest }) => rest);
  await notify(tx, 'parked', shown);
};

export const unpark = async (tx: Sql, consumer: string, stream: string): Promise<void> => {
  await tx.query('DELETE FROM subscriptions.parked_streams WHERE consumer = $1 AND stream = $2', [consumer, stream]);
  await notify(tx, 'taken', [{ consumer, stream }]);
};

export const dropParked = async (tx: Sql, consumer: string): Promise<void> => {
  await tx.query('DELETE FROM subscriptions.parked_streams WHERE consumer = $1', [consumer]);
};

/** Makes the copy's parked streams those of the live read model, replacing the old ones. */
export const adoptParked = async (tx: Sql, from: string, to: string): Promise<void> => {
  await dropParked(tx, to);
  await tx.query('UPDATE subscriptions.parked_streams SET consumer = $2 WHERE consumer = $1', [from, to]);
  await tx.query('SELECT pg_notify($1, $2)', [PARKED_CHANNEL, '']);
};

/** Requests retries, which the leader performs when notified. Returns how many of the streams are still parked. */
export const askRetry = async (
  db: Sql,
  rows: readonly Pick<ParkedStream, 'consumer' | 'stream'>[],
): Promise<number> => {
  const { rowCount } = await db.query(
    `UPDATE subscriptions.parked_streams p SET retry_asked_at = now() FROM unnest($1::text[], $2::text[]) AS v(consumer, stream)
     WHERE p.consumer = v.consumer AND p.stream = v.stream`,
    [rows.map(({ consumer }) => consumer), rows.map(({ stream }) => stream)],
  );
  if (rowCount > 0) await db.query('SELECT pg_notify($1, $2)', [PARKED_CHANNEL, '']);
  return rowCount;
};
