// Rows of `--against <commit>`: this tree and another commit in one run, in pairs of rounds with alternating order (ABBA).
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Checkout, thisTree } from './checkout.ts';
import { type Load, LoadGenerator } from './load.ts';
import type { Received } from './receiverProcess.ts';
import type { BenchOptions, Row } from './row.ts';
import { type Cpu, Side } from './side.ts';
import { median } from './statistics.ts';

type PairedRow = (other: Checkout, options: BenchOptions) => Promise<Row>;
export type Sides<T> = readonly [ours: T, theirs: T];

/** Issue 19: no slower than the previous commit. */
const RATIO_MIN = 0.97;
const CONNECTIONS = 32;

const reply = <T>(child: ChildProcess): Promise<T> =>
  new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as T));
    child.once('exit', (code) => reject(new Error(`a process ended with ${code}`)));
  });
const ask = <T>(child: ChildProcess, order: object): Promise<T> => {
  const answer = reply<T>(child);
  child.send(order);
  return answer;
};
const start = (file: string, ...args: readonly string[]): ChildProcess => fork(join(import.meta.dirname, file), args);

const both = async <T>(other: Checkout, open: (checkout: Checkout) => Promise<T>): Promise<Sides<T>> => [
  await open(thisTree),
  await open(other),
];

/** Runs pairs of rounds. Each pair reverses the order of the previous one. */
const inPairs = async <S, R extends { readonly perSecond: number }>(
  sides: Sides<S>,
  { pairs, say }: { readonly pairs: number; readonly say: (line: string) => void },
  round: (side: S) => Promise<R>,
): Promise<readonly Sides<R>[]> => {
  const results: Sides<R>[] = [];
  for (let n = 0; n < pairs; n++) {
    const [first, second] = n % 2 === 0 ? sides : ([sides[1], sides[0]] as const);
    const inTurn = [await round(first), await round(second)] as const;
    const pair: Sides<R> = n % 2 === 0 ? inTurn : [inTurn[1], inTurn[0]];
    say(`pair ${n + 1} of ${pairs}: ${pair.map(({ perSecond }) => perSecond.toFixed(0)).join(' against ')} a second`);
    results.push(pair);
  }
  return results;
};

export const ratios = <R>(pairs: readonly Sides<R>[], figure: (round: R) => number): readonly number[] =>
  pairs.map(([ours, theirs]) => figure(ours) / figure(theirs));
const spread = (values: readonly number[]): string =>
  `${median(values).toFixed(2)}× (${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)} of ${values.length} pairs)`;

export const rowOf = <R extends { readonly perSecond: number }>(
  parts: { readonly name: string; readonly what: string; readonly unit: string; readonly against: string },
  pairs: readonly Sides<R>[],
  more: Readonly<Record<string, (round: R) => number>> = {},
): Row => {
  const { name, what, unit, against } = parts;
  const all = ratios(pairs, ({ perSecond }) => perSecond);
  const of = (side: 0 | 1, figure: (round: R) => number): number => median(pairs.map((pair) => figure(pair[side])));
  const details = Object.entries(more).map(([label, figure]) => [
    label,
    `${of(0, figure).toFixed(1)} and ${of(1, figure).toFixed(1)}, ${spread(ratios(pairs, figure))}`,
  ]);
  return {
    name,
    what,
    against,
    unit,
    ours: of(0, ({ perSecond }) => perSecond),
    counterpart: of(1, ({ perSecond }) => perSecond),
    ratios: all,
    goal: { text: `≥ ${RATIO_MIN}×`, met: median(all) >= RATIO_MIN },
    details: { 'ratio:': spread(all), ...Object.fromEntries(details) },
  };
};

const CPU = {
  'CPU of Node, µs:': ({ node }: Cpu) => node,
  'CPU of PostgreSQL, µs:': ({ postgres }: Cpu) => postgres,
};

/** Runs rounds of charges on both sides. Rejects unless each side’s events, counted by `eventsOf`, include every accepted charge. */
export const chargesInPairs = async (
  sides: Sides<Side>,
  { quick, say }: Pick<BenchOptions, 'quick' | 'say'>,
  eventsOf: (side: Side) => Promise<number>,
): Promise<readonly Sides<Load & Cpu>[]> => {
  const [durationMs, warmUpMs, pairs] = quick ? [1_000, 1_000, 3] : [3_000, 15_000, 13];
  const generator = new LoadGenerator();
  const accepted = new Map<Side, number>();
  const round = (side: Side, durationMs: number): Promise<Load & Cpu> => {
    const { port, apiKeys } = side;
    const order = { port, apiKeys, connections: CONNECTIONS, durationMs, perSecond: null };
    return side.withCpu(
      async () => {
        const load = await generator.run(order);
        accepted.set(side, (accepted.get(side) ?? 0) + load.answered);
        return load;
      },
      ({ answered }) => answered,
    );
  };
  for (const side of sides) await round(side, warmUpMs);
  const results = await inPairs(sides, { pairs, say: (line) => say(`charges: ${line}`) }, (side) =>
    round(side, durationMs),
  );
  generator.close();
  for (const side of sides) {
    const events = await eventsOf(side);
    if (events !== accepted.get(side))
      throw new Error(`${side.checkout.name} accepted ${accepted.get(side)} charges, but there are ${events} events`);
    await side.close();
  }
  return results;
};

export const CHARGES_WHAT = `POST /v1/charges, ${CONNECTIONS} connections`;
export const CHARGES_MORE = { 'p50, ms:': ({ p50Ms }: Load) => p50Ms, 'p99, ms:': ({ p99Ms }: Load) => p99Ms, ...CPU };

