// Answers that the schema allows and that mean nothing: the adapter must neither break nor believe them. `prism mock --dynamic` makes them.
import { expect } from 'chai';
import type { InstrumentRequest, Known } from '../../application/ports/paymentProvider.ts';
import type { OpenConnection } from '../../application/ports/providerConnections.ts';
import type { AccountId, PaymentId, RefundId } from '../../domain/kernel/ids.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { addSeconds, fromMillis, type Timestamp } from '../../domain/kernel/time.ts';
import type { RefundOrder } from '../../domain/refund/refund.ts';
import { type Simulator, startSimulator } from '../simulators/pixApi/startSimulator.ts';
import { openAdapter } from './support/adapter.ts';
import { type Prism, startPrism } from './support/prism.ts';
import { type Relay, startRelay } from './support/relay.ts';
import { judged } from './support/schema.ts';

const ROUNDS = 60;
const SEED = '20';
const HOUR_S = 3_600;
const TENANT = { accountId: 'acc_00000000000000000000000001' as AccountId, mode: 'live' } as const;
const TXID = 'cobranca00000000000000000001';
const END_TO_END_ID = 'E9999900420261121130500000000001';
const CREATED = '2026-11-21T13:00:00.000Z' as Timestamp;
const REQUEST: InstrumentRequest = {
  ...TENANT,
  txid: TXID,
  method: 'PIX',
  paymentId: 'pay_1' as PaymentId,
  amount: toMinor(1_234),
  currency: 'BRL',
  createdAt: CREATED,
  expiresAt: addSeconds(CREATED, HOUR_S),
  lifetimeSeconds: HOUR_S,
  debtor: null,
  note: null,
  sandbox: null,
};
const REFUND: RefundOrder = {
  ...TENANT,
  refundId: 'refund1' as RefundId,
  paymentId: 'pay_1' as PaymentId,
  amount: toMinor(234),
  currency: 'BRL',
  method: 'PIX',
  strategy: 'devolution',
  destination: null,
  providerPaymentId: END_TO_END_ID,
};
const BACK = { method: 'PIX', providerPaymentId: END_TO_END_ID, returnId: 'resto', metadata: null } as const;
const CHECKED = { txid: TXID, endToEndId: END_TO_END_ID, paidAt: CREATED, expectedTaxId: '99991111140' };

const kindOf = ({ kind }: { readonly kind: string }): string => kind;
/** Returns `known`, `nothing` for a known null, or `unknown`. */
const knownKind = (known: Known<unknown>): string =>
  known.kind === 'known' && known.value === null ? 'nothing' : known.kind;

/** Every call of the adapter, and the outcomes that random answers and refusals may have. A random answer never names what was asked for. */
const CALLS: Readonly<
  Record<string, readonly [outcomes: readonly string[], call: (adapter: OpenConnection) => Promise<string>]>
> = {
  issue: [['unknown', 'refused', 'unavailable'], async ({ provider }) => kindOf(await provider.issue(REQUEST))],
  prolong: [['unknown', 'refused', 'unavailable'], async ({ provider }) => kindOf(await provider.prolong(REQUEST))],
  findInstrument: [['unknown', 'nothing'], async ({ provider }) => knownKind(await provider.findInstrument(REQUEST))],
  cancel: [['unknown', 'cancelled'], ({ provider }) => provider.cancel(REQUEST)],
  statusOf: [['unknown', 'nothing'], async ({ provider }) => knownKind(await provider.statusOf(REQUEST))],
  paymentsOf: [
    ['unknown', 'none'],
    async ({ provider }) => {
      const known = await provider.paymentsOf(TENANT, TXID);
      return known.kind === 'known' && known.value.length === 0 ? 'none' : known.kind;
    },
  ],
  findPayment: [
    ['unknown', 'nothing'],
    async ({ provider }) => knownKind(await provider.findPayment(TENANT, END_TO_END_ID)),
  ],
  checkPayer: [
    ['unknown', 'cannot tell'],
    async ({ provider }) => {
      const checked = await provider.checkPayer(TENANT, CHECKED);
      return checked.kind === 'known' && checked.value === 'unknown' ? 'cannot tell' : checked.kind;
    },
  ],
  returnPayment: [
    ['unknown', 'refused'],
    async ({ provider }) => kindOf(await provider.returnPayment(TENANT, { ...BACK, amount: toMinor(1_000) })),
  ],
  refund: [['unknown', 'refused'], async ({ provider }) => kindOf(await provider.refund(REFUND))],
  findRefund: [['unknown', 'nothing'], async ({ provider }) => knownKind(await provider.findRefund(REFUND))],
  listReceived: [
    ['unknown', 'none'],
    async ({ statement }) => {
      const page = await statement.listReceived(CREATED, addSeconds(CREATED, HOUR_S), null);
      return page.kind === 'known' && page.value.items.length === 0 ? 'none' : page.kind;
    },
  ],
};

/** What PUT and GET of a charge were asked about, put into a random answer. */
interface Truths {
  readonly txid: boolean;
  readonly amount: boolean;
  readonly key: boolean;
}

judged('the adapter, answered at random by the schema of the central bank', (schema) => {
  let simulator: Simulator;
  let prism: Prism;
  let relay: Relay;
  let adapter: OpenConnection;
  let pixKey: string;
  /** The status that Prism answers with; null: success. */
  let status: number | null = null;
  const truths: Truths | null = null;

  /** Overwrites parts of the answer with what was asked for. */
  const withTruths = (answer: string): string => {
    if (truths === null) return answer;
    const body = JSON.parse(answer);
    if (truths.txid) body.txid = TXID;
    if (truths.amount) body.valor = { original: '12.34' };
    if (truths.key) body.chave = pixKey;
    return JSON.stringify(body);
  };

  before(async () => {
    simulator = await startSimulator();
    prism = await startPrism('mock', schema, '--dynamic', '--seed', SEED);
    relay = await startRelay(prism.url, {
      headers: () => (status === null ? {} : { prefer: `code=${status}` }),
      answer: (_exchange, answer) => withTruths(answer),
    });
    const [client] = simulator.clients;
    pixKey = client?.pixKey ?? '';
    const terms = { baseUrl: relay.url, tokenUrl: simulator.tokenUrl, clientId: client?.clientId ?? '', pixKey };
    adapter = openAdapter(terms, client?.clientSecret);
  });
  after(async () => {
    adapter.close();
    await relay.close();
    await prism.close();
    await simulator.close();
  });

  const outcomesOf = async (rounds: number): Promise<Readonly<Record<string, readonly string[]>>> => {
    const seen: Record<string, readonly string[]> = {};
    for (const [name, [, call]] of Object.entries(CALLS)) {
      const outcomes = new Set<string>();
      for (let round = 0; round < rounds; round++) outcomes.add(await call(adapter));
      seen[name] = [...outcomes];
    }
    return seen;
  };

  it('believes no answer about something else', async () => {
    status = null;
    const seen = await outcomesOf(ROUNDS);
    console.log(seen, [...new Set(relay.exchanges.map((e) => e.status))], relay.exchanges.length);
    for (const [name, [outcomes]] of Object.entries(CALLS)) expect(outcomes, name).to.include.members(seen[name] ?? []);
  });

  for (const refusal of [400, 403, 404, 503])
    it(`reads a refusal with ${refusal}`, async () => {
      status = refusal;
      const seen = await outcomesOf(3);
      console.log(seen, [...new Set(relay.exchanges.map((e) => e.status))], relay.exchanges.length);
      for (const [name, [outcomes]] of Object.entries(CALLS))
        expect(outcomes, name).to.include.members(seen[name] ?? []);
    });
});
