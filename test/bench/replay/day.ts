// A fixed day of traffic: charges and payments by all methods, actions of payers, banks and acquirers, refunds, dispute cases, failing
// webhooks, and days that pass. All amounts differ, so payments can be identified without their ids.
import type { Merchant } from './merchant.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
const MARIA = { name: 'Maria da Silva', document: '52998224725', email: 'maria@example.com' };
const OTHER = '11144477735';
const PHONE = '+351912345678';

const pixCharges = async (m: Merchant): Promise<void> => {
  await m.pay(await m.charge({ customer: MARIA, description: 'Pedido', metadata: { order: 'a' } }));
  await m.pay(await m.charge({}), { amount: 7 });
  const twice = await m.charge({});
  await m.pay(twice, { end_to_end_id: 'E9999900420261121000000000000001' });
  await m.pay(twice, { end_to_end_id: 'E9999900420261121000000000000001' });
  await m.pay(twice, {});
  await m.pay(await m.charge({ expires_in: 60 }), { late: true });
  const lock = { customer: MARIA, expected_payer_tax_id: MARIA.document };
  await m.pay(await m.charge(lock));
  await m.pay(await m.charge(lock), { payer: { document: OTHER } });
  for (const verdict of ['release', 'return'] as const) {
    const held = await m.charge(lock);
    await m.pay(held, { payer: { document: null } });
    await m.review(held, verdict);
  }
  await m.pay(await m.charge(lock), { payer: { document: null } }); // remains held
  await m.cancel(await m.charge({}));
  const expiring = await m.charge({ expires_in: 600 });
  await m.advance(660);
  await m.pay(expiring);
  await m.cancel(expiring);
  for (const fault of ['timeout', 'unavailable', 'rejected', 'slow'])
    await m.charge({ metadata: { sandbox_provider: fault } });
  await m.replayed({ payment_method: 'pix' }, { payment_method: 'pix', description: 'changed' });
  await m.refused('/v1/charges', { amount: 0, payment_method: 'pix' });
  await m.refused('/v1/charges', { amount: 1, payment_method: 'card', customer: 1 });
};

const otherMethods = async (m: Merchant): Promise<void> => {
  const orders = [
    { paymentMethods: ['CREDIT_CARD'], customerName: 'Maria', customerEmail: MARIA.email },
    { paymentMethods: ['MBWAY'], currency: 'EUR', metadata: { phone: PHONE } },
    { paymentMethods: ['MULTIBANCO'], currency: 'EUR' },
    { paymentMethods: ['BOLETO'], customerDocument: MARIA.document },
    { paymentMethods: ['CRYPTO'], currency: 'USDT' },
    { paymentMethods: ['PIX', 'CREDIT_CARD', 'BOLETO'] },
  ];
  for (const order of orders) {
    await m.act(await m.payment(order), 'authorize', {});
    await m.act(await m.payment(order), 'refuse', { reason: 'no funds' });
    const slow = await m.payment(order);
    await m.act(slow, 'processing', {});
    await m.act(slow, 'authorize', {});
    await m.cancel(slow);
    await m.cancel(await m.payment(order));
    await m.payment(order); // expires when due
  }
  for (const act of ['chargeback', 'dispute']) {
    const paid = await m.payment({ paymentMethods: ['CREDIT_CARD'] });
    await m.act(paid, 'authorize', {});
    await m.act(paid, act, {});
  }
  await m.act(await m.payment({ paymentMethods: ['PIX'] }), 'authorize', {});
  await m.refused('/v1/payments', { amount: 100, paymentMethods: ['MBWAY'] });
};

const paidCharge = async (m: Merchant): Promise<string> => {
  const id = await m.charge({ customer: MARIA });
  await m.pay(id);
  return id;
};

const refunds = async (m: Merchant): Promise<void> => {
  await m.settings({ auto_confirm_refunds: false });
  for (const strategy of ['devolution', 'cashout']) {
    const whole = await paidCharge(m);
    await m.decide(await m.refund(whole, { strategy, reason: 'changed my mind' }), 'confirm', {});
    const parts = await paidCharge(m);
    await m.decide(await m.refund(parts, { strategy, amount: 301 }), 'confirm', {});
    await m.decide(await m.refund(parts, { strategy, amount: 302, passFeeToTenant: true }), 'confirm', {});
    await m.refund(parts, { strategy, amount: 99_999_999 });
    const failed = await m.refund(parts, { strategy, amount: 303 });
    await m.decide(failed, 'fail', { reason: 'account closed' });
    await m.decide(failed, 'confirm', { late: true });
  }
  await m.decide(await m.refund(await paidCharge(m), { destinationKey: 'loja@example.com' }), 'confirm', {});
  const card = await m.payment({ paymentMethods: ['CREDIT_CARD'] });
  await m.act(card, 'authorize', {});
  await m.decide(await m.refund(card, { amount: 305 }), 'confirm', {});
  await m.decide(await m.refund(card, {}), 'confirm', {});
  await m.settings({ auto_confirm_refunds: true });
  await m.refund(await paidCharge(m), {});
};

const disputes = async (m: Merchant): Promise<void> => {
  const opened = async (report: object = {}) => m.med(await paidCharge(m), report);
  const outcomes = [
    { result: 'agreed' },
    { result: 'agreed', returned_to_payer: 11 },
    { result: 'disagreed' },
    { result: 'disagreed', returned: false },
  ];
  for (const outcome of outcomes) await m.onCase(await opened({ reason: 'not mine' }), 'decide', outcome);
  await m.onCase(await opened(), 'withdraw', {});
  await m.answer(await opened(), 'accept');
  const appealed = await opened({ method: 'scam' });
  await m.onCase(appealed, 'request-evidence', {});
  await m.answer(appealed, 'appeal', { reason: 'The parcel was delivered and signed for.' });
  await m.onCase(appealed, 'decide', { result: 'disagreed' });
  for (const approve of [true, false]) {
    const reviewed = await opened();
    await m.onCase(reviewed, 'decide', { result: 'agreed', review: true });
    await m.onCase(reviewed, 'review', { approve });
  }
  await opened({ amount: 1 });
  await opened({ response_deadline: null });
  await opened(); // gets no answer
  const refunded = await paidCharge(m);
  await m.settings({ auto_confirm_refunds: false }); // otherwise the bank confirms it during the case
  await m.decide(await m.refund(refunded, { amount: 307 }), 'confirm', {});
  await m.onCase(await m.med(refunded), 'decide', { result: 'agreed' });
};

const webhooks = async (m: Merchant): Promise<void> => {
  await m.resend(await paidCharge(m));
  const own = { paymentMethods: ['CREDIT_CARD'], webhookUrl: `${m.hook}/own` };
  await m.act(await m.payment(own), 'authorize', {});
  await m.rotateOverrideSecret();
  await m.breakEndpoint();
  await paidCharge(m);
  await m.advance(6 * HOUR);
  await m.advance(5 * DAY);
  await m.mendEndpoint();
};

/** Replays the day. Each step ends before the next one starts. */
export const playDay = async (m: Merchant): Promise<void> => {
  await m.endpoints();
  await pixCharges(m);
  await otherMethods(m);
  await refunds(m);
  await disputes(m);
  await webhooks(m);
  for (const seconds of [DAY, 3 * DAY, 31 * DAY]) await m.advance(seconds);
};
