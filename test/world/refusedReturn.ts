// A charge whose Pix the sandbox bank refuses to send back for good (rule X6).
import { expect } from 'chai';
import type { TestGateway } from './gateway.ts';

/** A stranger pays a locked charge, or `amount` is wrong; the bank refuses to return it. */
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
