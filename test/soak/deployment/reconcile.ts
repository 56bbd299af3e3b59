// Checks what must hold when the deployment is quiet again, by the APIs, the log and the tools.
import type { EventStore, RecordedEvent } from '../../../application/ports/eventStore.ts';
import { add, toMinor } from '../../../domain/kernel/money.ts';
import { chargeFees, DEFAULT_FEES } from '../../../domain/transaction/fees.ts';
import { eachOf } from '../../world/eachOf.ts';
import { type Acknowledged, type Apis, AT_ONCE, chargeAsk, type Merchant } from './merchants.ts';

const FLUSH_MS = 300_000;

interface ByApis {
  /** Charges whose replayed response differs from the first one. */
  readonly otherReplays: readonly string[];
  /** Charges that were not paid by their own Pix. */
  readonly unpaid: readonly string[];
}

interface Listed {
  readonly id: string;
  readonly status: string;
  readonly settlement?: { readonly end_to_end_id?: string };
}

/** Returns all charges of the merchant, by id. */
const listed = async (apis: Apis, { apiKey }: Merchant): Promise<ReadonlyMap<string, Listed>> => {
  const all = new Map<string, Listed>();
  for (let next: string | null = ''; next !== null; ) {
    const path: string = `/v1/charges?limit=100${next && `&starting_after=${next}`}`;
    const { status, text } = await apis.insist({ method: 'GET', path, apiKey });
    if (status !== 200) throw new Error(`${path}: ${text}`);
    const page = JSON.parse(text) as { data: readonly Listed[]; next_cursor: string | null };
    for (const charge of page.data) all.set(charge.id, charge);
    next = page.next_cursor;
  }
  return all;
};

const byMerchant = (acknowledged: readonly Acknowledged[]): ReadonlyMap<Merchant, readonly Acknowledged[]> =>
  Map.groupBy(acknowledged, ({ merchant }) => merchant);

export const askApis = async (apis: Apis, acknowledged: readonly Acknowledged[]): Promise<ByApis> => {
  const otherReplays: string[] = [];
  const unpaid: string[] = [];
  await eachOf(acknowledged, AT_ONCE, async ({ merchant, key, amount, text, id }) => {
    const again = await apis.insist(chargeAsk(merchant, key, amount));
    if (again.text !== text || !again.replayed || again.status !== 201) otherReplays.push(`${id}: ${again.text}`);
  });
  await eachOf([...byMerchant(acknowledged)], AT_ONCE, async ([merchant, its]) => {
    const charges = await listed(apis, merchant);
    for (const { id, endToEndId } of its) {
      const charge = charges.get(id);
      if (charge?.status !== 'paid' || charge.settlement?.end_to_end_id !== endToEndId)
        unpaid.push(`${id}: ${JSON.stringify(charge)}`);
    }
    if (charges.size !== its.length) unpaid.push(`${merchant.name}: ${charges.size} charges, not ${its.length}`);
  });
  return { otherReplays, unpaid };
};

/** Waits until no delivery of the merchants is due. Returns how many are still due after 300 s. */
export const flushDeliveries = async (apis: Apis, merchants: readonly Merchant[]): Promise<number> => {
  const beganAtMs = performance.now();
  let pending = new Map(merchants.map((merchant) => [merchant, 0]));
  do {
    const still = new Map<Merchant, number>();
    await eachOf([...pending.keys()], AT_ONCE, async (merchant) => {
      const ask = { method: 'POST', path: '/v1/sandbox/deliveries/flush', apiKey: merchant.apiKey, body: {} } as const;
      const { pending: count } = JSON.parse((await apis.insist(ask)).text) as { pending: number };
      if (count > 0) still.set(merchant, count);
    });
    pending = still;
  } while (pending.size > 0 && performance.now() - beganAtMs < FLUSH_MS);
  return [...pending.values()].reduce((sum, count) => sum + count, 0);
};

export interface Wallet {
  readonly merchant: string;
  readonly available: number;
  readonly expected: number;
}

/** Returns the wallets whose balance differs from the sum of the merchant’s payments. */
export const wrongWallets = async (
  apis: Apis,
  merchants: readonly Merchant[],
  acknowledged: readonly Acknowledged[],
): Promise<readonly Wallet[]> => {
  const wrong: Wallet[] = [];
  const payments = byMerchant(acknowledged);
  await eachOf(merchants, AT_ONCE, async (merchant) => {
    const { name, apiKey } = merchant;
    const { text } = await apis.insist({ method: 'GET', path: '/v1/wallets/balance', apiKey });
    const { available } = JSON.parse(text) as { available: number };
    const its = payments.get(merchant) ?? [];
    const net = its.map(({ amount }) => chargeFees(toMinor(amount), DEFAULT_FEES.PIX).netAmount);
    const expected = net.reduce(add, toMinor(0));
    if (available !== expected) wrong.push({ merchant: name, available, expected });
  });
  return wrong;
};

interface ByLog {
  /** Payments and deliveries with unexpected events. */
  readonly oddStreams: readonly string[];
  readonly events: Readonly<Record<string, number>>;
}

const readAll = async (store: EventStore, take: (event: RecordedEvent) => void): Promise<void> => {
  const over = new AbortController();
  const categories = ['payment', 'webhookDelivery'];
  for await (const signal of store.subscribe({ after: null, categories, signal: over.signal })) {
    if (signal.kind === 'events') signal.events.forEach(take);
    if (signal.kind === 'caughtUp') return over.abort();
  }
};

const PAID = 'ChargeCreated ChargePixIssued TransactionSettled';
const DELIVERED = 'WebhookDeliverySucceeded';

/** Checks in the log that every payment is created, issued and settled once, and every delivery recorded once. */
export const readLog = async (store: EventStore, acknowledged: readonly Acknowledged[]): Promise<ByLog> => {
  const types = new Map<string, string[]>();
  const events: Record<string, number> = {};
  await readAll(store, ({ stream, type }) => {
    types.set(stream, [...(types.get(stream) ?? []), type]);
    events[type] = (events[type] ?? 0) + 1;
  });
  const known = new Set(acknowledged.map(({ id }) => `payment-${id.slice('ch_'.length)}`));
  const oddStreams = [...types]
    .filter(([stream, its]) =>
      stream.startsWith('payment-') ? !known.has(stream) || its.join(' ') !== PAID : its.join(' ') !== DELIVERED,
    )
    .map(([stream, its]) => `${stream}: ${its.join(' ')}`);
  const absent = [...known].filter((stream) => !types.has(stream)).map((stream) => `${stream}: absent`);
  return { oddStreams: [...oddStreams, ...absent], events };
};
