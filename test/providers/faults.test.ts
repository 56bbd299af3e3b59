// Live mode over HTTP while each call to the institution fails in each way. Once the institution answers again, every charge, return and
// payout exists once, and its books agree with Quita’s.
import { expect } from 'chai';
import { changeAccountSettings } from '../../application/accounts/changeAccountSettings.ts';
import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import { openPixApi } from '../../infrastructure/providers/pixApi/pixApi.ts';
import { FAULT_KINDS, type FaultKind } from '../simulators/pixApi/faults.ts';
import type { Operation } from '../simulators/pixApi/operations.ts';
import type { Simulator } from '../simulators/pixApi/startSimulator.ts';
import { ConnectionDesk } from '../world/connectionDesk.ts';
import { type CallOptions, newKey } from '../world/gateway.ts';
import { pollUntil } from '../world/pollUntil.ts';

/** Shorter than in production, so that unanswered calls end soon. */
const TIMEOUTS = { connectMs: 2_000, totalMs: 2_000, breakerPauseMs: 0 };
const SLOW_MS = 300;
const UNTIL_MS = 120_000;
const AMOUNT = 1_000;
const RETURNED = 300;
const PAID_OUT = 50;

interface Money {
  readonly id: string;
  readonly status: string;
  readonly pix: { readonly txid: string };
}
interface Fault {
  readonly kind: FaultKind;
  readonly when: 'before' | 'after';
}
const FAULTS: readonly Fault[] = FAULT_KINDS.flatMap((kind) =>
  (['before', 'after'] as const).map((when) => ({ kind, when })),
);

/** A 422 without effect is a rejection, so the charge fails. */
const PASSING = FAULTS.filter(({ kind, when }) => kind !== '422' || when === 'after');
const PAYEE = '99991111140';

describe('live mode while the institution fails', () => {
  let desk: ConnectionDesk;
  let simulator: Simulator;
  let connection: string;
  let operator: CallOptions;

  before(async () => {
    desk = await ConnectionDesk.open({
      openAdapter: (terms, secrets, needs) => openPixApi(terms, secrets, { ...needs, timeouts: TIMEOUTS }),
    });
    simulator = await desk.simulator({ settings: { dialect: 'efi' } });
    connection = (await desk.add(simulator, { preset: 'efi' })).id;
    await desk.untilRouted(1);
    const registered = await desk.ask<object>('POST', `/${connection}/webhook`);
    expect(registered.status, registered.text).to.equal(200);
    const { gateway, tenant } = desk.gateway;
    const limits = { cashoutDestinations: null, payoutCount: null };
    await changeAccountSettings(gateway)(tenant.accountId, limits, { actor: 'operator:test', requestId: null });
    operator = { key: null, headers: await desk.gateway.logIn('OPERATOR') };
  });
  after(() => desk.close());

  const live = () => desk.gateway.tenant.liveKey;
  /** Repeats the request with its key until it gets a final answer, as clients do. */
  const insist = async (path: string, body: object): Promise<Money> => {
    const idempotencyKey = newKey();
    const reply = await pollUntil(desk.gateway.gateway.projected, UNTIL_MS, async () => {
      const given = await desk.gateway.post<Money>(
        path,
        { ...body, ...(path.endsWith('/refund') && { idempotencyKey }) },
        { key: live(), idempotencyKey },
      );
      return given.status === 503 ? null : given;
    });
    expect(reply?.status, reply?.text).to.equal(201);
    return (reply as NonNullable<typeof reply>).body;
  };
  const until = async (path: string, wanted: string, read: (body: never) => string): Promise<void> => {
    let last = '';
    await pollUntil(desk.gateway.gateway.projected, UNTIL_MS, async () => {
      last = read((await desk.gateway.call('GET', path, { key: live() })).body as never);
      return last === wanted ? last : null;
    });
    expect(last, path).to.equal(wanted);
  };
  const statusOf = ({ status }: Money): string => status;
  const fault = ({ kind, when }: Fault, on: Operation, matching = ''): void => {
    simulator.fault({ on, kind, when, matching, ms: SLOW_MS });
  };
  const charge = () => insist('/v1/charges', { amount: AMOUNT, payment_method: 'pix' });
  const refund = async (chargeId: string): Promise<void> => {
    const payment = `/v1/payments/tx_${chargeId.slice(3)}`;
    await insist(`${payment}/refund`, { amount: RETURNED, strategy: 'devolution' });
    const latest = ({ data }: { readonly data: readonly Money[] }): string => data[0]?.status ?? '';
    await until(`${payment}/refunds`, 'REFUNDED', latest);
  };

  it('creates every charge, return and payout exactly once', async () => {
    const charges: Money[] = [];
    for (const given of FAULTS) {
      fault(given, 'charge.create');
      charges.push(await charge());
      simulator.clearFaults();
    }
    const open = charges.filter(({ status }) => status !== 'failed');
    expect(open).to.have.length(PASSING.length);
    simulator.pauseCallbacks();
    const paid = open.map(({ id, pix }) => ({ id, endToEndId: simulator.pay(pix.txid) }));
    for (const [i, given] of PASSING.entries()) fault(given, 'pix.read', paid[i]?.endToEndId);
    simulator.resumeCallbacks();
    await Promise.all(paid.map(({ id }) => until(`/v1/charges/${id}`, 'paid', statusOf)));

    for (const [i, given] of PASSING.entries()) fault(given, 'return.create', paid[i]?.endToEndId);
    await Promise.all(paid.map(({ id }) => refund(id)));
    simulator.clearFaults();

    const payouts: Money[] = [];
    for (const [i, given] of PASSING.entries()) {
      fault(given, 'payout.create');
      payouts.push(await insist('/v1/payouts', { amount: PAID_OUT, destination: { pix_key: PAYEE } }));
      await simulator.whenCalled('payout.create', i + 1);
    }
    await Promise.all(payouts.map(({ id }) => until(`/v1/payouts/${id}`, 'paid', statusOf)));

    const { clients } = simulator.state();
    const received = clients.flatMap((client) => client.received);
    const returns = received.flatMap((one) => one.returns);
    const sent = clients.flatMap((client) => client.sent);
    const amounts = [received, returns, sent].map((all) => all.map(({ amount }) => amount));
    const each = (amount: number): readonly number[] => PASSING.map(() => amount);
    expect(amounts).to.deep.equal([each(AMOUNT), each(RETURNED), each(PAID_OUT)]);
  });

  it('leaves no findings for reconciliation', async () => {
    const run = await desk.gateway.call('POST', '/ops/v1/reconciliation/run', { ...operator, body: { connection } });
    expect(run.status, run.text).to.equal(200);
    const day = saoPauloDay(fromMillis(Date.now()));
    const query = new URLSearchParams({ connection, day });
    const report = await desk.gateway.call('GET', `/ops/v1/reconciliation/report?${query}`, operator);
    expect(report.body).to.deep.include({
      received: PASSING.length * AMOUNT,
      returned: PASSING.length * RETURNED,
      paidOut: PASSING.length * PAID_OUT,
      difference: 0,
      findings: [],
    });
  });
});
