// Appends per second and their latency, alone and while old deliveries are deleted at a worker’s pace (ADR 0008). Rounds alternate on one
// server in one run. `node test/bench/retentionBeside.ts`
import { randomUUID } from 'node:crypto';
import { DeliveryRetention } from '../../application/webhooks/retention.ts';
import type { StreamName } from '../../domain/kernel/ids.ts';
import { openPostgresEventStore } from '../../infrastructure/eventStore/postgres/store.ts';
import { connectionConfig, PgPool } from '../../infrastructure/postgres/session.ts';
import { systemStopwatch } from '../../infrastructure/system/system.ts';
import { createSchema } from '../../projections/engine/schemaVersions.ts';
import { expiredDeliveries } from '../../projections/webhooks/expiry.ts';
import { webhookDeliveriesProjection } from '../../projections/webhooks/projection.ts';
import { migratedDatabase } from '../world/postgres.ts';
import { cpuMsOf } from './cpu.ts';
import { oldDeliveries } from './oldDeliveries.ts';
import { median, quantile } from './statistics.ts';

const DELIVERIES = 100_000;
const WRITERS = 32;
const ROUND_MS = 2_000;
const ROUNDS = 6;
const TURN_EVERY_MS = 1_000;

const database = await migratedDatabase();
const { connectionString } = database;
const derived = { ...connectionConfig(connectionString, 'bench'), options: '-c synchronous_commit=off' };
const db = new PgPool(derived, 1, (error) => console.error(error));
await createSchema(db, webhookDeliveriesProjection, 'rm_webhook_deliveries');
for (const statement of oldDeliveries(DELIVERIES)) await db.query(statement);
const store = await openPostgresEventStore({ connectionString });

const data = JSON.stringify({ payload: 'x'.repeat(450) });
const metadata = JSON.stringify({ payload: 'x'.repeat(150) });
interface Round {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}
/** Each writer starts its next append when the previous one is acknowledged. */
const round = async (forMs: number): Promise<Round> => {
  const latencies: number[] = [];
  const beganAtMs = performance.now();
  const write = async (): Promise<void> => {
    while (performance.now() - beganAtMs < forMs) {
      const sentAtMs = performance.now();
      const event = { id: randomUUID(), type: 'ChargeCreated', data, metadata };
      const result = await store.append(`payment-${randomUUID()}` as StreamName, -1, [event]);
      if (!result.ok) throw new Error('a conflict on a new stream');
      latencies.push(performance.now() - sentAtMs);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  const perSecond = (latencies.length * 1_000) / (performance.now() - beganAtMs);
  return { perSecond, p50: median(latencies), p99: quantile(latencies, 0.99) };
};

const turns: number[] = [];
const expired = expiredDeliveries(db, store);
const beside = async (): Promise<Round> => {
  const retention = new DeliveryRetention({
    expired,
    clock: { now: Date.now },
    stopwatch: systemStopwatch,
    retentionDays: 90,
    mayWork: () => true,
  });
  const turn = async (): Promise<void> => {
    const beganAtMs = performance.now();
    await retention.run();
    turns.push(performance.now() - beganAtMs);
  };
  const running: Promise<void>[] = [turn()];
  const timer = setInterval(() => running.push(turn()), TURN_EVERY_MS);
  const result = await round(ROUND_MS);
  clearInterval(timer);
  await Promise.all(running);
  return result;
};

const [backend] = (await db.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
const usedMs = () => cpuMsOf(backend?.pid ?? 0);
await round(1_000);
const usedBeforeMs = await usedMs();
const rounds: { alone: Round; beside: Round }[] = [];
for (let n = 0; n < ROUNDS; n++) rounds.push({ alone: await round(ROUND_MS), beside: await beside() });
const shown = (of: (pair: (typeof rounds)[number]) => Round): string => {
  const all = rounds.map(of);
  const [rate, p50, p99] = (['perSecond', 'p50', 'p99'] as const).map((key) => median(all.map((one) => one[key])));
  return `${rate?.toFixed(0)} events/s, p50 ${p50?.toFixed(1)} ms, p99 ${p99?.toFixed(1)} ms`;
};
const ratio = median(rounds.map((pair) => pair.beside.perSecond / pair.alone.perSecond));
const deleted = await expired.deleted();
console.log(`${WRITERS} writers alone: ${shown(({ alone }) => alone)}`);
console.log(
  `beside the retention: ${shown((pair) => pair.beside)}; ${ratio.toFixed(3)} of it, median of ${ROUNDS} pairs`,
);
const cpuMs = (await usedMs()) - usedBeforeMs;
console.log(`${deleted} deliveries deleted in ${turns.length} turns of ${median(turns).toFixed(1)} ms`);
console.log(`CPU of their database process: ${cpuMs} ms, ${((cpuMs * 1_000) / deleted).toFixed(0)} µs a delivery`);
await store.close();
await db.close();
await database.drop();
process.exit(0);
