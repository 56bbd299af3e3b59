// Answers that the schema allows and that mean nothing: the adapter must neither break nor believe them. `prism mock --dynamic` makes them.
import { expect } from 'chai';
import type { InstrumentRequest, Known } from '../../application/ports/paymentProvider.ts';
import type { OpenConnection } from '../../application/ports/providerConnections.ts';
import type { AccountId, PaymentId, RefundId } from '../../domain/kernel/ids.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { addSeconds, type Timestamp } from '../../domain/kernel/time.ts';
import type { RefundOrder } from '../../domain/refund/refund.ts';
import { type Simulator, startSimulator } from '../simulators/pixApi/startSimulator.ts';
import { openAdapter } from './support/adapter.ts';
import { type Prism, startPrism } from './support/prism.ts';
import { type Relay, startRelay } from './support/relay.ts';
import { judged } from './support/schema.ts';

const ROUNDS = 20;
const HOUR_S = 3_600;
const TENANT = { accountId: 'acc_00000000000000000000000001' as AccountId, mode: 'live' } as const;
const TXID = 'cobranca00000000000000000001';
const END_TO_END_ID = 'E9999900420261121130500000000001';
const CREATED = '2026-11-21T13:00:00.000Z' as Timestamp;
const NEXT_DAY = '2026-11-22T13:00:00.000Z';
const LOCATION = 'qr.example/v2/0123456789';
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
const BACK = {
  method: 'PIX',
  providerPaymentId: END_TO_END_ID,
  returnId: 'resto',
  amount: toMinor(1_000),
  metadata: null,
} as const;
const CHECKED = { txid: TXID, endToEndId: END_TO_END_ID, paidAt: CREATED, expectedTaxId: '99991111140' };

const kindOf = ({ kind }: { readonly kind: string }): string => kind;
/** Returns `nothing` for a known null, otherwise the kind. */
const knownKind = (known: Known<unknown>): string =>
  known.kind === 'known' && known.value === null ? 'nothing' : known.kind;
const listKind = (known: Known<readonly unknown[]>): string =>
  known.kind === 'known' && known.value.length === 0 ? 'none' : known.kind;

/** Every call of the adapter that the schema has. */
const CALLS: Readonly<Record<string, (adapter: OpenConnection) => Promise<string>>> = {
  issue: async ({ provider }) => kindOf(await provider.issue(REQUEST)),
  prolong: async ({ provider }) => kindOf(await provider.prolong(REQUEST)),
  findInstrument: async ({ provider }) => knownKind(await provider.findInstrument(REQUEST)),
  cancel: ({ provider }) => provider.cancel(REQUEST),
  statusOf: async ({ provider }) => knownKind(await provider.statusOf(REQUEST)),
  paymentsOf: async ({ provider }) => listKind(await provider.paymentsOf(TENANT, TXID)),
  findPayment: async ({ provider }) => knownKind(await provider.findPayment(TENANT, END_TO_END_ID)),
  checkPayer: async ({ provider }) => {
    const checked = await provider.checkPayer(TENANT, CHECKED);
    return checked.kind === 'known' ? `payer ${checked.value}` : checked.kind;
  },
  returnPayment: async ({ provider }) => kindOf(await provider.returnPayment(TENANT, BACK)),
  refund: async ({ provider }) => kindOf(await provider.refund(REFUND)),
  findRefund: async ({ provider }) => knownKind(await provider.findRefund(REFUND)),
  listReceived: async ({ statement }) => {
    const page = await statement.listReceived(CREATED, addSeconds(CREATED, HOUR_S), null);
    return page.kind === 'known' ? listKind({ kind: 'known', value: page.value.items }) : page.kind;
  },
};

/** Of answers about something else: nothing is learnt. A list of Pix of other keys has none of ours. */
const NOTHING_LEARNT = {
  issue: ['unknown'],
  prolong: ['unknown'],
  findInstrument: ['unknown'],
  cancel: ['unknown'],
  statusOf: ['unknown'],
  paymentsOf: ['unknown'],
  findPayment: ['unknown'],
  checkPayer: ['payer unknown'],
  returnPayment: ['unknown'],
  refund: ['unknown'],
  findRefund: ['unknown'],
  listReceived: ['none'],
};
const UNKNOWN = Object.fromEntries(Object.keys(CALLS).map((name) => [name, ['unknown']]));

/** Of refusals, by status. What the schema refuses for a call with another status is left out. */
const REFUSED: Readonly<Record<number, Readonly<Record<string, readonly string[]>>>> = {
  400: { issue: ['refused'] },
  // The call had no effect, but a charge may exist.
  403: { ...UNKNOWN, issue: ['unavailable'], prolong: ['unavailable'] },
  404: {
    ...UNKNOWN,
    issue: ['unavailable'],
    prolong: ['unavailable'],
    findInstrument: ['nothing'],
    cancel: ['cancelled'],
    statusOf: ['nothing'],
    paymentsOf: ['none'],
    findPayment: ['nothing'],
    findRefund: ['nothing'],
  },
  503: UNKNOWN,
};

