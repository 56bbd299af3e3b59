// Callbacks of institutions, from the request to the credited charge. No content of a callback is trusted.

import { expect } from 'chai';
import { UnknownAtProvider } from '../../../application/ports/paymentProvider.ts';
import { handleCallback, startOwnReturns } from '../../../application/providers/handleCallback.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import type { IncomingPayment } from '../../../domain/transaction/incomingPayment.ts';
import { incoming } from '../../support/samples.ts';
import { onBothStores } from '../../world/bothStores.ts';
import { CallbackDesk, type Connected, type LiveCharge, newEndToEndId } from '../../world/callbackDesk.ts';
import { NO_SCHEDULES } from '../../world/withoutWorld.ts';

const MINUTE_MS = 60_000;

const thrown = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('did not throw'),
    (error: Error) => error,
  );

onBothStores('a callback of an institution', (log) => {
  let desk: CallbackDesk;
  before(async () => {
    desk = await CallbackDesk.open([{}, {}], { ...log(), startSchedule: NO_SCHEDULES });
  });
  after(() => desk.close());
  const handling = (job: Parameters<ReturnType<typeof handleCallback>>[0]) =>
    handleCallback(desk.needs, [startOwnReturns(desk.needs)])(job);
  beforeEach(async () => {
    await desk.gateway.storage.operations.query('DELETE FROM operations.provider_callbacks');
    desk.provider.forget();
  });

  it('credits the charge that the institution confirms, once for any number of callbacks', async () => {
    const charge = await desk.charge();
    const endToEndId = desk.paid(charge);
    await desk.told({ endToEndId, txid: charge.txid });
    await desk.told({ endToEndId, txid: charge.txid });
    expect(await desk.untilHandled()).to.deep.equal([['handled']]);
    await desk.untilReceived(charge, `${endToEndId} settled`);
    expect((await desk.listed('handled')).map(({ times }) => times)).to.deep.equal([2]);
    // The same Pix in another body.
    expect((await desk.call({ pix: [{ endToEndId }] })).status).to.equal(200);
    expect(await desk.untilHandled()).to.deep.equal([['handled'], ['handled']]);
    expect(await desk.received(charge)).to.deep.equal([`${endToEndId} settled`]);
  });

  it('credits only the charge that the institution confirms if it names another one', async () => {
    const [a, b] = [await desk.charge(), await desk.charge()];
    const endToEndId = desk.paid(b);
    await desk.told({ endToEndId, txid: a.txid });
    expect(await desk.untilHandled()).to.deep.equal([['contradicted', 'other_txid']]);
    await desk.untilReceived(b, `${endToEndId} settled`);
    await desk.told({ endToEndId, txid: b.txid });
    expect(await desk.untilHandled()).to.deep.equal([['contradicted', 'other_txid'], ['handled']]);
    expect([await desk.received(a), await desk.received(b)]).to.deep.equal([[], [`${endToEndId} settled`]]);
    const [kept] = await desk.listed();
    expect(kept?.findings).to.deep.equal([
      { outcome: 'contradicted', reference: endToEndId, txid: b.txid, because: 'other_txid' },
    ]);
  });

  it('credits only the confirmed charge if two entries name different charges for the same Pix', async () => {
    const [a, b] = [await desk.charge(), await desk.charge()];
    const endToEndId = desk.paid(b);
    await desk.told({ endToEndId, txid: a.txid }, { endToEndId, txid: b.txid });
    expect(await desk.untilHandled()).to.deep.equal([['contradicted', 'other_txid']]);
    await desk.untilReceived(b, `${endToEndId} settled`);
    expect(await desk.received(a)).to.deep.equal([]);
  });

  it('with a hundred payments credits each of them', async () => {
    const charges = await Promise.all(Array.from({ length: 100 }, () => desk.charge()));
    const pix = charges.map((charge) => ({ endToEndId: desk.paid(charge), txid: charge.txid }));
    await desk.told(...pix);
    expect(await desk.untilHandled()).to.deep.equal([['handled']]);
    for (const [n, charge] of charges.entries()) await desk.untilReceived(charge, `${pix[n]?.endToEndId} settled`);
  });

  it('is kept if the Pix belongs to no charge of the connection', async () => {
    const withoutTxid = newEndToEndId();
    const find = desk.provider.findPayment.bind(desk.provider);
    desk.provider.findPayment = async (tenant, id) => {
      const found = await find(tenant, id);
      if (id !== withoutTxid || found.kind !== 'known' || found.value === null) return found;
      return { kind: 'known', value: { ...found.value, txid: null } };
    };
    desk.paid({ txid: 'x'.repeat(26) }, { providerPaymentId: withoutTxid });
    const unknown = desk.paid({ txid: 'y'.repeat(26) });
    await desk.told({ endToEndId: withoutTxid }, { endToEndId: unknown, txid: 'y'.repeat(26) });
    expect(await desk.untilHandled()).to.deep.equal([['unmatched', 'no_txid', 'unknown_txid']]);
    desk.provider.findPayment = find;
    expect((await desk.listed())[0]?.findings).to.deep.equal([
      { outcome: 'unmatched', reference: withoutTxid, txid: null, because: 'no_txid' },
      { outcome: 'unmatched', reference: unknown, txid: 'y'.repeat(26), because: 'unknown_txid' },
    ]);
    expect(await desk.needs.callbackReads.countOpen()).to.equal(1);
  });

  describe('that arrives at another connection than that of its charge', () => {
    const toldOther = async (charge: LiveCharge, over: Partial<IncomingPayment>) => {
      const [other] = desk.others as readonly [Connected];
      const pix = incoming({ amount: toMinor(1_000), ...over });
      other.fake.provider.incomingPayments.set(charge.txid, [pix]);
      const body = { pix: [{ endToEndId: pix.providerPaymentId, txid: charge.txid }] };
      expect((await desk.call(body, { connection: other })).status).to.equal(200);
      return desk.untilHandled();
    };

    it('credits the charge if its own connection confirms the Pix', async () => {
      const charge = await desk.charge();
      const endToEndId = desk.paid(charge);
      expect(await toldOther(charge, { providerPaymentId: endToEndId })).to.deep.equal([['handled']]);
      await desk.untilReceived(charge, `${endToEndId} settled`);
    });

    it('is kept, and credits nothing, if the own connection does not list the Pix', async () => {
      const charge = await desk.charge();
      const outcomes = await toldOther(charge, { providerPaymentId: newEndToEndId() });
      expect(outcomes).to.deep.equal([['unmatched', 'unknown_txid']]);
      expect(await desk.received(charge)).to.deep.equal([]);
    });

    it('is kept, and credits nothing, if the own connection lists the Pix for another charge', async () => {
      const [charge, paid] = [await desk.charge(), await desk.charge()];
      const outcomes = await toldOther(charge, { providerPaymentId: desk.paid(paid) });
      expect(outcomes).to.deep.equal([['unmatched', 'unknown_txid']]);
      expect(await desk.received(charge)).to.deep.equal([]);
    });
  });

  it('about a Pix that the institution does not list yet is retried for ten minutes and then kept', async () => {
    const charge = await desk.charge();
    const endToEndId = newEndToEndId();
    await desk.told({ endToEndId, txid: charge.txid });
    const [id = ''] = await desk.ids();
    expect(await thrown(handling({ connectionId: desk.first.id, callbackId: id }))).to.be.instanceOf(UnknownAtProvider);
    await desk.age(10 * MINUTE_MS);
    await handling({ connectionId: desk.first.id, callbackId: id });
    expect(await desk.outcomes()).to.deep.equal([['notConfirmed', 'not_found']]);
    // The institution repeats the callback once it lists the payment.
    desk.paid(charge, { providerPaymentId: endToEndId });
    await desk.told({ endToEndId, txid: charge.txid });
    expect(await desk.outcomes()).to.deep.equal([['notConfirmed', 'not_found']]);
    await desk.age(MINUTE_MS);
    await desk.told({ endToEndId, txid: charge.txid });
    expect(await desk.untilHandled()).to.deep.equal([['handled']]);
    await desk.untilReceived(charge, `${endToEndId} settled`);
  });

  it('is only stored while the connection is disabled, and handled once it is enabled again', async () => {
    const charge = await desk.charge();
    const endToEndId = desk.paid(charge);
    await desk.switch('disabled');
    await desk.told({ endToEndId, txid: charge.txid });
    await desk.age(2 * MINUTE_MS);
    expect(await desk.watch()).to.not.include('providerCallback');
    expect(await desk.outcomes()).to.deep.equal([[null]]);
    expect(desk.provider.calls).to.not.include(`findPayment ${endToEndId}`);
    await desk.switch('enabled');
    expect(await desk.watch()).to.include('providerCallback');
    expect(await desk.untilHandled()).to.deep.equal([['handled']]);
    await desk.untilReceived(charge, `${endToEndId} settled`);
  });
});
