// POST /v1/charges with all its effects, against the CRUD baseline. First 32 connections without pauses, then the same arrival rate for
// both. Rounds alternate. Afterwards, every accepted charge must be in the events and in the read model.
import { CrudProcess } from './crudProcess.ts';
import { GatewayUnderTest } from './gatewayUnderTest.ts';
import { LagSampler } from './lagSampler.ts';
import { type Load, LoadGenerator } from './load.ts';
import { countEvents, type LogName, startEventStoreDb } from './logUnderTest.ts';
import { type BenchRow, ofAccounts, type Row } from './row.ts';
import { median } from './statistics.ts';

const CONNECTIONS = 32;
const POOL_SIZES = [8, 16, 32];
/** Arrival rate of the open model, as a share of the slower side’s capacity. */
const OPEN_SHARE = 0.6;
const LAG_MS_MAX = 1_000;

interface Target {
  readonly port: number;
  readonly apiKeys: readonly string[];
}

class Rounds {
  readonly #generator = new LoadGenerator();
  accepted = new Map<Target, number>();

  async run(target: Target, durationMs: number, perSecond: number | null): Promise<Load> {
    const { port, apiKeys } = target;
    const connections = perSecond === null ? CONNECTIONS : 2 * CONNECTIONS;
    const load = await this.#generator.run({ port, apiKeys, connections, durationMs, perSecond });
    this.accepted.set(target, (this.accepted.get(target) ?? 0) + load.answered);
    return load;
  }
  close(): void {
    this.#generator.close();
  }
}

const bestPool = async (rounds: Rounds, crud: CrudProcess, durationMs: number): Promise<number> => {
  const tried: { size: number; perSecond: number }[] = [];
  for (const size of POOL_SIZES) {
    await crud.usePool(size);
    tried.push({ size, perSecond: (await rounds.run(crud, durationMs, null)).perSecond });
  }
  const { size } = tried.reduce((best, next) => (next.perSecond > best.perSecond ? next : best));
  await crud.usePool(size);
  return size;
};

const of = (loads: readonly Load[], figure: (load: Load) => number): number => median(loads.map(figure));

const lagRow = (lag: LagSampler): Row => ({
  name: 'chargesLag',
  what: 'projection lag under that load, longest',
  against: `a bound; ${lag.samples} samples`,
  unit: 'ms',
  ours: lag.maxMs,
  counterpart: null,
  goal: { text: '< 1 s', met: lag.maxMs < LAG_MS_MAX },
  details: {},
});

const chargesOn =
  (log: LogName): BenchRow =>
  async ({ quick, accounts, say }) => {
    const [durationMs, warmUpMs, count] = quick ? [1_000, 1_000, 1] : [4_000, 6_000, 4];
    const eventStoreDb = log === 'eventStoreDb' ? await startEventStoreDb() : null;
    const gateway = await GatewayUnderTest.start(eventStoreDb);
    const sellers = await gateway.tenants(accounts);
    const charges: Target = { port: gateway.port, apiKeys: sellers.map(({ testKey }) => testKey) };
    const crud = await CrudProcess.start();
    const rounds = new Rounds();
    // The sampler reads the log with SQL.
    const lag = eventStoreDb === null ? new LagSampler(gateway.sql) : null;
    say('charges: warming up');
    await rounds.run(charges, warmUpMs, null);
    await rounds.run(crud, warmUpMs, null);
    const pool = await bestPool(rounds, crud, durationMs / 2);
    const full: { ours: Load[]; theirs: Load[] } = { ours: [], theirs: [] };
    const open: { ours: Load[]; theirs: Load[] } = { ours: [], theirs: [] };
    const ours = async (perSecond: number | null) => {
      lag?.start();
      const load = await rounds.run(charges, durationMs, perSecond);
      await lag?.stop();
      return load;
    };
    for (let n = 0; n < count; n++) {
      full.ours.push(await ours(null));
      full.theirs.push(await rounds.run(crud, durationMs, null));
      say(
        `charges: round ${n + 1} of ${count}: ${full.ours[n]!.perSecond.toFixed(0)} against ${full.theirs[n]!.perSecond.toFixed(0)} a second`,
      );
    }
    const most = (loads: readonly Load[]) => of(loads, (load) => load.perSecond);
    const rate = Math.floor(OPEN_SHARE * Math.min(most(full.ours), most(full.theirs)));
    for (let n = 0; n < Math.ceil(count / 2); n++) {
      open.ours.push(await ours(rate));
      open.theirs.push(await rounds.run(crud, durationMs, rate));
    }
    say('charges: reconciling');
    const accepted = rounds.accepted.get(charges)!;
    await gateway.caughtUp();
    const events =
      eventStoreDb === null
        ? await gateway.count("event_store.events WHERE type = 'ChargeCreated'")
        : await countEvents(eventStoreDb, 'ChargeCreated');
    const rows = await gateway.count('rm_payments.payments');
    if (events !== accepted || rows !== accepted)
      throw new Error(`${accepted} charges were accepted, but there are ${events} events and ${rows} rows`);
    const compared = await gateway.verified();
    const theirRows = await crud.usePool(pool);
    if (theirRows !== rounds.accepted.get(crud))
      throw new Error(`the baseline holds ${theirRows} of ${rounds.accepted.get(crud)} charges`);
    rounds.close();
    await gateway.stop();
    await crud.stop();
    await eventStoreDb?.stop();

    const p99 = (loads: readonly Load[]) => of(loads, (load) => load.p99Ms);
    const ms = (loads: readonly Load[]) =>
      `p50 ${of(loads, (load) => load.p50Ms).toFixed(1)} p99 ${p99(loads).toFixed(1)} ms`;
    const against = `a CRUD gateway (Express 5, pg, one transaction of three statements, pool of ${pool})`;
    // The goals apply to the embedded default only. With EventStoreDB, the figures depend on the server.
    const goal = (text: string, met: boolean) => (eventStoreDb === null ? { text, met } : { text: '', met: null });
    const on = eventStoreDb === null ? '' : ` on ${eventStoreDb.what}`;
    const reconciled = `${accepted} accepted = ${events} events = ${rows} rows, verify: 0 differences in ${compared} rows`;
    return [
      {
        name: eventStoreDb === null ? 'charges' : 'chargesEventStoreDb',
        what: `POST /v1/charges, ${CONNECTIONS} connections${on}${ofAccounts(accounts)}`,
        against,
        unit: 'requests/s',
        ours: most(full.ours),
        counterpart: most(full.theirs),
        goal: goal('≥ 2×', most(full.ours) >= 2 * most(full.theirs)),
        details: { 'latency, ours:': ms(full.ours), 'latency, theirs:': ms(full.theirs), 'reconciled:': reconciled },
      },
      {
        name: eventStoreDb === null ? 'chargesLatency' : 'chargesEventStoreDbLatency',
        what: `POST /v1/charges, ${rate} requests/s, p99${on}${ofAccounts(accounts)}`,
        against,
        unit: 'ms',
        ours: p99(open.ours),
        counterpart: p99(open.theirs),
        goal: goal('≤ 1×', p99(open.ours) <= p99(open.theirs)),
        details: { 'latency, ours:': ms(open.ours), 'latency, theirs:': ms(open.theirs) },
      },
      ...(lag === null ? [] : [lagRow(lag)]),
    ];
  };

export const charges = chargesOn('postgres');
export const chargesEventStoreDb = chargesOn('eventStoreDb');
