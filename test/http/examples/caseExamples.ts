// Dispute cases for the route examples.

import { expect } from 'chai';
import { MED_CASE } from '../../../domain/dispute/aggregate.ts';
import type { MedCaseId } from '../../../domain/kernel/ids.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { pollUntil } from '../../world/pollUntil.ts';

export const paidCharge = async (gateway: TestGateway): Promise<string> => {
  const { id } = (await gateway.charge<{ id: string }>()).body;
  expect((await gateway.post(`/v1/sandbox/charges/${id}/pay`, {})).status).to.equal(200);
  return id;
};
export const openedCase = async (gateway: TestGateway, report: object = {}): Promise<{ readonly caseId: string }> => {
  const reply = await gateway.post<{ id: string }>(`/v1/sandbox/charges/${await paidCharge(gateway)}/med`, report);
  expect(reply.status, reply.text).to.equal(201);
  return { caseId: reply.body.id };
};
export const reviewedCase = async (gateway: TestGateway): Promise<{ readonly caseId: string }> => {
  const { caseId } = await openedCase(gateway);
  const decided = await gateway.post(`/v1/sandbox/med/cases/${caseId}/decide`, { result: 'agreed', review: true });
  expect(decided.status, decided.text).to.equal(200);
  return { caseId };
};
/** Opens a case whose reported amount must be reviewed by an operator. */
export const mismatchedCase = (gateway: TestGateway): Promise<{ readonly caseId: string }> =>
  openedCase(gateway, { amount: 1 });
/** Resolves once a report that contradicts the end of the case is recorded. */
export const untilContradicted = async (gateway: TestGateway, caseId: string): Promise<void> => {
  const stream = MED_CASE.stream(caseId.slice(MED_CASE.idPrefix.length) as MedCaseId);
  const look = async () => {
    const { state } = await gateway.gateway.commands.load(MED_CASE, stream);
    return state.status !== 'absent' && state.contradiction !== null ? state : null;
  };
  expect(await pollUntil(gateway.gateway.projected, 20_000, look)).to.not.equal(null);
};
/** Returns a closed case whose bank reported a different result afterwards. */
export const contradictedCase = async (gateway: TestGateway): Promise<{ readonly caseId: string }> => {
  const { caseId } = await openedCase(gateway);
  const decided = await gateway.post(`/v1/sandbox/med/cases/${caseId}/decide`, { result: 'agreed' });
  expect(decided.status, decided.text).to.equal(200);
  const reported = await gateway.post(`/v1/sandbox/med/cases/${caseId}/decide`, { result: 'disagreed', owed: true });
  expect(reported.status, reported.text).to.equal(202);
  await untilContradicted(gateway, caseId);
  return { caseId };
};
