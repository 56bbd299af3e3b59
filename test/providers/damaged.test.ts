// True answers of the simulator, damaged on their way: the adapter never throws, and reports nothing that is not so.
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { InstrumentRequest } from '../../application/ports/paymentProvider.ts';
import type { PayoutOrder } from '../../application/ports/payoutRail.ts';
import type { OpenConnection } from '../../application/ports/providerConnections.ts';
import type { AccountId, PaymentId, RefundId } from '../../domain/kernel/ids.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { addSeconds, fromMillis } from '../../domain/kernel/time.ts';
import type { PayoutId } from '../../domain/payout/payout.ts';
import type { RefundOrder } from '../../domain/refund/refund.ts';
import { type Simulator, startSimulator } from '../simulators/pixApi/startSimulator.ts';
import { openAdapter } from './support/adapter.ts';
import { damaged, type Mutation, mutations } from './support/mutations.ts';
import { type Relay, startRelay } from './support/relay.ts';

const RUNS = 400;
const TOKEN_RUNS = 100;
const HOUR_S = 3_600;
const TENANT = { accountId: 'acc_00000000000000000000000001' as AccountId, mode: 'live' } as const;
const PAYEE = '99991111140';

/** A charge that is paid, and one that is not, at the institution. */
interface Scene {
  readonly adapter: OpenConnection;
  readonly paid: InstrumentRequest;
  readonly open: InstrumentRequest;
  readonly endToEndId: string;
  readonly refund: RefundOrder;
  readonly payout: PayoutOrder;
}

/** Of every call: what it reports. The first word is the claim that is checked below. */
const CALLS: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  issue: ({ adapter, open }) => adapter.provider.issue(open),
  prolong: ({ adapter, open }) => adapter.provider.prolong({ ...open, expiresAt: addSeconds(open.expiresAt, HOUR_S) }),
  findInstrument: ({ adapter, open }) => adapter.provider.findInstrument(open),
  cancelPaid: ({ adapter, paid }) => adapter.provider.cancel(paid),
  statusOf: ({ adapter, paid }) => adapter.provider.statusOf(paid),
  paymentsOf: ({ adapter, paid }) => adapter.provider.paymentsOf(TENANT, paid.txid),
  findPayment: ({ adapter, endToEndId }) => adapter.provider.findPayment(TENANT, endToEndId),
  checkPayer: ({ adapter, paid, endToEndId }) => {
    const paidAt = fromMillis(Date.now());
    return adapter.provider.checkPayer(TENANT, { txid: paid.txid, endToEndId, paidAt, expectedTaxId: '12345678909' });
  },
  refund: ({ adapter, refund }) => adapter.provider.refund(refund),
  findRefund: ({ adapter, refund }) => adapter.provider.findRefund(refund),
  listReceived: ({ adapter }) => {
    const now = fromMillis(Date.now());
    return adapter.statement.listReceived(addSeconds(now, -HOUR_S), addSeconds(now, HOUR_S), null);
  },
  listSent: async ({ adapter }) => {
    const now = fromMillis(Date.now());
    return adapter.statement.listSent?.(addSeconds(now, -HOUR_S), addSeconds(now, HOUR_S), null);
  },
  pay: async ({ adapter, payout }) => adapter.rail?.pay(payout),
  findPayout: async ({ adapter, payout }) => adapter.rail?.find(payout),
};

for (const dialect of ['standard', 'efi'] as const)
  describe(`damaged answers, ${dialect}`, () => {
    let simulator: Simulator;
    let relay: Relay;
    let adapter: OpenConnection;
    let damage: readonly Mutation[] = [];
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
        answer: (answer) => (damage.length === 0 ? answer : damaged(answer, damage)),
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
        amount: toMinor(1_234),
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
      const paid = request();
      expect((await adapter.provider.issue(paid)).kind).to.equal('issued');
      const endToEndId = simulator.pay(paid.txid);
      const common = { accountId: TENANT.accountId, mode: 'live', amount: toMinor(234) } as const;
      return {
        adapter,
        paid,
        open: request(),
        endToEndId,
        refund: {
          ...common,
          refundId: `refund${made}` as RefundId,
          paymentId: paid.paymentId,
          currency: 'BRL',
          method: 'PIX',
          strategy: 'devolution',
          destination: null,
          providerPaymentId: endToEndId,
        },
        payout: {
          ...common,
          payoutId: `payout${made}` as PayoutId,
          destination: PAYEE,
          note: null,
          connectionId: null,
          metadata: null,
        },
      };
    };

    for (const [name, call] of Object.entries(CALLS))
      it(`break nothing in ${name}`, async () => {
        const scene = await setUp();
        const seen = new Set<string>();
        await fc.assert(
          fc.asyncProperty(mutations, async (given) => {
            damage = given;
            seen.add(JSON.stringify(await call(scene)) ?? '');
          }),
          { numRuns: RUNS / 10 },
        );
        console.log(name, seen.size, [...seen].map((s) => s.slice(0, 160)).slice(0, 9));
      });
  });
