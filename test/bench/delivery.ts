// Webhook deliveries to endpoints of `*`, against a bare undici loop that posts the same signed bodies to the same receiver. The clock
// starts when the log and the read models contain the payments’ events and no process has reacted to them. It stops when every delivery is
// recorded in events and in the read model.

import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { EventsToEncode } from '../../application/ports/eventCodec.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import type { PaymentEvent } from '../../domain/payment/payment.ts';
import { eachOf } from '../world/eachOf.ts';
import { freePort } from '../world/program.ts';
import type { BareOrder } from './bareLoop.ts';
import { cpuMsOf } from './cpu.ts';
import { GatewayUnderTest } from './gatewayUnderTest.ts';
import type { Message, Received } from './receiverProcess.ts';
import type { BenchRow } from './row.ts';
import { appendAll, paidPayment } from './seed.ts';
import { median } from './statistics.ts';

interface Setup {
  readonly name: string;
  readonly what: string;
  readonly endpoints: number;
  readonly perAccount: number;
  /** Every n-th endpoint refuses connections; null: none. */
  readonly deadEvery: number | null;
  readonly goal: number | null;
}

/** Concurrency of the counterpart: the gateway’s limit per endpoint, for each endpoint. More than 64 in total don’t make it faster. */
const concurrencyOf = ({ endpoints }: Setup): number => Math.min(16 * endpoints, 64);
/** Maximum, by W6. */
const ENDPOINTS_PER_ACCOUNT = 16;
const CALLS_AT_ONCE = 32;
/** Number of messages about a settled Pix to an endpoint: charge.paid, payment.completed, payment.status_changed. */
const MESSAGES = 3;
const PATIENCE_MS = 120_000;
const LOOK_EVERY_MS = 20;

/** One account with its endpoints and the settlements that have yet to be appended. */
interface Shop {
  readonly accountId: AccountId;
  readonly apiKey: string;
  readonly living: number;
  readonly dead: number;
  readonly settlements: EventsToEncode<PaymentEvent>[];
}

const start = (file: string): ChildProcess => fork(join(import.meta.dirname, file));
const reply = <T>(child: ChildProcess): Promise<T> =>
  new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
const ask = <T>(child: ChildProcess, order: object): Promise<T> => {
  const answer = reply<T>(child);
  child.send(order);
  return answer;
};

/** Returns the host of the n-th endpoint. Merchants’ endpoints have different hosts, so these do, too. */
const hostOf = (n: number): string => `127.1.${Math.floor(n / 250)}.${(n % 250) + 1}`;

/** Appends payments of each shop without their settlements, which the shop keeps for later. */
const openPayments = async ({ log }: GatewayUnderTest, shops: readonly Shop[], perShop: number): Promise<void> => {
  let opened = 0;
  await appendAll(log, () => {
    if (opened === shops.length * perShop) return null;
    const { accountId, settlements } = shops[opened % shops.length] as Shop;
    const paid = paidPayment(opened++, accountId);
    const created = paid.events.slice(0, -1);
    settlements.push({
      ...paid,
      after: created.length - 1,
      events: paid.events.slice(-1),
      commandId: `${paid.commandId}-2`,
    });
    return { ...paid, events: created };
  });
};

/** Opens accounts with endpoints. Their payments already exist, so no endpoint receives messages about their creation. */
const openShops = async (
  gateway: GatewayUnderTest,
  { endpoints, perAccount, deadEvery }: Setup,
  { livingPort, payments }: { livingPort: number; payments: number },
): Promise<{ readonly shops: readonly Shop[]; readonly urls: readonly string[] }> => {
  const deadPort = await freePort();
  const isDead = (n: number): boolean => deadEvery !== null && n % deadEvery === deadEvery - 1;
  const urlOf = (n: number): string => `http://${hostOf(n)}:${isDead(n) ? deadPort : livingPort}/hook`;
  const all = Array.from({ length: endpoints }, (_, n) => n);
  const tenants = await gateway.openTenants(Math.ceil(endpoints / perAccount));
  const ownOf = (shop: number) => all.slice(shop * perAccount, (shop + 1) * perAccount);
  const shops = tenants.map(({ accountId, testKey: apiKey }, shop): Shop => {
    const own = ownOf(shop);
    const dead = own.filter(isDead).length;
    return { accountId, apiKey, living: own.length - dead, dead, settlements: [] };
  });
  await openPayments(gateway, shops, payments);
  await gateway.caughtUp();
  await eachOf([...shops.entries()], CALLS_AT_ONCE, async ([shop, { apiKey }]) => {
    for (const n of ownOf(shop))
      await gateway.call('/v1/webhooks/endpoints', { url: urlOf(n), events: ['*'] }, { apiKey });
  });
  await gateway.caughtUp();
  return { shops, urls: all.filter((n) => !isDead(n)).map(urlOf) };
};

