// Cancellations when the provider does not answer, when the payment was paid first, and after crashes (E4, M4, M5).

import { expect } from 'chai';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import { Accounts } from '../../../application/core/accounts.ts';
import type { CommandHandler } from '../../../application/core/commandHandler.ts';
import { Canceller, cancelPayment } from '../../../application/payments/cancellation.ts';
import { sendBack as sendPaymentBack } from '../../../application/payments/rejectedPaymentReturn.ts';
import { Settler } from '../../../application/payments/settle.ts';
import { EventStoreUnavailable } from '../../../application/ports/eventStore.ts';
import { UnknownAtProvider } from '../../../application/ports/paymentProvider.ts';
import { ACCOUNT, type AccountEvent, type AccountState, advanceTestClock } from '../../../domain/account/account.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { addSeconds, toMillis } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { requestCancel } from '../../../domain/payment/cancel.ts';
import { expire } from '../../../domain/payment/lifecycle.ts';
import { assertExists } from '../../../domain/payment/payment.ts';
import { transactionStatus } from '../../../domain/presentation/status.ts';
import type { IncomingPayment } from '../../../domain/transaction/incomingPayment.ts';
import { type Core, newId, openCore, why } from '../../support/core.ts';
import { CANCELLED_AT, EXPIRES_AT, incoming, LOCKED_TO, plain, SOMEBODY_ELSE } from '../../support/samples.ts';

const NAMELESS = { name: 'X', document: null };
const thrown = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('did not throw'),
    (error: Error) => error,
  );

