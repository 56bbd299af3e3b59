// Pix payments held for review, and the operators’ decisions (rules M5, O1).

import { expect } from 'chai';
import { type HeldVerdict, reviewHeld } from '../../../../application/payments/heldPayments.ts';
import type { PaymentId } from '../../../../domain/kernel/ids.ts';
import { type ErrorCode, isRejection } from '../../../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { transactionStatus } from '../../../../domain/presentation/status.ts';
import { listHeld } from '../../../../projections/payments/held.ts';
import type { TestGateway, TestTenant } from '../../../world/gateway.ts';
import { eventTypes, expectError, openReady, rawIdOf } from '../../../world/http.ts';
import { type Body, Merchant } from '../../../world/merchant.ts';
import { pollUntil } from '../../../world/pollUntil.ts';
import { Receiver, typeOf } from '../../../world/receiver.ts';

const LOCKED = { amount: 10_000, expected_payer_tax_id: '12345678909', customer: { name: 'Ana Souza' } };
const HELD = ['ChargeCreated', 'ChargePixIssued', 'TransactionHeld'];

describe('a payment held for review', () => {
  let gateway: TestGateway;
  let receiver: Receiver;
  let shop: Merchant & { readonly tenant: TestTenant };
  let url: string;
  before(async () => {
    gateway = await openReady();
    receiver = await Receiver.open();
  });
  after(async () => {
    await gateway.close();
    await receiver.close();
  });
  beforeEach(async () => {
    shop = await Merchant.open(gateway);
    url = `${receiver.url}/${shop.tenant.accountId}`;
    await shop.register(url);
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const review = (verdict: HeldVerdict, id: string) =>
    reviewHeld(gateway.gateway)(rawIdOf(id) as PaymentId, verdict, { actor: 'operator:test', requestId: null });
  const decide = async (verdict: HeldVerdict, id: string): Promise<readonly [string, boolean]> => {
    const reviewed = await review(verdict, id);
    if (isRejection(reviewed)) throw new Error(reviewed.message);
    return [transactionStatus(reviewed.payment), reviewed.isNew];
  };
  const refused = async (verdict: HeldVerdict, id: string, code: ErrorCode = 'invalid_request') => {
    const reviewed = await review(verdict, id);
    expect(isRejection(reviewed) && reviewed.code).to.equal(code);
  };
  const events = (id: string) => eventTypes(gateway, PAYMENT.stream(rawIdOf(id) as PaymentId));
  const balance = async () => {
    const { body } = await shop.get<Body>('/v1/wallets/balance');
    return [body['available'], body['pending']];
  };
  const held = async (): Promise<{ id: string; providerPaymentId: string }> => {
    const { id } = await shop.charge(LOCKED);
    const paid = await gateway.post(`/v1/sandbox/charges/${id}/pay`, { payer: { document: null } }, shop);
    expect([paid.status, paid.body['outcome']], paid.text).to.deep.equal([200, 'held']);
    expect(await events(id)).to.deep.equal(HELD);
    expect(await shop.statusOf(id)).to.equal('processing');
    return { id, providerPaymentId: paid.body['end_to_end_id'] as string };
  };
  const until = async (id: string, status: string): Promise<void> => {
    const look = async () => ((await shop.statusOf(id)) === status ? true : null);
    expect(await pollUntil(gateway.gateway.projected, 20_000, look), `${status} within 20 s`).to.equal(true);
  };
  /** Returns the types of all messages received, after all pending deliveries. */
  const told = async () => {
    await shop.flush();
    const path = new URL(url).pathname;
    return receiver.got
      .filter((hit) => hit.path === path)
      .map(typeOf)
      .toSorted();
  };
  const queue = async () => {
    expect(await gateway.gateway.projected.caughtUp(20_000)).to.equal(true);
    const { held: all } = await listHeld(gateway.storage.reads, 1_000);
    return all.filter(({ charge }) => charge.terms.accountId === shop.tenant.accountId);
  };
  const CREATED = ['charge.created', 'payment.created'];
  const PROCESSING = 'payment.status_changed';

  it('stays in the queue, oldest first, until it is decided', async () => {
    const [one, two, three] = [await held(), await held(), await held()];
    const ids = async () => (await queue()).map(({ charge }) => `ch_${charge.terms.paymentId}`);
    expect(await ids()).to.deep.equal([one, two, three].map(({ id }) => id));
    await decide('release', one.id);
    await decide('return', two.id);
    expect(await ids()).to.deep.equal([three.id]);
    expect(await listHeld(gateway.storage.reads, 0)).to.deep.equal({ held: [], total: 1 });
    await decide('return', three.id);
    expect(await ids()).to.deep.equal([]);
  });

  it('is paid and credited less the fees when released, and sends charge.paid and the legacy events', async () => {
    const { id } = await held();
    expect(await balance()).to.deep.equal([0, 0]);
    expect(await decide('release', id)).to.deep.equal(['PAID', true]);
    await until(id, 'paid');
    expect(await balance()).to.deep.equal([9_890, 0]);
    expect(await events(id)).to.deep.equal([...HELD, 'TransactionHeldReleased', 'TransactionSettled']);
    expect(await told()).to.deep.equal(
      [...CREATED, PROCESSING, 'charge.paid', 'payment.completed', 'payment.status_changed'].toSorted(),
    );
  });
  for (const [verdict, type] of [
    ['release', 'TransactionHeldReleased'],
    ['return', 'TransactionHeldRejected'],
  ] as const)
    it(`is decided in account time (${verdict})`, async () => {
      const { id } = await held();
      const { now: before } = await shop.advance(86_400);
      await decide(verdict, id);
      const { now: after } = await shop.clock();
      const times: string[] = [];
      for await (const event of gateway.storage.store.readStream(PAYMENT.stream(rawIdOf(id) as PaymentId)))
        if (event.type === type) times.push((JSON.parse(event.data) as { at: string }).at);
      expect(times).to.have.length(1);
      expect([before, ...times, after]).to.deep.equal([before, ...times, after].toSorted());
    });
  it('changes nothing when released a second time', async () => {
    const { id } = await held();
    await decide('release', id);
    const before = await events(id);
    expect(await decide('release', id)).to.deep.equal(['PAID', false]);
    expect(await events(id)).to.deep.equal(before);
    await until(id, 'paid');
    expect(await balance()).to.deep.equal([9_890, 0]);
    expect((await told()).filter((type) => type === 'charge.paid')).to.have.length(1);
  });

  it('is refunded once the bank accepts the return; it is never credited and sends no charge.paid', async () => {
    const { id } = await held();
    expect(await decide('return', id)).to.deep.equal(['PROCESSING', true]);
    await until(id, 'refunded');
    expect(await balance()).to.deep.equal([0, 0]);
    expect(await events(id)).to.deep.equal([...HELD, 'TransactionHeldRejected', 'TransactionPaymentReturned']);
    expect(await told()).to.deep.equal(
      [...CREATED, PROCESSING, 'payment.refunded', 'payment.status_changed'].toSorted(),
    );
  });
  it('changes nothing when returned a second time', async () => {
    const { id } = await held();
    await decide('return', id);
    await until(id, 'refunded');
    const before = await events(id);
    expect(await decide('return', id)).to.deep.equal(['REFUNDED', false]);
    expect(await events(id)).to.deep.equal(before);
    expect((await told()).filter((type) => type === 'payment.refunded')).to.have.length(1);
  });

  it('takes only the first verdict', async () => {
    const [released, returned] = [await held(), await held()];
    await decide('release', released.id);
    await decide('return', returned.id);
    await refused('return', released.id);
    await refused('release', returned.id);
    await until(returned.id, 'refunded');
    await refused('release', returned.id);
  });
  it('must be held: other payments are rejected and unknown ones not found', async () => {
    const { id } = await shop.charge(LOCKED);
    for (const verdict of ['release', 'return'] as const) {
      await refused(verdict, id);
      await refused(verdict, 'ch_00000000000000000000000000', 'not_found');
    }
    expect(await events(id)).to.deep.equal(['ChargeCreated', 'ChargePixIssued']);
  });
  it('does not expire and can be released later, unless it was canceled', async () => {
    const [late, gone] = [await held(), await held()];
    await shop.advance(2 * 86_400);
    expect(await shop.statusOf(late.id)).to.equal('processing');
    expect((await gateway.post(`/v1/payments/${rawIdOf(gone.id)}/cancel`, {}, shop)).status).to.equal(200);
    await decide('release', late.id);
    await until(late.id, 'paid');
    await refused('release', gone.id);
    await refused('return', gone.id);
    expectError(
      await gateway.post(`/v1/payments/${rawIdOf(late.id)}/cancel`, {}, shop),
      400,
      'transaction_not_cancellable',
    );
  });
});
