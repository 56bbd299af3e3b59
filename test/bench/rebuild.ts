// Rebuilding all read models at once, against row-per-event upserts: the same models by the same code, but one event at a time, in
// transactions of 1,000. Each fills its own tables from the same log, and the rows must be equal.

import { randomBytes } from 'node:crypto';
import { UnreadableEvent } from '../../application/ports/eventCodec.ts';
import { type AccountId, encodeRawId } from '../../domain/kernel/ids.ts';
import { openPostgresEventStore } from '../../infrastructure/eventStore/postgres/store.ts';
import { leaderSessions } from '../../infrastructure/postgres/leaderSession.ts';
import { connectionConfig } from '../../infrastructure/postgres/session.ts';
import { SecretsKeyring } from '../../infrastructure/secrets/keyring.ts';
import type { Projection } from '../../projections/engine/projection.ts';
import { liveSchema } from '../../projections/engine/projection.ts';
import { rebuild as rebuildAll } from '../../projections/engine/rebuild.ts';
import { createSchema } from '../../projections/engine/schemaVersions.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { codecWith } from '../support/programLog.ts';
import { migratedDatabase } from '../world/postgres.ts';
import { type BenchRow, ofAccounts } from './row.ts';
import { seed } from './seed.ts';
import { median } from './statistics.ts';

const TRANSACTION_EVENTS = 1_000;
/** The counterpart is slow, so its rate is measured on a part of the log. */
const COUNTERPART_EVENTS = 10_000;
const ROUNDS = 3;

const slowSchema = (projection: Projection): string => `slow_${liveSchema(projection.name)}`;

export const rebuild: BenchRow = async ({ quick, events: wanted, accounts: count, say }) => {
  const database = await migratedDatabase();
  const store = await openPostgresEventStore({ connectionString: database.connectionString });
  const openSession = leaderSessions(connectionConfig(database.connectionString, 'quita bench'));
  const session = await openSession('bench');
  say(`rebuild: writing ${wanted} events`);
  const keyring = new SecretsKeyring([Buffer.alloc(32, 7)]);
  /** Returns a codec without cached data keys, as in a new process. */
  const newCodec = () => codecWith(database.connectionString, keyring);
  const seeding = newCodec();
  const accounts = Array.from({ length: count ?? 1 }, () => encodeRawId(randomBytes(16)) as AccountId);
  const events = await seed({ store, codec: seeding.codec }, wanted, { deliveries: true, accounts });
  await seeding.close();

  const ours = async (): Promise<number> => {
    const { codec, close } = newCodec();
    const beganAt = performance.now();
    await rebuildAll(PROJECTIONS, { store, codec }, openSession);
    const perSecond = (events * 1_000) / (performance.now() - beganAt);
    await close();
    return perSecond;
  };

  const counterpart = async (atMost: number): Promise<number> => {
    for (const projection of PROJECTIONS) await createSchema(session, projection, slowSchema(projection));
    const writers = PROJECTIONS.map((projection) => ({
      categories: new Set<string>(projection.categories),
      writer: projection.writer(slowSchema(projection)),
    }));
    const { codec, close } = newCodec();
    const done = new AbortController();
    const beganAt = performance.now();
    let taken = 0;
    for await (const batch of store.subscribe({
      after: null,
      categories: null,
      batchSize: TRANSACTION_EVENTS,
      signal: done.signal,
    })) {
      if (batch.kind === 'events') {
        await session.transaction(async (tx) => {
          for (const logged of await codec.decode(batch.events)) {
            if (logged instanceof UnreadableEvent) throw logged.reason;
            for (const { categories, writer } of writers)
              if (categories.has(logged.category)) await writer.apply([logged], tx);
          }
        });
        taken += batch.events.length;
      }
      if (batch.kind === 'caughtUp' || taken >= atMost) break;
    }
    const perSecond = (taken * 1_000) / (performance.now() - beganAt);
    done.abort();
    await close();
    return perSecond;
  };

  /** Rejects if the rows of the two differ. Returns the number of rows. */
  const compared = async (): Promise<number> => {
    let rows = 0;
    for (const projection of PROJECTIONS) {
      for (const { name } of projection.tables) {
        const [fast, slow] = [`${liveSchema(projection.name)}.${name}`, `${slowSchema(projection)}.${name}`];
        // Compared as text, because each schema has its own composite types.
        const but = (one: string, other: string) =>
          `(SELECT t::text FROM ${one} t EXCEPT SELECT t::text FROM ${other} t)`;
        const text = `SELECT (SELECT count(*) FROM ${fast}) AS fast, (SELECT count(*) FROM (${but(fast, slow)} UNION ALL ${but(slow, fast)}) d) AS different`;
        const found = (await session.query<{ fast: number; different: number }>(text)).rows[0]!;
        if (found.different > 0) throw new Error(`${found.different} rows of ${fast} differ from ${slow}`);
        rows += found.fast;
      }
    }
    return rows;
  };

  const isWhole = events <= COUNTERPART_EVENTS;
  const rates: { ours: number[]; counterpart: number[] } = { ours: [], counterpart: [] };
  for (let n = 0; n < (quick ? 1 : ROUNDS); n++) {
    rates.ours.push(await ours());
    rates.counterpart.push(await counterpart(COUNTERPART_EVENTS));
    say(`rebuild: ${rates.ours[n]!.toFixed(0)} against ${rates.counterpart[n]!.toFixed(0)} events a second`);
  }
  if (!isWhole) await counterpart(quick ? Number.POSITIVE_INFINITY : Math.min(events, 100_000));
  const rows = isWhole || events <= 100_000 ? await compared() : null;
  await session.close();
  await store.close();
  await database.drop();
  const [fast, slow] = [median(rates.ours), median(rates.counterpart)];
  return [
    {
      name: 'rebuild',
      what: `rebuild of all ${PROJECTIONS.length} read models, ${events} events${ofAccounts(count)}`,
      against: `row-per-event upserts of the same models in transactions of ${TRANSACTION_EVENTS} (rate over ${Math.min(events, COUNTERPART_EVENTS)} events)`,
      unit: 'events/s',
      ours: fast,
      counterpart: slow,
      goal: { text: '≥ 10×', met: fast >= 10 * slow },
      details: rows === null ? {} : { 'reconciled:': `${rows} rows, the same both ways` },
    },
  ];
};