judged('the adapter, answered at random by the schema of the central bank', (schema) => {
  let simulator: Simulator;
  let prism: Prism;
  let relay: Relay;
  let adapter: OpenConnection;
  let pixKey: string;
  /** Of the next answer: Prism answers the same every time with the same seed. */
  let seed = 0;
  /** The status that Prism answers with (null: success), and what overwrites its random answer. */
  const wanted: { status: number | null; truths: object } = { status: null, truths: {} };

  before(async () => {
    simulator = await startSimulator();
    prism = await startPrism('mock', schema, '--dynamic');
    relay = await startRelay(prism.url, {
      headers: () => {
        seed += 1;
        const code = wanted.status === null ? '' : `, code=${wanted.status}`;
        // Without `accept` Prism answers with another status, if the client accepts no problem+json.
        return { prefer: `seed=${seed}${code}`, ...(code !== '' && { accept: '*/*' }) };
      },
      answer: (answer) => JSON.stringify({ ...JSON.parse(answer), ...wanted.truths }),
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
  beforeEach(() => {
    seed = 0;
    Object.assign(wanted, { status: null, truths: {} });
    relay.exchanges.splice(0);
  });

  /** Returns each call's different outcomes. */
  const outcomesOf = async (names: readonly string[], rounds: number) => {
    const outcomes = new Map(names.map((name) => [name, new Set<string>()]));
    for (let round = 0; round < rounds; round++)
      for (const [name, seen] of outcomes) seen.add((await CALLS[name]?.(adapter)) ?? '');
    return Object.fromEntries([...outcomes].map(([name, seen]) => [name, [...seen].sort()]));
  };

  it('learns nothing from answers about something else', async () => {
    expect(await outcomesOf(Object.keys(CALLS), ROUNDS)).to.deep.equal(NOTHING_LEARNT);
    expect(relay.exchanges.filter(({ status }) => status >= 300)).to.deep.equal([]);
    const answers = new Set(relay.exchanges.map(({ answer }) => answer));
    expect(answers.size).to.be.above(ROUNDS * Object.keys(CALLS).length);
  });

  for (const [status, outcomes] of Object.entries(REFUSED))
    it(`tells refusals with ${status} apart`, async () => {
      wanted.status = Number(status);
      expect(await outcomesOf(Object.keys(outcomes), 3)).to.deep.equal(outcomes);
    });

  it('issues a charge only if txid, amount and key are those of the request, with a code of that amount', async () => {
    const truths = { txid: TXID, valor: { original: '12.34' }, chave: pixKey };
    // A random code never has a right checksum; without one, the location makes the code.
    const code = { pixCopiaECola: undefined, location: LOCATION, calendario: { criacao: CREATED } };
    wanted.truths = { ...truths, ...code };
    const issued = await adapter.provider.issue(REQUEST);
    expect(issued.kind === 'issued' && issued.issued.instrument).to.deep.include({ txid: TXID, expiresAt: NEXT_DAY });
    expect(issued.kind === 'issued' && 'brCode' in issued.issued.instrument && issued.issued.instrument.brCode)
      .to.be.a('string')
      .that.includes('540512.34')
      .and.includes(LOCATION);
    for (const wrong of Object.keys(truths)) {
      wanted.truths = { ...Object.fromEntries(Object.entries(truths).filter(([name]) => name !== wrong)), ...code };
      expect(await outcomesOf(['issue', 'prolong', 'findInstrument'], ROUNDS), wrong).to.deep.equal({
        issue: ['unknown'],
        prolong: ['unknown'],
        findInstrument: ['unknown'],
      });
    }
    wanted.truths = truths;
    expect(await outcomesOf(['issue'], ROUNDS)).to.deep.equal({ issue: ['unknown'] });
  });

  it('takes a return for done only with its own id and amount', async () => {
    const truths = { id: 'resto', valor: '10.00' };
    wanted.truths = truths;
    const { returnPayment } = await outcomesOf(['returnPayment'], ROUNDS);
    expect(returnPayment).to.deep.equal(['done', 'processing', 'refused']);
    wanted.truths = { valor: truths.valor };
    expect(await outcomesOf(['returnPayment'], ROUNDS)).to.deep.equal({ returnPayment: ['unknown'] });
    // A return of another amount that failed may be ours: a part of the Pix was returned otherwise since.
    wanted.truths = { id: truths.id };
    expect(await outcomesOf(['returnPayment'], ROUNDS)).to.deep.equal({ returnPayment: ['refused', 'unknown'] });
  });

  it('takes a Pix for a payment only with its own id and key', async () => {
    wanted.truths = { endToEndId: END_TO_END_ID, chave: pixKey };
    expect(await outcomesOf(['findPayment'], ROUNDS)).to.deep.equal({ findPayment: ['known'] });
    wanted.truths = { endToEndId: END_TO_END_ID };
    expect((await outcomesOf(['findPayment'], ROUNDS))['findPayment']).to.not.include('known');
    wanted.truths = { chave: pixKey };
    expect(await outcomesOf(['findPayment'], ROUNDS)).to.deep.equal({ findPayment: ['unknown'] });
  });
});