/** Appends `perShop` settlements of each account, of all accounts in turn. */
const settle = async ({ log }: GatewayUnderTest, shops: readonly Shop[], perShop: number): Promise<void> => {
  const taken = shops.map(({ settlements }) => settlements.splice(0, perShop));
  const inTurn = Array.from({ length: perShop }, (_, n) => taken.map((own) => own[n]!)).flat();
  await appendAll(log, () => inTurn.pop() ?? null);
};

/** Appends an event of an account without endpoints, which causes no reaction. */
const appendIgnored = async ({ log }: GatewayUnderTest): Promise<void> => {
  const paid = paidPayment(0);
  let isLeft = true;
  await appendAll(log, () => {
    if (!isLeft) return null;
    isLeft = false;
    return { ...paid, events: paid.events.slice(0, 1) };
  });
};

const untilDelivered = async (gateway: GatewayUnderTest, deliveries: number): Promise<void> => {
  const untilMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const delivered = await gateway.count("rm_webhook_deliveries.deliveries WHERE status = 'DELIVERED'");
    if (delivered === deliveries) return;
    if (delivered > deliveries || performance.now() > untilMs)
      throw new Error(`${deliveries} deliveries were sent, but ${delivered} rows say delivered`);
    await pause(LOOK_EVERY_MS);
  }
};

/** Returns the total number of deliveries of all accounts and the number of successful ones, according to the API. */
const readStats = async (gateway: GatewayUnderTest, shops: readonly Shop[]) => {
  type Stats = { total: number; DELIVERED: number };
  const all = await eachOf(shops, CALLS_AT_ONCE, ({ apiKey }) =>
    gateway.call<Stats>('/v1/webhooks/stats', undefined, { apiKey }),
  );
  const sum = (of: keyof Stats): number => all.reduce((total, stats) => total + stats[of], 0);
  return { total: sum('total'), delivered: sum('DELIVERED') };
};

const ofEach = (accounts: number, { deadEvery }: Setup): string =>
  `${accounts} accounts with an endpoint each${deadEvery === null ? '' : `, one in ${deadEvery} of which refuses`}`;

