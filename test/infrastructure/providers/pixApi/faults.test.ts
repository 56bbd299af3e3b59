// Each call of the adapter with each fault of the simulated institution: the right outcome, no exception, and never a second charge, return
// or Pix-out.
import { expect } from 'chai';
import type { PayoutOrder } from '../../../../application/ports/payoutRail.ts';
import { toMinor } from '../../../../domain/kernel/money.ts';
import { addSeconds, fromMillis } from '../../../../domain/kernel/time.ts';
import { FAULT_KINDS, type FaultKind } from '../../../simulators/pixApi/faults.ts';
import type { Operation } from '../../../simulators/pixApi/operations.ts';
import { type Simulator, startSimulator } from '../../../simulators/pixApi/startSimulator.ts';
import { type Opened, openAt, requestOf, TENANT } from './support.ts';

const CPF = '99991111140';
const PAST_DEADLINE_MS = 250;
type When = 'before' | 'after';

interface Try {
  /** Calls the adapter and returns its outcome. */
  readonly outcome: () => Promise<string>;
  /** Returns how often the call took effect at the institution. */
  readonly effects: () => number;
}
interface Row {
  readonly name: string;
  readonly on: Operation;
  readonly prepare: (id: string) => Promise<Try>;
  /** The outcome without a fault. */
  readonly good: string;
  /** Outcomes by fault. The key `kind after` takes precedence over `kind`. Default: `good` for 401 and slow, otherwise `unknown`. */
  readonly outcomes: Readonly<Record<string, string>>;
}

let simulator: Simulator;
let connection: Opened;
let efi: Opened;

const outcomeOf = (result: { readonly kind: string; readonly value?: unknown }): string => {
  if (result.kind !== 'known') return result.kind;
  const { value } = result;
  if (value === null) return 'absent';
  return typeof value === 'string' ? value : 'known';
};

const stateOf = () => simulator.state().clients[0] as ReturnType<Simulator['state']>['clients'][number];
const chargesOf = (txid: string): number => stateOf().charges.filter((charge) => charge.txid === txid).length;
const returnsOf = (id: string): number =>
  stateOf().received.flatMap(({ returns }) => returns.filter((one) => one.id === id)).length;
const sentOf = (id: string): number => stateOf().sent.filter((sent) => sent.id === id).length;

const paid = async (txid: string): Promise<string> => {
  await connection.provider.issue(requestOf({ txid }));
  return simulator.pay(txid);
};
const reading = (good: string): Pick<Row, 'good' | 'outcomes'> => ({ good, outcomes: {} });
const noEffects = (): number => 0;

const RETURNED: Row['outcomes'] = Object.fromEntries([
  // The answer was unreadable, so the adapter reads the return.
  ...['empty', 'null', 'list', 'garbage', 'wrongTypes', '200', '202', '204', '409', '422'].map((kind) => [
    `${kind} after`,
    'done',
  ]),
  // Rejected, and no such return exists.
  ['422 before', 'refused'],
]);

