// Random trials of read models as of a moment: operations continue, live rows are dumped at random moments, and later each moment is
// rebuilt.
import { expect } from 'chai';
import fc from 'fast-check';
import type { Position } from '../../application/ports/eventStore.ts';
import type { Moment } from '../../application/ports/readModelWork.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { readCheckpoints } from '../../projections/engine/checkpoints.ts';
import { liveSchema } from '../../projections/engine/projection.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { operation } from '../model/operations.ts';
import { Player } from '../model/player.ts';
import { newKey, type TestGateway } from '../world/gateway.ts';
import { Merchant } from '../world/merchant.ts';
import { PayoutDesk } from '../world/payoutDesk.ts';
import type { Receiver } from '../world/receiver.ts';

/** All rows as text, by table. */
export type Rows = Readonly<Record<string, readonly string[]>>;

/** Dumps every table of these read models. `schemaOf` returns the schema of a read model. */
const dump = async (db: Sql, schemaOf: (readModel: string) => string, names?: readonly string[]): Promise<Rows> => {
  const all: Record<string, readonly string[]> = {};
  for (const { name, tables } of PROJECTIONS.filter((one) => names?.includes(one.name) ?? true))
    for (const { name: table, key, counts = 'true' } of tables) {
      const text = `SELECT t::text AS row FROM ${schemaOf(name)}.${table} t WHERE ${counts} ORDER BY ${key}`;
      all[`${name}.${table}`] = (await db.query<{ row: string }>(text)).rows.map(({ row }) => row);
    }
  return all;
};

interface Seen {
  readonly position: Position;
  readonly rows: Rows;
}

/** Returns the live rows of all read models at one position, in one snapshot, while everything else continues. */
export const look = async (gateway: TestGateway): Promise<Seen> => {
  for (;;) {
    await gateway.untilProjected();
    const seen = await gateway.storage.reads.transaction(async (tx): Promise<Seen | null> => {
      const checkpoints = await readCheckpoints(
        tx,
        PROJECTIONS.map(({ name }) => name),
      );
      const positions = new Set([...checkpoints.values()].map(({ position }) => position));
      const [position] = positions;
      // The read models advance together, unless one of them is temporarily behind.
      return positions.size === 1 && position ? { position, rows: await dump(tx, liveSchema) } : null;
    }, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    if (seen !== null) return seen;
  }
};

/** Operations that random payment histories don’t contain: payouts, disputes, users, keys and settings. */
const others = (gateway: TestGateway, desk: PayoutDesk) => [
  () => desk.payout({ amount: 50 }),
  async () => {
    const { id } = await desk.merchant.charge({ amount: 900 });
    await desk.merchant.pay(id);
    await desk.post(`/v1/sandbox/charges/${id}/med`, {});
  },
  () => gateway.addUser('MEMBER'),
  async () =>
    gateway.post(
      '/v1/api-keys',
      { label: newKey().slice(0, 20) },
      { key: null, headers: await gateway.logIn('OWNER') },
    ),
  () => gateway.post('/v1/sandbox/settings', { auto_confirm_payouts: false }, { key: desk.merchant.key }),
];

/** Plays a few random operations and then looks, `trials` times. Returns everything seen. */
export const playAndLook = async (
  gateway: TestGateway,
  receiver: Receiver,
  { trials, seed }: { readonly trials: number; readonly seed: number },
): Promise<readonly Seen[]> => {
  const player = await Player.open(gateway);
  const desk = await PayoutDesk.open(gateway, { available: 1_000_000, auto: true });
  await (await Merchant.open(gateway)).register(receiver.url, ['*']);
  await desk.merchant.register(receiver.url, ['*']);
  const steps = fc.sample(
    fc.tuple(fc.array(operation, { minLength: 1, maxLength: 6 }), fc.array(fc.nat({ max: 4 }), { maxLength: 2 })),
    { numRuns: trials, seed },
  );
  const more = others(gateway, desk);
  const seen: Seen[] = [];
  for (const [operations, chosen] of steps) {
    for (const one of operations) await player.play(one);
    for (const one of chosen) await more[one]?.();
    seen.push(await look(gateway));
  }
  return seen;
};

/** Returns the recorded time of the last event by position, for each time that means exactly that position. */
const timesOf = async ({ storage: { store } }: TestGateway): Promise<ReadonlyMap<Position, Timestamp>> => {
  const stop = new AbortController();
  const events: { position: Position; recordedAt: string }[] = [];
  for await (const batch of store.subscribe({ after: null, categories: null, signal: stop.signal })) {
    if (batch.kind === 'caughtUp') break;
    if (batch.kind === 'events') events.push(...batch.events);
  }
  stop.abort();
  return new Map(
    events
      .filter(({ recordedAt }, n) => events.slice(n + 1).every((later) => later.recordedAt > recordedAt))
      .map(({ position, recordedAt }) => [position, recordedAt as Timestamp]),
  );
};

/** Builds each moment, by position or by time in turn, and compares it with what was seen. Returns how many were built by time. */
export const expectAsSeen = async (gateway: TestGateway, all: readonly Seen[]): Promise<number> => {
  const { platform } = gateway.gateway.services;
  const times = await timesOf(gateway);
  const names = PROJECTIONS.map(({ name }) => name);
  let byTime = 0;
  for (const [n, { position, rows }] of all.entries()) {
    const time = n % 2 === 0 ? undefined : times.get(position);
    if (time !== undefined) byTime++;
    const moment: Moment = time === undefined ? { position } : { time };
    const schema = `as_of_${n}`;
    const { signal } = new AbortController();
    const report = await platform.readModelsAsOf({ moment, schema, names }, signal, () => undefined);
    expect(report.readModels.map(({ readModel, parked }) => [readModel, parked])).to.deep.equal(
      names.map((name) => [name, 0]),
    );
    expect(await dump(gateway.storage.reads, () => schema), JSON.stringify(moment)).to.deep.equal(rows);
    await platform.dropReadModelsAsOf(schema);
  }
  return byTime;
};
