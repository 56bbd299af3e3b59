// Only the provider’s own record proves a payment, and a missing answer proves nothing.
import { expect } from 'chai';
import { Settler, takePayment } from '../../../application/payments/settle.ts';
import { UnknownAtProvider } from '../../../application/ports/paymentProvider.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { type Core, newId, openCore } from '../../support/core.ts';
import { incoming, LOCKED_TO, plain } from '../../support/samples.ts';

const PIX = 'E99999004202611211300abcdefghijk';

describe('provider answers', () => {
  let core: Core;
  let settler: Settler;
  before(async () => {
    core = await openCore();
    settler = new Settler({ commands: core.commands, accounts: core.accounts, providers: core.provider });
  });
  after(() => core.close());
  beforeEach(() => core.provider.forget());

  const charge = async (over: Parameters<Core['openCharge']>[0] = {}) => {
    const txid = newId<string>();
    return { id: await core.openCharge({ txid, ...over }), txid };
  };
  const typesOf = async (id: PaymentId) => (await core.eventsOf(PAYMENT.stream(id))).slice(2).map(({ type }) => type);
  const notify = (paymentId: PaymentId) =>
    takePayment({
      commands: core.commands,
      providers: core.provider,
      settler,
      takeFacts: async () => undefined,
      takeReturns: async () => undefined,
      issuer: { resumeFor: async () => undefined },
      notificationWork: { handle: async () => true, afterMoney: async () => undefined },
    })({
      tenant: { accountId: core.account.accountId, mode: 'test' },
      kind: 'payment',
      reference: PIX,
      paymentId,
    });

  it('credit nothing to another charge named in a notification, and credit the paid charge once', async () => {
    const [paid, other] = [await charge(), await charge()];
    core.provider.incomingPayments.set(paid.txid, [incoming({ providerPaymentId: PIX })]);
    expect(await notify(other.id)).to.equal(false);
    expect(await typesOf(other.id)).to.deep.equal([]);
    expect([await notify(paid.id), await notify(paid.id)]).to.deep.equal([true, true]);
    expect(await typesOf(paid.id)).to.deep.equal(['TransactionSettled']);
  });

  it('credit a Pix only to the first charge, even if the provider later assigns it to a second one', async () => {
    const [first, second] = [await charge(), await charge()];
    core.provider.incomingPayments.set(first.txid, [incoming({ providerPaymentId: PIX })]);
    expect(await notify(first.id)).to.equal(true);
    core.provider.incomingPayments.clear();
    core.provider.incomingPayments.set(second.txid, [incoming({ providerPaymentId: PIX })]);
    await notify(second.id);
    expect([await typesOf(first.id), await typesOf(second.id)]).to.deep.equal([['TransactionSettled'], []]);
  });

  it('leave a payment undecided if the payer check times out, and decide at the next attempt', async () => {
    const { id, txid } = await charge({ expectedPayerTaxId: LOCKED_TO });
    const pix = incoming({ providerPaymentId: PIX, payer: { name: 'X', document: null } });
    core.provider.incomingPayments.set(txid, [pix]);
    core.provider.payers.set(PIX, 'match');
    core.provider.next('checkPayer', 'unknown');
    const failed = await notify(id).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(UnknownAtProvider);
    expect(await typesOf(id)).to.deep.equal([]);
    await notify(id);
    expect(await typesOf(id)).to.deep.equal(['TransactionSettled']);
  });

  it('hold a Pix for an operator if the provider can’t identify the payer', async () => {
    const { id, txid } = await charge({ expectedPayerTaxId: LOCKED_TO });
    core.provider.incomingPayments.set(txid, [
      incoming({ providerPaymentId: PIX, payer: { name: 'X', document: null } }),
    ]);
    await notify(id);
    expect(await typesOf(id)).to.deep.equal(['TransactionHeld']);
  });

  it('reject a payment that contains a withdrawal or change', async () => {
    const { id } = await charge();
    expect(await settler.settle(id, { ...plain(incoming({ providerPaymentId: PIX })), isPlain: false })).to.equal(
      'returned',
    );
    expect(await typesOf(id)).to.deep.equal(['TransactionPaymentRejected']);
  });
});
