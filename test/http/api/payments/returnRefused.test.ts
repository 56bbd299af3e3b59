// A provider that refuses to return money (rules M4, M5). Quita stops asking, the money waits for an operator, and the ledger stays
// balanced. Live mode uses a fake bank here.

import { expect } from 'chai';
import { NOTIFIED_WORK } from '../../../../application/capabilities.ts';
import { type HeldVerdict, reviewHeld } from '../../../../application/payments/heldPayments.ts';
import type { PaymentId } from '../../../../domain/kernel/ids.ts';
import { toMinor } from '../../../../domain/kernel/money.ts';
import { isRejection } from '../../../../domain/kernel/rejection.ts';
import { fromMillis } from '../../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { heldMoney } from '../../../../domain/payment/heldMoney.ts';
import type { IncomingPayment } from '../../../../domain/transaction/incomingPayment.ts';
import { createMetrics } from '../../../../infrastructure/monitoring/metrics.ts';
import { providerNotifications } from '../../../../infrastructure/providers/providerNotifications.ts';
import { listHeld } from '../../../../projections/payments/held.ts';
import { FakeProvider } from '../../../world/fakeProvider.ts';
import type { TestGateway, TestTenant } from '../../../world/gateway.ts';
import { eventTypes, openReady, rawIdOf } from '../../../world/http.ts';
import { expectLedgerBalances } from '../../../world/ledgerFacts.ts';
import { pollUntil } from '../../../world/pollUntil.ts';

const LOCK = '12345678909';
const REASON = 'account closed';
const OPEN = ['ChargeCreated', 'ChargePixIssued'];