const deliveryRow =
  (fixed: Setup): BenchRow =>
  async ({ quick, accounts, say }) => {
    const setup =
      accounts === null ? fixed : { ...fixed, what: ofEach(accounts, fixed), endpoints: accounts, perAccount: 1 };
    const [perRound, rounds] = quick ? [500, 1] : [10_000, 3];
    const perShop = Math.ceil(perRound / (setup.endpoints * MESSAGES));
    const gateway = await GatewayUnderTest.start();
    const receiver = start('receiverProcess.ts');
    const bare = start('bareLoop.ts');
    const { port: livingPort } = await reply<{ port: number }>(receiver);
    say(`${setup.name}: accounts, ${setup.endpoints} endpoints, payments`);
    const { shops, urls } = await openShops(gateway, setup, { livingPort, payments: perShop * (rounds + 1) });
    const sum = (of: (shop: Shop) => number): number => shops.reduce((all, shop) => all + of(shop), 0);
    const deliveries = sum(({ living }) => living) * perShop * MESSAGES;

    const cpuNow = async () => ({
      ...(await gateway.cpuMs()),
      receiver: await cpuMsOf(receiver.pid!),
      loop: await cpuMsOf(bare.pid!),
    });
    /** Returns a round’s deliveries per second, and the CPU of each process in µs per delivery. */
    const measured = async (run: () => Promise<unknown>) => {
      const before = await cpuNow();
      const beganAt = performance.now();
      await run();
      const perSecond = (deliveries * 1_000) / (performance.now() - beganAt);
      const after = await cpuNow();
      const cpu = (of: keyof typeof after): number => ((after[of] - before[of]) * 1_000) / deliveries;
      return { perSecond, node: cpu('node'), postgres: cpu('postgres'), receiver: cpu('receiver'), loop: cpu('loop') };
    };

    let sent = 0;
    let messages: readonly Message[] = [];
    const ours = async () => {
      const arrived = ask<Received>(receiver, { deliveries });
      const letGo = await gateway.heldBack(
        () => appendIgnored(gateway),
        async () => {
          await settle(gateway, shops, perShop);
          await gateway.projected();
        },
      );
      sent += deliveries;
      return measured(async () => {
        await letGo();
        ({ messages } = await arrived);
        await untilDelivered(gateway, sent);
      });
    };
    const counterpart = async () => {
      const arrived = ask<Received>(receiver, { deliveries });
      const order: BareOrder = { urls, messages, deliveries, concurrency: concurrencyOf(setup) };
      return measured(async () => {
        await ask(bare, order);
        await arrived;
      });
    };

    type Round = Awaited<ReturnType<typeof measured>>;
    const all: { ours: Round; counterpart: Round }[] = [];
    for (let n = 0; n <= rounds; n++) {
      const round = { ours: await ours(), counterpart: await counterpart() };
      const [fast, loop] = [round.ours, round.counterpart].map(({ perSecond }) => perSecond.toFixed(0));
      say(`${setup.name}${n === 0 ? ', to warm up' : ''}: ${fast} against ${loop} a second`);
      if (n > 0) all.push(round);
    }
    const medianOf = (of: (round: (typeof all)[number]) => number): number => median(all.map(of));
    const { deliveries: late } = await ask<Received>(receiver, { deliveries: 0 });
    const { total, delivered } = await readStats(gateway, shops);
    const toDead = sum(({ dead }) => dead) * perShop * (rounds + 1) * MESSAGES;
    if (late !== 0 || delivered !== sent || total !== sent + toDead)
      throw new Error(`${sent} + ${toDead} to dead ones, but ${delivered} of ${total} delivered and ${late} too many`);
    const compared = await gateway.verified();
    receiver.disconnect();
    bare.disconnect();
    await gateway.stop();
    const fast = medianOf((round) => round.ours.perSecond);
    const loop = medianOf((round) => round.counterpart.perSecond);
    const cpuOf = (side: 'ours' | 'counterpart', part: keyof Round): string =>
      medianOf((round) => round[side][part]).toFixed(0);
    const { goal } = setup;
    return [
      {
        name: setup.name,
        what: `webhook deliveries, ${setup.what}, from reacting to the payment to recorded`,
        against: `a bare undici loop, ${concurrencyOf(setup)} at once, same signed bodies, same receiver`,
        unit: 'deliveries/s',
        ours: fast,
        counterpart: loop,
        goal: { text: goal === null ? '' : `≥ ${goal}×`, met: goal === null ? null : fast >= goal * loop },
        details: {
          'CPU a delivery, ours:': `Node ${cpuOf('ours', 'node')} µs, PostgreSQL ${cpuOf('ours', 'postgres')} µs, receiver ${cpuOf('ours', 'receiver')} µs`,
          'CPU a delivery, counterpart:': `loop ${cpuOf('counterpart', 'loop')} µs, receiver ${cpuOf('counterpart', 'receiver')} µs`,
          'reconciled:': `${sent} sent = arrived = delivered rows, ${toDead} more to dead ones, verify: 0 differences in ${compared} rows`,
        },
      },
    ];
  };

const living = { perAccount: ENDPOINTS_PER_ACCOUNT, deadEvery: null, goal: null };
export const delivery = deliveryRow({ ...living, name: 'delivery', what: '1 endpoint', endpoints: 1, goal: 0.5 });
export const delivery10 = deliveryRow({ ...living, name: 'delivery10', what: '10 endpoints', endpoints: 10 });
export const delivery1000 = deliveryRow({
  ...{ ...living, name: 'delivery1000' },
  ...{ what: '1,000 endpoints of 63 accounts', endpoints: 1_000 },
});
export const deliveryDead = deliveryRow({
  ...{ ...living, name: 'deliveryDead' },
  ...{ what: '1,000 endpoints of which 100 refuse', endpoints: 1_000, deadEvery: 10 },
});
