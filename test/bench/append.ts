// Appends per second by 32 writers, one event of 700 bytes per append. Compares our group commit with one INSERT per transaction through pg
// (a simple table, 32 connections). Rounds alternate on one server in one run. `node test/bench/append.ts`
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { EventStore, NewEvent } from '../../application/ports/eventStore.ts';
import type { StreamName } from '../../domain/kernel/ids.ts';
import { openPostgresEventStore } from '../../infrastructure/eventStore/postgres/store.ts';
import { migratedDatabase, type TestDatabase } from '../world/postgres.ts';
import { countEvents, type LogName, startEventStoreDb } from './logUnderTest.ts';

const WRITERS = 32;
const EVENT_BYTES = 700;
const ROUND_MS = 2_000;
const ROUNDS = 4;
const WARM_UP_MS = 500;

interface AppendBench {
  /** Name of the store that holds our log. */
  readonly what: string;
  /** Medians over the rounds, events per second. */
  readonly ours: number;
  readonly counterpart: number;
}

const metadata = JSON.stringify({ account: 'a'.repeat(26), mode: 'test', actor: 'key', requestId: 'r'.repeat(30) });
const data = JSON.stringify({ payload: 'x'.repeat(EVENT_BYTES - metadata.length - '{"payload":""}'.length) });
const event = (): NewEvent => ({ id: randomUUID(), type: 'ChargeCreated', data, metadata });

/** Returns the events per second. Each writer starts its next append when the previous one is acknowledged. */
export const appendRound = async (append: (writer: number) => Promise<unknown>, forMs: number): Promise<number> => {
  const beganAtMs = performance.now();
  let appended = 0;
  const write = async (writer: number): Promise<void> => {
    while (performance.now() - beganAtMs < forMs) {
      await append(writer);
      appended += 1;
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  return (appended * 1_000) / (performance.now() - beganAtMs);
};

export const appendTo = (store: EventStore) => async (): Promise<void> => {
  const result = await store.append(`payment-${randomUUID()}` as StreamName, -1, [event()]);
  if (!result.ok) throw new Error('a conflict on a new stream');
};

const CREATE = `CREATE TABLE simple_events (
  position bigserial PRIMARY KEY, stream text NOT NULL, revision bigint NOT NULL, id uuid NOT NULL, type text NOT NULL,
  data jsonb NOT NULL, metadata jsonb NOT NULL, recorded_at timestamptz NOT NULL DEFAULT now(), UNIQUE (stream, revision))`;
const INSERT = {
  name: 'insert',
  text: 'INSERT INTO simple_events (stream, revision, id, type, data, metadata) VALUES ($1, $2, $3, $4, $5, $6)',
};

const insertThrough =
  (clients: readonly pg.Client[]) =>
  async (writer: number): Promise<void> => {
    const { id, type } = event();
    await clients[writer]!.query({ ...INSERT, values: [`payment-${randomUUID()}`, 0, id, type, data, metadata] });
  };

const connect = async ({ connectionString }: TestDatabase): Promise<pg.Client[]> => {
  const clients = Array.from({ length: WRITERS }, () => new pg.Client({ connectionString }));
  await Promise.all(clients.map((client) => client.connect()));
  await clients[0]!.query(CREATE);
  return clients;
};

/** Throws if the table lacks an acknowledged append, because a rate that includes lost events means nothing. */
const reconcile = (what: string, count: number, atLeast: number): void => {
  if (count < atLeast) throw new Error(`${what} holds ${count} of ${atLeast} events`);
};

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

export const benchAppend = async (log: LogName = 'postgres'): Promise<AppendBench> => {
  const database = await migratedDatabase();
  const eventStoreDb = log === 'eventStoreDb' ? await startEventStoreDb() : null;
  const store = eventStoreDb?.store ?? (await openPostgresEventStore({ connectionString: database.connectionString }));
  const clients = await connect(database);
  const counts = { ours: 0, counterpart: 0 };
  const oursAppend = appendTo(store);
  const theirAppend = insertThrough(clients);
  const ours = async (): Promise<void> => {
    await oursAppend();
    counts.ours += 1;
  };
  const counterpart = async (writer: number): Promise<void> => {
    await theirAppend(writer);
    counts.counterpart += 1;
  };
  const rates: { ours: number[]; counterpart: number[] } = { ours: [], counterpart: [] };
  await appendRound(ours, WARM_UP_MS);
  await appendRound(counterpart, WARM_UP_MS);
  for (let n = 0; n < ROUNDS; n++) {
    rates.ours.push(await appendRound(ours, ROUND_MS));
    rates.counterpart.push(await appendRound(counterpart, ROUND_MS));
  }
  const count = async (table: string) =>
    Number((await clients[0]!.query<{ count: string }>(`SELECT count(*) FROM ${table}`)).rows[0]!.count);
  const appended = eventStoreDb === null ? count('event_store.events') : countEvents(eventStoreDb, 'ChargeCreated');
  reconcile('the log', await appended, counts.ours);
  reconcile('simple_events', await count('simple_events'), counts.counterpart);
  await Promise.all(clients.map((client) => client.end()));
  await (eventStoreDb?.stop() ?? store.close());
  await database.drop();
  return { what: eventStoreDb?.what ?? 'PostgreSQL', ours: median(rates.ours), counterpart: median(rates.counterpart) };
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { ours, counterpart } = await benchAppend();
  const factor = (ours / counterpart).toFixed(1);
  console.log(
    `append, ${WRITERS} writers: ${ours.toFixed(0)} events/s, one INSERT per transaction ${counterpart.toFixed(0)}: ${factor}×`,
  );
  process.exit(0);
}
