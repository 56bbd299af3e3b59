// The HTTP module for dispute cases and their evidence.
import { httpModule } from '../../kernel/httpModule.ts';
import { canonicalBody } from '../webhooks/webhookBodies.ts';
import { DISPUTES, medCaseSchema, resolutionSchema } from './caseSchema.ts';
import { MED_CASE_ROUTES } from './cases.ts';
import { EVIDENCE_ROUTES } from './evidence.ts';
import { EVIDENCE_FILE_ROUTES } from './evidenceFiles.ts';
import { OPERATOR_CASE_ROUTES } from './operatorCases.ts';
import { SANDBOX_CASE_ROUTES } from './sandboxCases.ts';

export const disputes = httpModule({
  name: 'disputes',
  chapters: [DISPUTES],
  routes: [...MED_CASE_ROUTES, ...EVIDENCE_ROUTES, ...SANDBOX_CASE_ROUTES, ...OPERATOR_CASE_ROUTES],
  undocumentedRoutes: EVIDENCE_FILE_ROUTES,
  schemas: { DisputeCase: medCaseSchema },
  webhooks: { med_case: canonicalBody(medCaseSchema), med: canonicalBody(resolutionSchema) },
});
