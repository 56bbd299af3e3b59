// Correct answers of the simulator, damaged in transit: the adapter never throws and never reports anything false.
import { expect } from 'chai';
import * as fc from 'fast-check';
import type {
  InstrumentOutcome,
  InstrumentRequest,
  Issued,
  Known,
  ReceivedPayment,
} from '../../application/ports/paymentProvider.ts';
import type { PayoutOrder, PayoutRail } from '../../application/ports/payoutRail.ts';
import type { OpenConnection, ProviderStatement } from '../../application/ports/providerConnections.ts';
import type { AccountId, PaymentId, RefundId } from '../../domain/kernel/ids.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { addSeconds, fromMillis, type Timestamp } from '../../domain/kernel/time.ts';
import type { PayoutId } from '../../domain/payout/payout.ts';
import type { RefundOrder } from '../../domain/refund/refund.ts';
import { type Simulator, startSimulator } from '../simulators/pixApi/startSimulator.ts';
import { openAdapter } from './support/adapter.ts';
import { damaged, type Mutation, mutations } from './support/mutations.ts';
import { type Relay, startRelay } from './support/relay.ts';

const RUNS = 150;
const TOKEN_RUNS = 50;
const HOUR_S = 3_600;
const TENANT = { accountId: 'acc_00000000000000000000000001' as AccountId, mode: 'live' } as const;
const PAYEE = '99991111140';
const AMOUNT = '12.34';
const CENTS = toMinor(1_234);
const PART = toMinor(234);

/** At the institution: an open charge, a paid charge, a return and a payout. */
interface Scene {
  readonly adapter: OpenConnection;
  readonly open: InstrumentRequest;
  readonly paid: InstrumentRequest;
  readonly endToEndId: string;
  readonly refund: RefundOrder;
  readonly payout: PayoutOrder;
}

/** Returns whether the charge is reported with its actual txid and amount. */
const isTrueCharge = ({ open }: Scene, issued: Issued): boolean =>
  issued.method === 'PIX' &&
  issued.instrument.txid === open.txid &&
  issued.instrument.brCode.includes(`54${AMOUNT.length.toString().padStart(2, '0')}${AMOUNT}`);
const isTrueAmount = ({ incoming }: ReceivedPayment): boolean => incoming.amount === CENTS;
const day = (): readonly [Timestamp, Timestamp] => {
  const now = fromMillis(Date.now());
  return [addSeconds(now, -HOUR_S), addSeconds(now, HOUR_S)];
};

type Call = (scene: Scene) => Promise<'true' | 'false' | 'unknown'>;
const judge = (isTrue: boolean): 'true' | 'false' => (isTrue ? 'true' : 'false');
const outcomeOf = async (scene: Scene, outcome: Promise<InstrumentOutcome>) => {
  const given = await outcome;
  return given.kind === 'unknown' ? 'unknown' : judge(given.kind === 'issued' && isTrueCharge(scene, given.issued));
};
const answerOf = async <T>(known: Promise<Known<T>>, isTrue: (value: T) => boolean) => {
  const given = await known;
  return given.kind === 'unknown' ? 'unknown' : judge(isTrue(given.value));
};
const isMade = (outcome: { readonly kind: string } | null): boolean =>
  outcome !== null && ['confirmed', 'processing'].includes(outcome.kind);

/** All calls of the adapter, each with a check of what it reports. */
const CALLS: Readonly<Record<string, Call>> = {
  issue: (scene) => outcomeOf(scene, scene.adapter.provider.issue(scene.open)),
  prolong: (scene) => {
    const expiresAt = addSeconds(scene.open.expiresAt, HOUR_S);
    return outcomeOf(scene, scene.adapter.provider.prolong({ ...scene.open, expiresAt }));
  },
  findInstrument: (scene) =>
    answerOf(
      scene.adapter.provider.findInstrument(scene.open),
      (issued) => issued !== null && isTrueCharge(scene, issued),
    ),
  cancel: async ({ adapter, paid }) => {
    const outcome = await adapter.provider.cancel(paid);
    return outcome === 'unknown' ? outcome : judge(outcome === 'paid');
  },
  statusOf: ({ adapter, paid }) => answerOf(adapter.provider.statusOf(paid), (status) => status !== null),
  paymentsOf: ({ adapter, paid }) =>
    answerOf(adapter.provider.paymentsOf(TENANT, paid.txid), (list) => list.every(isTrueAmount)),
  // If the damage changes the key, the Pix is not of this connection.
  findPayment: ({ adapter, endToEndId }) =>
    answerOf(
      adapter.provider.findPayment(TENANT, endToEndId),
      (pix) => pix === null || (isTrueAmount(pix) && pix.incoming.providerPaymentId === endToEndId),
    ),
  checkPayer: ({ adapter, paid: { txid }, endToEndId }) => {
    const pix = { txid, endToEndId, paidAt: fromMillis(Date.now()), expectedTaxId: '12345678909' };
    return answerOf(adapter.provider.checkPayer(TENANT, pix), (check) => check !== 'match');
  },
  refund: async ({ adapter, refund }) => {
    const outcome = await adapter.provider.refund(refund);
    return outcome.kind === 'unknown' ? 'unknown' : judge(isMade(outcome));
  },
  findRefund: ({ adapter, refund }) => answerOf(adapter.provider.findRefund(refund), isMade),
  listReceived: ({ adapter }) =>
    answerOf(adapter.statement.listReceived(...day(), null), ({ items }) => items.every(isTrueAmount)),
};
const EFI_CALLS: Readonly<Record<string, Call>> = {
  pay: async ({ adapter, payout }) => {
    const outcome = await (adapter.rail as PayoutRail).pay(payout);
    return outcome.kind === 'unknown' ? 'unknown' : judge(isMade(outcome));
  },
  findPayout: ({ adapter, payout }) => answerOf((adapter.rail as PayoutRail).find(payout), isMade),
  listSent: ({ adapter }) =>
    answerOf((adapter.statement as Required<ProviderStatement>).listSent(...day(), null), ({ items }) =>
      items.every(({ amount }) => amount === PART),
    ),
};

