// What must be true when all is quiet again, told by the APIs, by the log itself and by the tools.
import type { EventStore, RecordedEvent } from '../../../application/ports/eventStore.ts';
import { add, toMinor } from '../../../domain/kernel/money.ts';
import { chargeFees, DEFAULT_FEES } from '../../../domain/transaction/fees.ts';
import { type Acknowledged, type Apis, chargeAsk, type Merchant } from './merchants.ts';

const AT_ONCE = 16;
const FLUSH_MS = 300_000;

const forEach = async <T>(list: readonly T[], work: (one: T) => Promise<void>): Promise<void> => {
  const rest = list[Symbol.iterator]();
  const worker = async () => {
    for (const one of rest) await work(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
};

interface ByApis {
  /** Keys whose answer is not the first one, byte for byte. */
  readonly otherReplays: readonly string[];
  /** Charges that are not paid by their own Pix. */
  readonly unpaid: readonly string[];
}

export const askApis = async (apis: Apis, acknowledged: readonly Acknowledged[]): Promise<ByApis> => {
  const otherReplays: string[] = [];
  const unpaid: string[] = [];
  await forEach(acknowledged, async ({ merchant, key, amount, text, id, endToEndId }) => {
    const again = await apis.insist(chargeAsk(merchant, key, amount));
    if (again.text !== text || !again.replayed || again.status !== 201) otherReplays.push(`${id}: ${again.text}`);
    const read = await apis.insist({ method: 'GET', path: `/v1/charges/${id}`, apiKey: merchant.apiKey });
    const { status, settlement } = JSON.parse(read.text) as {
      status: string;
      settlement?: { end_to_end_id?: string };
    };
    if (status !== 'paid' || settlement?.end_to_end_id !== endToEndId) unpaid.push(`${id}: ${read.text}`);
  });
  return { otherReplays, unpaid };
};

/** Waits until no delivery of the merchants is due. Returns how many still are when the patience is over. */
export const flushDeliveries = async (apis: Apis, merchants: readonly Merchant[]): Promise<number> => {
  const beganAtMs = performance.now();
  for (;;) {
    const answers = await Promise.all(
      merchants.map(({ apiKey }) =>
        apis.insist({ method: 'POST', path: '/v1/sandbox/deliveries/flush', apiKey, body: {} }),
      ),
    );
    const pending = answers.reduce((sum, { text }) => sum + (JSON.parse(text) as { pending: number }).pending, 0);
    if (pending === 0 || performance.now() - beganAtMs > FLUSH_MS) return pending;
  }
};

export interface Wallet {
  readonly merchant: string;
  readonly available: number;
  readonly expected: number;
}

export const readWallets = (
  apis: Apis,
  merchants: readonly Merchant[],
  acknowledged: readonly Acknowledged[],
): Promise<readonly Wallet[]> =>
  Promise.all(
    merchants.map(async (merchant) => {
      const { text } = await apis.insist({ method: 'GET', path: '/v1/wallets/balance', apiKey: merchant.apiKey });
      const expected = acknowledged
        .filter((one) => one.merchant === merchant)
        .reduce((sum, { amount }) => add(sum, chargeFees(toMinor(amount), DEFAULT_FEES.PIX).netAmount), toMinor(0));
      return { merchant: merchant.name, available: (JSON.parse(text) as { available: number }).available, expected };
    }),
  );

interface ByLog {
  /** Payments and deliveries whose events are not what they must be. */
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

/** Every payment is created, issued and settled once and every delivery recorded once, by the events themselves. */
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