const ROWS: readonly Row[] = [
  {
    name: 'issue',
    on: 'charge.create',
    prepare: async (txid) => {
      const request = requestOf({ txid });
      return {
        outcome: async () => outcomeOf(await connection.provider.issue(request)),
        effects: () => chargesOf(txid),
      };
    },
    good: 'issued',
    // The adapter reads a rejected charge, because a proxy may have sent the request twice.
    outcomes: { '409 after': 'issued', '422 after': 'issued', '422': 'refused', '429': 'unavailable' },
  },
  {
    name: 'prolong',
    on: 'charge.change',
    prepare: async (txid) => {
      const request = requestOf({ txid });
      await connection.provider.issue(request);
      const longer = { ...request, expiresAt: addSeconds(request.expiresAt, 600) };
      return {
        outcome: async () => outcomeOf(await connection.provider.prolong(longer)),
        effects: () => chargesOf(txid),
      };
    },
    good: 'issued',
    outcomes: { '422': 'refused', '429': 'unavailable' },
  },
  {
    name: 'cancel',
    on: 'charge.change',
    prepare: async (txid) => {
      const request = requestOf({ txid });
      await connection.provider.issue(request);
      return { outcome: () => connection.provider.cancel(request), effects: () => chargesOf(txid) };
    },
    good: 'cancelled',
    // The adapter reads the charge after every fault except 429.
    outcomes: Object.fromEntries(
      FAULT_KINDS.filter((kind) => kind !== '429').map((kind) => [`${kind} after`, 'cancelled']),
    ),
  },
  {
    name: 'findInstrument',
    on: 'charge.read',
    prepare: async (txid) => {
      const request = requestOf({ txid });
      await connection.provider.issue(request);
      return {
        outcome: async () => outcomeOf(await connection.provider.findInstrument(request)),
        effects: noEffects,
      };
    },
    ...reading('known'),
  },
  {
    name: 'statusOf',
    on: 'charge.read',
    prepare: async (txid) => {
      await connection.provider.issue(requestOf({ txid }));
      return {
        outcome: async () => outcomeOf(await connection.provider.statusOf(requestOf({ txid }))),
        effects: noEffects,
      };
    },
    ...reading('known'),
  },
  {
    name: 'paymentsOf',
    on: 'charge.read',
    prepare: async (txid) => {
      await paid(txid);
      return {
        outcome: async () => outcomeOf(await connection.provider.paymentsOf(TENANT, txid)),
        effects: noEffects,
      };
    },
    ...reading('known'),
  },
  {
    name: 'findPayment',
    on: 'pix.read',
    prepare: async (txid) => {
      const endToEndId = await paid(txid);
      return {
        outcome: async () => outcomeOf(await connection.provider.findPayment(TENANT, endToEndId)),
        effects: noEffects,
      };
    },
    ...reading('known'),
  },
  {
    name: 'checkPayer',
    on: 'pix.list',
    prepare: async (txid) => {
      const pix = { txid, endToEndId: await paid(txid), paidAt: fromMillis(Date.now()), expectedTaxId: CPF };
      return {
        outcome: async () => outcomeOf(await connection.provider.checkPayer(TENANT, pix)),
        effects: noEffects,
      };
    },
    good: 'match',
    outcomes: { '429': 'match' },
  },
  {
    name: 'listReceived',
    on: 'pix.list',
    prepare: async (txid) => {
      await paid(txid);
      const now = Date.now();
      const [from, to] = [fromMillis(now - 60_000), fromMillis(now + 60_000)];
      return {
        outcome: async () => outcomeOf(await connection.statement.listReceived(from, to, null)),
        effects: noEffects,
      };
    },
    good: 'known',
    // A refused period that ends in the future is requested again up to now.
    outcomes: { '422': 'known', '429': 'known' },
  },
  {
    name: 'returnPayment',
    on: 'return.create',
    prepare: async (txid) => {
      const providerPaymentId = await paid(txid);
      const amount = toMinor(3_700);
      const back = { method: 'PIX', providerPaymentId, returnId: txid, amount, metadata: null } as const;
      return {
        outcome: async () => outcomeOf(await connection.provider.returnPayment(TENANT, back)),
        effects: () => returnsOf(txid),
      };
    },
    good: 'processing|done',
    outcomes: RETURNED,
  },
  {
    name: 'findRefund',
    on: 'return.read',
    prepare: async (txid) => {
      const { paymentId } = requestOf();
      const order = {
        ...TENANT,
        refundId: txid as never,
        paymentId,
        amount: toMinor(100),
        currency: 'BRL',
        method: 'PIX',
        strategy: 'devolution',
        destination: null,
        providerPaymentId: await paid(txid),
      } as const;
      await connection.provider.refund(order);
      return {
        outcome: async () => outcomeOf(await connection.provider.findRefund(order)),
        effects: () => returnsOf(txid),
      };
    },
    ...reading('known'),
  },
  {
    name: 'pay',
    on: 'payout.create',
    prepare: async (id) => ({
      outcome: async () => outcomeOf(await efi.rail!.pay(payoutOf(id))),
      effects: () => sentOf(id),
    }),
    good: 'processing|confirmed',
    outcomes: Object.fromEntries(
      Object.entries(RETURNED).map(([key, outcome]) => [key, outcome === 'done' ? 'confirmed' : outcome]),
    ),
  },
  {
    name: 'find',
    on: 'payout.read',
    prepare: async (id) => {
      await efi.rail!.pay(payoutOf(id));
      return { outcome: async () => outcomeOf(await efi.rail!.find(payoutOf(id))), effects: () => sentOf(id) };
    },
    ...reading('known'),
  },
];