describe('cancellations on Postgres', () => {
  let core: Core;
  let canceller: Canceller;
  let settler: Settler;
  let pixes = 0;
  before(async () => {
    core = await openCore();
    const { commands, accounts, provider: providers } = core;
    settler = new Settler({ commands, accounts, providers });
    canceller = new Canceller({ commands, accounts, providers, settler });
  });
  after(() => core.close());
  beforeEach(() => {
    core.clock.nowMs = toMillis(CANCELLED_AT);
    core.provider.forget();
  });
  afterEach(() => Object.assign(core.spies, { beforeAppend: null, afterAppend: null, onRead: null }));

  const open = async (lock: string | null = null) => {
    const txid = newId<string>();
    return { id: await core.openCharge({ txid, expectedPayerTaxId: lock }), txid };
  };
  const wish = async (id: PaymentId) => {
    const stream = PAYMENT.stream(id);
    const done = await core.commands.execute(PAYMENT, stream, requestCancel(CANCELLED_AT), why(core.account.accountId));
    if (isRejection(done)) throw new Error(done.code);
  };
  const wished = async (lock: string | null = null) => {
    const one = await open(lock);
    await wish(one.id);
    return one;
  };
  const paid = (txid: string, over: Partial<IncomingPayment> = {}): IncomingPayment => {
    const arrived = incoming({ providerPaymentId: `E${String(++pixes)}`, ...over });
    core.provider.incomingPayments.set(txid, [arrived]);
    return arrived;
  };
  const typesOf = async (id: PaymentId) => (await core.eventsOf(PAYMENT.stream(id))).slice(2).map(({ type }) => type);
  const statusOf = async (id: PaymentId) =>
    transactionStatus(assertExists((await core.commands.load(PAYMENT, PAYMENT.stream(id))).state));
  const sendBack = (id: PaymentId, providerPaymentId: string) =>
    sendPaymentBack({
      commands: core.commands,
      accounts: core.accounts,
      providers: core.provider,
      alerts: { returnRefused: () => undefined },
    })({ paymentId: id, providerPaymentId });

  it('tell the provider, are then recorded, and are idempotent', async () => {
    const { id, txid } = await wished();
    await canceller.run(id);
    await canceller.run(id);
    expect((await core.eventsOf(PAYMENT.stream(id))).slice(2)).to.deep.equal([
      { type: 'ChargeCancelRequested', data: { at: CANCELLED_AT } },
      { type: 'ChargeCancelled', data: { by: 'merchant', at: CANCELLED_AT } },
    ]);
    expect(core.provider.calls).to.deep.equal([`cancel ${txid}`]);
    expect([...core.provider.cancelled]).to.deep.equal([`${txid} PIX`]);
  });
  it('tell the provider about every method', async () => {
    const txid = newId<string>();
    const id = await core.openCharge({ txid, methods: ['PIX', 'BOLETO', 'CREDIT_CARD'] });
    await wish(id);
    await canceller.run(id);
    expect([...core.provider.cancelled]).to.deep.equal([`${txid} PIX`, `${txid} BOLETO`, `${txid} CREDIT_CARD`]);
    expect(await statusOf(id)).to.equal('CANCELLED');
  });
  it('stay pending while the provider does not answer, and complete when repeated', async () => {
    const { id } = await wished();
    core.provider.next('cancel', 'unknown');
    expect(await thrown(canceller.run(id))).to.be.instanceOf(UnknownAtProvider);
    expect([await typesOf(id), await statusOf(id)]).to.deep.equal([['ChargeCancelRequested'], 'WAITING_PAYMENT']);
    await canceller.run(id);
    expect(await typesOf(id)).to.deep.equal(['ChargeCancelRequested', 'ChargeCancelled']);
  });
  it('are recorded when repeated after a crash between the provider’s answer and the record', async () => {
    const { id } = await wished();
    core.spies.beforeAppend = () => Promise.reject(new EventStoreUnavailable('killed'));
    expect(await thrown(canceller.run(id))).to.be.instanceOf(EventStoreUnavailable);
    core.spies.beforeAppend = null;
    expect(await typesOf(id)).to.deep.equal(['ChargeCancelRequested']);
    await canceller.run(id);
    expect(await typesOf(id)).to.deep.equal(['ChargeCancelRequested', 'ChargeCancelled']);
  });
  it('are dated by their due time if the test clock jumped over it (X5)', async () => {
    const { id } = await wished();
    const stream = ACCOUNT.stream(core.account.accountId);
    const jump = advanceTestClock(3_600, CANCELLED_AT);
    const because = why(core.account.accountId);
    await core.commands.execute<AccountState, AccountEvent, unknown>(ACCOUNT, stream, jump, because);
    const dueAt = addSeconds(CANCELLED_AT, 5);
    await canceller.run(id, dueAt);
    expect((await core.eventsOf(PAYMENT.stream(id))).slice(3)).to.deep.equal([
      { type: 'ChargeCancelled', data: { by: 'merchant', at: dueAt } },
    ]);
  });
  it('are recorded once if run twice concurrently', async () => {
    const { id } = await wished();
    await Promise.all([canceller.run(id), canceller.run(id)]);
    expect(await typesOf(id)).to.deep.equal(['ChargeCancelRequested', 'ChargeCancelled']);
  });

  it('settle the payment instead if it was paid first', async () => {
    const { id, txid } = await wished();
    paid(txid);
    await canceller.run(id);
    await canceller.run(id);
    expect(await typesOf(id)).to.deep.equal(['ChargeCancelRequested', 'TransactionSettled']);
    expect([await statusOf(id), [...core.provider.cancelled]]).to.deep.equal(['PAID', []]);
  });
  it('decide nothing if the payment was paid but can’t be read, and settle it when repeated', async () => {
    const { id, txid } = await wished();
    paid(txid);
    core.provider.next('paymentsOf', 'unknown');
    expect(await thrown(canceller.run(id))).to.be.instanceOf(UnknownAtProvider);
    expect(await typesOf(id)).to.deep.equal(['ChargeCancelRequested']);
    await canceller.run(id);
    expect(await statusOf(id)).to.equal('PAID');
  });
  it('are void if a payer who violates the lock paid first: the money is returned and the payment is REFUNDED', async () => {
    const { id, txid } = await wished(LOCKED_TO);
    const { providerPaymentId } = paid(txid, { payer: { name: 'X', document: SOMEBODY_ELSE } });
    await canceller.run(id);
    await sendBack(id, providerPaymentId);
    await canceller.run(id);
    expect(await typesOf(id)).to.deep.equal([
      'ChargeCancelRequested',
      'TransactionPaymentRejected',
      'TransactionPaymentReturned',
    ]);
    expect(await statusOf(id)).to.equal('REFUNDED');
  });
  it('wait until a wrong amount has been returned', async () => {
    const { id, txid } = await wished();
    const { providerPaymentId } = paid(txid, { amount: toMinor(1) });
    expect(await thrown(canceller.run(id))).to.be.instanceOf(UnknownAtProvider);
    expect(await typesOf(id)).to.deep.equal(['ChargeCancelRequested', 'TransactionPaymentRejected']);
    await sendBack(id, providerPaymentId);
    await canceller.run(id);
    expect(await typesOf(id)).to.deep.equal([
      'ChargeCancelRequested',
      'TransactionPaymentRejected',
      'TransactionPaymentReturned',
      'ChargeCancelled',
    ]);
    expect(await statusOf(id)).to.equal('CANCELLED');
  });
  it('complete after the return of a wrong amount, even if the provider reports the code as paid (V8)', async () => {
    const { id, txid } = await wished();
    const { providerPaymentId } = paid(txid, { amount: toMinor(1) });
    expect(await thrown(canceller.run(id))).to.be.instanceOf(UnknownAtProvider);
    await sendBack(id, providerPaymentId);
    core.provider.next('cancel', 'paid');
    await canceller.run(id);
    expect([(await typesOf(id)).at(-1), await statusOf(id)]).to.deep.equal(['ChargeCancelled', 'CANCELLED']);
  });
  it('are retried while the provider reports the code as paid but lists no payment', async () => {
    const { id } = await wished();
    core.provider.next('cancel', 'paid');
    expect(await thrown(canceller.run(id))).to.be.instanceOf(UnknownAtProvider);
    expect(await typesOf(id)).to.deep.equal(['ChargeCancelRequested']);
  });
  it('don’t wait for a wrong amount whose return the provider refuses', async () => {
    const { id, txid } = await wished();
    const { providerPaymentId } = paid(txid, { amount: toMinor(1) });
    expect(await thrown(canceller.run(id))).to.be.instanceOf(UnknownAtProvider);
    core.provider.next('returnPayment', { kind: 'refused', reason: 'account closed' });
    await sendBack(id, providerPaymentId);
    await canceller.run(id);
    expect(await typesOf(id)).to.deep.equal([
      'ChargeCancelRequested',
      'TransactionPaymentRejected',
      'TransactionReturnRefused',
      'ChargeCancelled',
    ]);
  });
  it('wait for the return of a second wrong amount, even if the return of the first was refused', async () => {
    const { id, txid } = await wished();
    const kept = paid(txid, { amount: toMinor(1) });
    expect(await thrown(canceller.run(id))).to.be.instanceOf(UnknownAtProvider);
    core.provider.next('returnPayment', { kind: 'refused', reason: 'account closed' });
    await sendBack(id, kept.providerPaymentId);
    const { providerPaymentId } = paid(txid, { amount: toMinor(2) });
    expect(await thrown(canceller.run(id))).to.be.instanceOf(UnknownAtProvider);
    expect((await typesOf(id)).at(-1)).to.equal('TransactionPaymentRejected');
    await sendBack(id, providerPaymentId);
    await canceller.run(id);
    expect((await typesOf(id)).slice(-2)).to.deep.equal(['TransactionPaymentReturned', 'ChargeCancelled']);
  });
  it('return a held Pix without asking the provider (M5)', async () => {
    const { id, txid } = await open(LOCKED_TO);
    const arrived = paid(txid, { payer: NAMELESS });
    expect(await settler.settle(id, plain(arrived))).to.equal('held');
    await wish(id);
    core.provider.calls.length = 0;
    await canceller.run(id);
    await canceller.run(id);
    expect(core.provider.calls).to.deep.equal([]);
    await sendBack(id, arrived.providerPaymentId);
    expect(await typesOf(id)).to.deep.equal([
      'TransactionHeld',
      'ChargeCancelRequested',
      'ChargeCancelled',
      'TransactionHeldRejected',
      'TransactionPaymentReturned',
    ]);
    expect([...core.provider.returns.values()]).to.deep.equal([
      { providerPaymentId: arrived.providerPaymentId, amount: 12_345 },
    ]);
    expect(await statusOf(id)).to.equal('CANCELLED');
  });
  it('return a Pix that is found and held during the cancellation', async () => {
    const { id, txid } = await wished(LOCKED_TO);
    paid(txid, { payer: NAMELESS });
    await canceller.run(id);
    expect(await typesOf(id)).to.deep.equal([
      'ChargeCancelRequested',
      'TransactionHeld',
      'ChargeCancelled',
      'TransactionHeldRejected',
    ]);
  });
  it('return a Pix that was reported after the expiry and held', async () => {
    const { id, txid } = await open(LOCKED_TO);
    await core.commands.execute(PAYMENT, PAYMENT.stream(id), expire(EXPIRES_AT), why(core.account.accountId));
    const arrived = paid(txid, { payer: NAMELESS });
    expect(await settler.settle(id, plain(arrived))).to.equal('held');
    await wish(id);
    await canceller.run(id);
    expect([await statusOf(id), (await typesOf(id)).slice(-2)]).to.deep.equal([
      'CANCELLED',
      ['ChargeCancelled', 'TransactionHeldRejected'],
    ]);
  });

  // An earlier version read the stream four times, and six times if the payment was paid first.
  it('read the stream only if this process has no current state of it', async () => {
    const { accountId } = core.account;
    const reads = async (id: PaymentId, commands: CommandHandler): Promise<number> => {
      const accounts = new Accounts(commands, core.clock, DECLARED_SETTINGS);
      await accounts.get(accountId);
      let count = 0;
      core.spies.onRead = () => {
        count += 1;
      };
      const asked = cancelPayment({
        commands,
        accounts,
        canceller: new Canceller({ commands, accounts, providers: core.provider, settler }),
      });
      const done = await asked({ accountId, mode: 'test' }, id, { actor: 'key:1', requestId: 'r1' });
      core.spies.onRead = null;
      expect(isRejection(done) ? done.code : transactionStatus(done)).to.be.oneOf([
        'CANCELLED',
        'transaction_not_cancellable',
      ]);
      return count;
    };
    const known = await open();
    expect(await reads(known.id, core.commands)).to.equal(0);
    expect(await reads(known.id, core.commands), 'again: refused by what the store has').to.equal(1);
    expect(await reads((await open()).id, core.newProcess())).to.equal(1);
    const other = await open();
    paid(other.txid);
    expect(await reads(other.id, core.commands), 'paid first').to.equal(1);
  });
  it('do nothing without a request, or for an ended or unknown payment', async () => {
    const idle = await open();
    const over = await wished();
    await core.commands.execute(PAYMENT, PAYMENT.stream(over.id), expire(EXPIRES_AT), why(core.account.accountId));
    const head = await core.store.head();
    for (const id of [idle.id, over.id, newId<PaymentId>()]) await canceller.run(id);
    expect([await core.store.head(), core.provider.calls]).to.deep.equal([head, []]);
  });
});
