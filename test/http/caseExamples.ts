// Dispute cases for the examples of routes.
import { expect } from 'chai';
import type { TestGateway } from '../support/gateway.ts';

export const paidCharge = async (gateway: TestGateway): Promise<string> => {
  const { id } = (await gateway.charge<{ id: string }>()).body;
  expect((await gateway.post(`/v1/sandbox/charges/${id}/pay`, {})).status).to.equal(200);
  return id;
};
export const openedCase = async (gateway: TestGateway): Promise<{ readonly caseId: string }> => {
  const reply = await gateway.post<{ id: string }>(`/v1/sandbox/charges/${await paidCharge(gateway)}/med`, {});
  expect(reply.status, reply.text).to.equal(201);
  return { caseId: reply.body.id };
};
export const reviewedCase = async (gateway: TestGateway): Promise<{ readonly caseId: string }> => {
  const { caseId } = await openedCase(gateway);
  const decided = await gateway.post(`/v1/sandbox/med/cases/${caseId}/decide`, { result: 'agreed', review: true });
  expect(decided.status, decided.text).to.equal(200);
  return { caseId };
};
