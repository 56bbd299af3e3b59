// Examples for the routes of payouts.
import { expect } from 'chai';
import { newKey, type TestGateway } from '../../world/gateway.ts';
import { type Example, NO_ID, type Payouts } from './exampleParts.ts';

const BODY = { amount: 1, destination: { pix_key: 'ana@example.com' } };
const MANAGERS = ['OWNER', 'ADMIN'] as const;

/** Requests a payout. The bank pays only on command, and amounts above 1 await approval. */
const requested = async (gateway: TestGateway, amount = 1): Promise<string> => {
  const { id: chargeId } = (await gateway.charge<{ id: string }>()).body;
  expect((await gateway.post(`/v1/sandbox/charges/${chargeId}/pay`, {})).status).to.equal(200);
  const settings = { auto_confirm_payouts: false, payout_approval_above: 1 };
  expect((await gateway.post('/v1/sandbox/settings', settings)).status).to.equal(200);
  const reply = await gateway.post<{ id: string }>('/v1/payouts', { ...BODY, amount }, { idempotencyKey: newKey() });
  expect(reply.status, reply.text).to.equal(201);
  return reply.body.id;
};
export const waitingPayout = async (gateway: TestGateway) => ({ waitingPayoutId: await requested(gateway, 2) });

const ofPayout = (
  idOf: (owned: Payouts) => string,
  rest: string,
  live: number,
  more: Partial<Example> = {},
): Example => ({
  path: (owned) => `/v1/payouts/${idOf(owned)}${rest}`,
  absent: `/v1/payouts/po_${NO_ID}${rest}`,
  live,
  ...more,
});
const sandbox = (idOf: (owned: Payouts) => string, how: string): Example => ({
  path: (owned) => `/v1/sandbox/payouts/${idOf(owned)}/${how}`,
  body: {},
  absent: `/v1/sandbox/payouts/po_${NO_ID}/${how}`,
  live: 403,
});
/** Names a paid payout, which no longer awaits approval, so every manager gets 400. */
const reviewed = (how: string, more: Partial<Example> = {}): Example =>
  ofPayout(({ payoutId }) => payoutId, `/${how}`, 401, { roles: MANAGERS, refusal: 400, ...more });

export const PAYOUT_EXAMPLES: { readonly [operationId: string]: Example } = {
  requestPayout: { body: BODY, live: 422 },
  listPayouts: { live: 200 },
  getPayout: ofPayout(({ payoutId }) => payoutId, '', 404),
  cancelPayout: ofPayout(({ waitingPayoutId }) => waitingPayoutId, '/cancel', 404, { fresh: waitingPayout }),
  getPayoutReceipt: ofPayout(({ payoutId }) => payoutId, '/receipt', 404),
  approvePayout: reviewed('approve'),
  rejectPayout: reviewed('reject', { body: {} }),
  sandboxConfirmPayout: sandbox(({ confirmPayoutId }) => confirmPayoutId, 'confirm'),
  sandboxFailPayout: sandbox(({ failPayoutId }) => failPayoutId, 'fail'),
};

export const makePayouts = async (gateway: TestGateway): Promise<Payouts> => {
  const payoutId = await requested(gateway);
  const paid = await gateway.post(`/v1/sandbox/payouts/${payoutId}/confirm`, {});
  expect(paid.status, paid.text).to.equal(200);
  const [confirmPayoutId, failPayoutId] = [await requested(gateway), await requested(gateway)];
  return { payoutId, confirmPayoutId, failPayoutId, ...(await waitingPayout(gateway)) };
};
