// Examples for the routes of reconciliation and manually ruled disputes. They need an institution, so most are rejected here. The story of
// the OpenAPI document and test/application/reconciliation show them succeed.
import { type Example, NO_ID } from './exampleParts.ts';

const RECONCILIATION = '/ops/v1/reconciliation';
const FINDING = `${RECONCILIATION}/findings/rf_${NO_ID}/resolve`;

export const RECONCILIATION_EXAMPLES: { readonly [operationId: string]: Example } = {
  runReconciliation: { body: { connection: `pc_${NO_ID}` }, live: 401, refusal: 404 },
  reportReconciliation: { live: 401, refusal: 400 },
  listReconciliationFindings: { live: 401 },
  resolveReconciliationFinding: {
    path: () => FINDING,
    body: { reason: 'Returned from the bank’s app.' },
    absent: FINDING,
    live: 401,
    refusal: 404,
  },
  openCase: {
    body: { chargeId: `ch_${NO_ID}`, amount: 100, reason: 'The bank called.' },
    live: 401,
    refusal: 404,
  },
  ruleCase: {
    path: ({ caseId }) => `/ops/v1/med/cases/${caseId}/rule`,
    body: { result: 'agreed' },
    absent: `/ops/v1/med/cases/med_${NO_ID}/rule`,
    live: 401,
    refusal: 403,
  },
};