describe('a return that the provider refuses', () => {
  let gateway: TestGateway;
  let tenant: TestTenant;
  let pixes = 0;
  const bank = new FakeProvider();
  before(async () => {
    gateway = await openReady({ liveProvider: bank });
  });
  after(() => gateway.close());
  beforeEach(async () => {
    bank.forget();
    tenant = await gateway.newTenant();
  });
  afterEach(async () => {
    expect(gateway.faults).to.deep.equal([]);
    await expectLedgerBalances(gateway);
  });

  /** Creates a live charge and a Pix for it that the bank reports and refuses to return. */
  const paid = async (over: Partial<IncomingPayment>): Promise<{ id: PaymentId; providerPaymentId: string }> => {
    const asked = { amount: 10_000, expected_payer_tax_id: LOCK, customer: { name: 'Ana' } };
    const { body, text } = await gateway.charge<{ id: string; pix: { txid: string } }>(asked, { key: tenant.liveKey });
    expect(body.pix, text).to.include.keys('txid');
    const [id, providerPaymentId] = [rawIdOf(body.id) as PaymentId, `E-refused-${++pixes}`];
    const payer = { name: 'ANA S', document: LOCK };
    const paidAt = fromMillis(Date.now());
    const pix: IncomingPayment = { method: 'PIX', providerPaymentId, amount: toMinor(10_000), payer, paidAt, ...over };
    bank.incomingPayments.set(body.pix.txid, [pix]);
    bank.next('returnPayment', { kind: 'refused', reason: REASON });
    const notification = {
      tenant: { accountId: tenant.accountId, mode: 'live' as const },
      kind: 'payment' as const,
      reference: providerPaymentId,
      paymentId: id,
    };
    await providerNotifications(gateway.storage.operations, gateway.gateway.jobs, NOTIFIED_WORK).store(notification);
    gateway.gateway.jobs.wake([{ queue: 'settle', tenant: notification.tenant }]);
    return { id, providerPaymentId };
  };
  const events = (id: PaymentId) => eventTypes(gateway, PAYMENT.stream(id));
  /** Waits until this is the last event and the read models have caught up. Returns the event types. */
  const until = async (id: PaymentId, type: string): Promise<readonly string[]> => {
    const look = async () => ((await events(id)).at(-1) === type ? true : null);
    expect(await pollUntil(gateway.gateway.projected, 20_000, look), `${type} within 20 s`).to.equal(true);
    expect(await gateway.gateway.projected.caughtUp(20_000)).to.equal(true);
    return events(id);
  };
  const statusOf = async (id: PaymentId) =>
    (await gateway.get<{ status: string }>(`/v1/charges/${id}`, { key: tenant.liveKey })).body.status;
  const available = async () =>
    (await gateway.get<{ available: number }>('/v1/wallets/balance', { key: tenant.liveKey })).body.available;
  const waiting = async (id: PaymentId) => {
    const { held } = await listHeld(gateway.storage.reads, 1_000);
    return held.filter(({ charge }) => charge.terms.paymentId === id).flatMap(heldMoney);
  };
  const decide = async (verdict: HeldVerdict, id: PaymentId) => {
    const reviewed = await reviewHeld(gateway.gateway)(id, verdict, { actor: 'operator:test', requestId: null });
    return isRejection(reviewed) ? reviewed.code : reviewed.isNew;
  };
  const returns = () => bank.calls.filter((call) => call.startsWith('returnPayment'));

  it('from another payer: stays processing, is listed and measured, and succeeds when an operator retries it', async () => {
    const { id, providerPaymentId } = await paid({ payer: { name: 'BIA T', document: '52998224725' } });
    expect(await until(id, 'TransactionReturnRefused')).to.deep.equal([
      ...OPEN,
      'TransactionPaymentRejected',
      'TransactionReturnRefused',
    ]);
    expect([await statusOf(id), await available(), returns().length]).to.deep.equal(['processing', 0, 1]);
    const [one, ...more] = await waiting(id);
    expect(more).to.deep.equal([]);
    const { since, ...rest } = one!;
    expect(rest).to.deep.equal({
      providerPaymentId,
      amount: 10_000,
      payerName: 'BIA T',
      reason: 'payer_mismatch',
      returnRefused: REASON,
    });
    expect(since).to.match(/^\d{4}-.*Z$/);
    expect(await createMetrics(gateway.gateway).registry.metrics()).to.match(/^quita_held_payments 1$/m);

    expect(await decide('release', id)).to.equal('invalid_request');
    expect(await decide('return', id)).to.equal(true);
    await until(id, 'TransactionPaymentReturned');
    expect(await decide('return', id)).to.equal(false);
    expect([await statusOf(id), await available()]).to.deep.equal(['refunded', 0]);
    expect([await waiting(id), new Set(returns()).size]).to.deep.equal([[], 2]);
    expect([...bank.returns.values()]).to.deep.equal([{ providerPaymentId, amount: 10_000 }]);
  });
  it('of a wrong amount: the charge stays payable while the money waits', async () => {
    const { id } = await paid({ amount: toMinor(9_999) });
    await until(id, 'TransactionReturnRefused');
    expect([await statusOf(id), await available()]).to.deep.equal(['pending', 0]);
    expect((await waiting(id)).map(({ amount, reason }) => [amount, reason])).to.deep.equal([[9_999, 'wrong_amount']]);
    expect(await decide('release', id)).to.equal('invalid_request');
  });
  it('that an operator requested: the payment can still be released', async () => {
    const { id } = await paid({ payer: { name: null, document: '***.456.789-**' } });
    await until(id, 'TransactionHeld');
    expect(await decide('return', id)).to.equal(true);
    await until(id, 'TransactionReturnRefused');
    expect([await statusOf(id), (await waiting(id)).length]).to.deep.equal(['processing', 1]);
    expect(await decide('release', id)).to.equal(true);
    expect((await until(id, 'TransactionSettled')).slice(2)).to.deep.equal([
      'TransactionHeld',
      'TransactionHeldRejected',
      'TransactionReturnRefused',
      'TransactionHeldReleased',
      'TransactionSettled',
    ]);
    expect([await statusOf(id), await available(), await waiting(id)]).to.deep.equal(['paid', 9_890, []]);
  });
});