const payoutOf = (id: string): PayoutOrder => ({
  payoutId: id as PayoutOrder['payoutId'],
  accountId: TENANT.accountId,
  mode: 'live',
  amount: toMinor(500),
  destination: CPF,
  note: null,
  connectionId: null,
  metadata: null,
});

const HARMLESS: readonly FaultKind[] = ['401', 'slow'];
const expectedOf = ({ outcomes, good }: Row, kind: FaultKind, when: When): string =>
  outcomes[`${kind} ${when}`] ?? outcomes[kind] ?? (HARMLESS.includes(kind) ? good : 'unknown');

let count = 0;
const nextId = (): string => `falha${String(++count).padStart(24, '0')}`;

describe('the adapter with a failing institution', () => {
  before(async () => {
    simulator = await startSimulator();
    const timeouts = { connectMs: 1_000, totalMs: PAST_DEADLINE_MS, breakerPauseMs: 0 };
    const stopwatch = { elapsedMs: () => performance.now(), pause: async () => undefined };
    connection = openAt(simulator, {}, { timeouts, stopwatch });
    efi = openAt(simulator, { preset: 'efi' }, { timeouts, stopwatch });
  });
  after(async () => {
    connection.close();
    efi.close();
    await simulator.close();
  });
  afterEach(() => simulator.clearFaults());

  for (const row of ROWS)
    for (const when of ['before', 'after'] as const)
      it(`${row.name}: ${row.on} fails ${when} its effect`, async () => {
        const seen: Record<string, string> = {};
        const expected: Record<string, string> = {};
        for (const kind of FAULT_KINDS) {
          const { outcome, effects } = await row.prepare(nextId());
          const before = effects();
          simulator.fault({ on: row.on, kind, when, ms: 10 });
          const first = await outcome();
          simulator.clearFaults();
          const second = await outcome();
          const wanted = expectedOf(row, kind, when);
          expected[kind] = wanted;
          seen[kind] = wanted.split('|').includes(first) ? wanted : first;
          if (!row.good.split('|').includes(second)) seen[kind] += `, then ${second}`;
          if (effects() > Math.max(1, before)) seen[kind] += `, ${effects()} effects`;
        }
        expect(seen).to.deep.equal(expected);
      });

  it('never sends a charge without a token', async () => {
    const seen: Record<string, string> = {};
    for (const kind of FAULT_KINDS) {
      const txid = nextId();
      const fresh = openAt(simulator, {}, { timeouts: { totalMs: PAST_DEADLINE_MS } });
      simulator.fault({ on: 'token', kind, ms: 10 });
      const { kind: outcome } = await fresh.provider.issue(requestOf({ txid }));
      seen[kind] = `${outcome} ${chargesOf(txid)}`;
      fresh.close();
      simulator.clearFaults();
    }
    expect(seen).to.deep.equal(
      Object.fromEntries(FAULT_KINDS.map((kind) => [kind, kind === 'slow' ? 'issued 1' : 'unavailable 0'])),
    );
  });
});
