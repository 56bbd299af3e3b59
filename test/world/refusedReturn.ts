// A charge whose Pix payment the sandbox bank permanently refuses to return (rule X6).
import { expect } from 'chai';
import type { TestGateway } from './gateway.ts';

/** Pays a locked charge as another payer, or a charge with the wrong `amount`. The bank refuses to return the payment. */
export const refusedReturn = async (
  gateway: TestGateway,
  { key = gateway.tenant.testKey, amount }: { readonly key?: string; readonly amount?: number } = {},
): Promise<{ readonly id: string; readonly pix: string }> => {
  const lock = amount === undefined ? { expected_payer_tax_id: '12345678909', customer: { name: 'Ana Souza' } } : {};
  const asked = { amount: 10_000, ...lock, metadata: { sandbox_provider: 'return_refused' } };
  const { body } = await gateway.charge<{ id: string }>(asked, { key });
  const paying = amount === undefined ? { payer: { name: 'BIA T', document: '52998224725' } } : { amount };
  const paid = await gateway.post(`/v1/sandbox/charges/${body.id}/pay`, paying, { key });
  expect([paid.status, paid.body['outcome']], paid.text).to.deep.equal([200, 'held']);
  return { id: body.id, pix: paid.body['end_to_end_id'] as string };
};