const charges: PairedRow = async (other, options) => {
  const sides = await both(other, (checkout) => Side.open(checkout));
  const results = await chargesInPairs(sides, options, (side) =>
    side.count("event_store.events WHERE type = 'ChargeCreated'"),
  );
  return rowOf({ name: 'charges', what: CHARGES_WHAT, unit: 'requests/s', against: other.name }, results, CHARGES_MORE);
};

const append: PairedRow = async (other, { quick, say }) => {
  const [durationMs, pairs] = quick ? [500, 3] : [2_000, 13];
  const sides = await both(other, async (checkout) => {
    const side = await Side.open(checkout);
    await side.stopProgram(); // it has migrated the database
    const writer = start('appendProcess.ts', checkout.root, side.connectionString);
    await reply(writer);
    return { side, writer };
  });
  const round = ({ writer }: { writer: ChildProcess }, forMs: number) =>
    ask<{ perSecond: number }>(writer, { durationMs: forMs });
  for (const side of sides) await round(side, durationMs);
  const results = await inPairs(sides, { pairs, say: (line) => say(`append: ${line}`) }, (side) =>
    round(side, durationMs),
  );
  for (const { side, writer } of sides) {
    writer.removeAllListeners('exit');
    writer.disconnect();
    await side.discard();
  }
  return rowOf({ name: 'append', what: 'append, 32 writers', unit: 'events/s', against: other.name }, results);
};

/** Number of events of a created and paid Pix. */
const EVENTS_PER_PAYMENT = 3;

const rebuild: PairedRow = async (other, { quick, events, say }) => {
  const pairs = quick ? 3 : 7;
  const payments = Math.ceil(events / EVENTS_PER_PAYMENT / (quick ? 10 : 1));
  const sides = await both(other, async (checkout) => {
    const side = await Side.open(checkout);
    say(`rebuild: ${payments} paid charges by ${checkout.name}`);
    await side.pay(await side.createCharges(payments, 'rebuild'));
    await side.idle();
    await side.stopProgram();
    return side;
  });
  const secondsOf = async (side: Side, ...words: readonly string[]): Promise<number> => {
    const beganAt = performance.now();
    await side.cli('projections', ...words);
    return (performance.now() - beganAt) / 1_000;
  };
  const round = async (side: Side) => {
    const start = await secondsOf(side, 'status'); // the time to start the program alone
    const seconds = (await secondsOf(side, 'rebuild', 'all')) - start;
    return { perSecond: (await side.count('event_store.events')) / seconds };
  };
  const results = await inPairs(sides, { pairs, say: (line) => say(`rebuild: ${line}`) }, round);
  const lengths = await Promise.all(sides.map((side) => side.count('event_store.events')));
  for (const side of sides) await side.close();
  const what = `rebuild of all read models, ${lengths.join(' and ')} events of ${payments} paid charges`;
  return rowOf({ name: 'rebuild', what, unit: 'events/s', against: other.name }, results);
};

const delivery: PairedRow = async (other, { quick, say }) => {
  const [payments, pairs] = quick ? [200, 3] : [3_000, 7];
  const sides = await both(other, async (checkout) => {
    const side = await Side.open(checkout);
    const receiver = start('receiverProcess.ts');
    const { port } = await reply<{ port: number }>(receiver);
    const unpaid = [...(await side.createCharges(payments * (pairs + 1), 'delivery'))];
    await side.call('/v1/webhooks/endpoints', { url: `http://127.0.0.1:${port}/hook`, events: ['*'] });
    await side.idle();
    return { side, receiver, unpaid };
  });
  type Target = (typeof sides)[number];
  const arrived = ({ receiver }: Target, deliveries: number) => ask<Received>(receiver, { deliveries });
  /** Pays while no process reacts. Returns a function that unblocks the processes. */
  const paid = ({ side, unpaid }: Target) => side.heldBack(() => side.pay(unpaid.splice(0, payments)));
  // The number of messages about a paid charge depends on the commit, so the warm-up round counts them.
  const perRound = new Map<Target, number>();
  for (const target of sides) {
    const letGo = await paid(target);
    await letGo();
    await target.side.idle();
    const { deliveries } = await arrived(target, 0);
    if (deliveries === 0 || deliveries % payments !== 0)
      throw new Error(`${target.side.checkout.name}: ${deliveries} deliveries of ${payments} paid charges`);
    perRound.set(target, deliveries);
  }
  const round = async (target: Target) => {
    const deliveries = perRound.get(target) as number;
    const letGo = await paid(target);
    await pause(0);
    return target.side.withCpu(
      async () => {
        const beganAt = performance.now();
        const all = arrived(target, deliveries);
        await letGo();
        await all;
        return { perSecond: (deliveries * 1_000) / (performance.now() - beganAt) };
      },
      () => deliveries,
    );
  };
  const results = await inPairs(sides, { pairs, say: (line) => say(`delivery: ${line}`) }, round);
  for (const target of sides) {
    const { deliveries } = await arrived(target, 0);
    if (deliveries !== 0) throw new Error(`${target.side.checkout.name}: ${deliveries} deliveries too many`);
    target.receiver.removeAllListeners('exit');
    target.receiver.disconnect();
    await target.side.close();
  }
  const what = 'webhook deliveries, 1 endpoint, from reacting to the payment to arrived';
  return rowOf({ name: 'delivery', what, unit: 'deliveries/s', against: other.name }, results, CPU);
};

export const PAIRED: Readonly<Record<string, PairedRow>> = { charges, append, rebuild, delivery };