for (const dialect of ['standard', 'efi'] as const)
  describe(`damaged answers, ${dialect}`, () => {
    let simulator: Simulator;
    let relay: Relay;
    let adapter: OpenConnection;
    let damage: readonly Mutation[] = [];
    let damageAnswers = true;
    let made = 0;

    const open = (tokenUrl: string): OpenConnection => {
      const [client] = simulator.clients;
      const terms = { preset: dialect === 'efi' ? 'efi' : 'generic', baseUrl: relay.url, tokenUrl };
      const { clientId = '', pixKey = '', clientSecret } = client ?? {};
      return openAdapter({ ...terms, clientId, pixKey }, clientSecret);
    };
    before(async () => {
      simulator = await startSimulator({ settings: { dialect } });
      relay = await startRelay(simulator.baseUrl, {
        answer: (answer) => (damageAnswers && damage.length > 0 ? damaged(answer, damage) : answer),
      });
      adapter = open(simulator.tokenUrl);
    });
    after(async () => {
      adapter.close();
      await relay.close();
      await simulator.close();
    });

    const request = (): InstrumentRequest => {
      made += 1;
      const createdAt = fromMillis(Date.now());
      return {
        ...TENANT,
        txid: `cobranca${String(made).padStart(20, '0')}`,
        method: 'PIX',
        paymentId: 'pay_1' as PaymentId,
        amount: CENTS,
        currency: 'BRL',
        createdAt,
        expiresAt: addSeconds(createdAt, HOUR_S),
        lifetimeSeconds: HOUR_S,
        debtor: null,
        note: null,
        sandbox: null,
      };
    };
    const setUp = async (): Promise<Scene> => {
      damage = [];
      const [paid, open] = [request(), request()];
      for (const charge of [paid, open]) expect((await adapter.provider.issue(charge)).kind).to.equal('issued');
      const endToEndId = simulator.pay(paid.txid);
      const common = { accountId: TENANT.accountId, mode: 'live', amount: PART } as const;
      const refund: RefundOrder = {
        ...common,
        refundId: `refund${made}` as RefundId,
        paymentId: paid.paymentId,
        currency: 'BRL',
        method: 'PIX',
        strategy: 'devolution',
        destination: null,
        providerPaymentId: endToEndId,
      };
      const payout: PayoutOrder = {
        ...common,
        payoutId: `payout${made}` as PayoutId,
        destination: PAYEE,
        note: null,
        connectionId: null,
        metadata: null,
      };
      expect((await adapter.provider.refund(refund)).kind).to.equal('processing');
      if (adapter.rail !== null) expect((await adapter.rail.pay(payout)).kind).to.equal('processing');
      return { adapter, paid, open, endToEndId, refund, payout };
    };

    for (const [name, call] of Object.entries({ ...CALLS, ...(dialect === 'efi' && EFI_CALLS) }))
      it(`never make ${name} report anything false`, async () => {
        const scene = await setUp();
        const seen = new Set<string>();
        await fc.assert(
          fc.asyncProperty(mutations, async (given) => {
            damage = given;
            const outcome = await call(scene);
            seen.add(outcome);
            expect(outcome).to.not.equal('false');
          }),
          { numRuns: RUNS },
        );
        expect([...seen].sort()).to.deep.equal(['true', 'unknown']);
      });

    it('with a damaged token make no call throw', async () => {
      const { paid } = await setUp();
      const tokens = await startRelay(new URL(simulator.tokenUrl).origin, {
        answer: (given) => damaged(given, damage),
      });
      const seen = new Set<string>();
      await fc.assert(
        fc.asyncProperty(mutations, async (given) => {
          damage = given;
          const other = open(`${tokens.url}${new URL(simulator.tokenUrl).pathname}`);
          damageAnswers = false;
          seen.add((await other.provider.statusOf(paid)).kind);
          damageAnswers = true;
          other.close();
        }),
        { numRuns: TOKEN_RUNS },
      );
      await tokens.close();
      expect([...seen].sort()).to.deep.equal(['known', 'unknown']);
    });
  });
