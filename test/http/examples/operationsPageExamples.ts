// Examples for the operators’ pages about the system, all accounts’ deliveries, the audit log and erasure.
import { PLATFORM_PAGES } from '../../../http/kernel/callers.ts';
import { type Example, NO_ID } from './exampleParts.ts';
import { makeParked, untilNoRun } from './opsExamples.ts';

const page = (rest: string, more: Partial<Example> = {}): Example => ({
  path: () => `${PLATFORM_PAGES}${rest}`,
  live: 401,
  ...more,
});
const ofParked = (rest: string, more: Partial<Example> = {}): Example => ({
  path: ({ parkedId }) => `${PLATFORM_PAGES}/parked/${parkedId}${rest}`,
  live: 401,
  fresh: makeParked,
  ...more,
});
const NOBODY = { by: 'email', value: 'ninguem@example.com' };

export const OPERATIONS_PAGE_EXAMPLES: { readonly [operationId: string]: Example } = {
  showSystem: page('/system'),
  checkSystemFromPage: page('/system/checks', { body: {} }),
  showParkedStreams: page('/parked'),
  retryAllParkedFromPage: page('/parked/retry', { body: {} }),
  showParkedStream: ofParked('', { absent: `${PLATFORM_PAGES}/parked/payment-${NO_ID}` }),
  retryParkedFromPage: ofParked('/retry', { body: {} }),
  skipParkedFromPage: ofParked('/skip', {
    body: { reason: 'The merchant was called.', consumer: 'process/webhookFanOut' },
  }),
  showJobs: page('/jobs'),
  retryJobsFromPage: page('/jobs/retry', { body: { all: 'true' } }),
  showReadModels: page('/read-models'),
  startRunFromPage: page('/read-models/runs', { body: { work: 'rebuild', readModel: 'users' }, fresh: untilNoRun }),
  showDeadLetters: page('/dead-letters'),
  countDeadLettersToRedrive: page('/dead-letters/redrive'),
  redriveDeadLettersFromPage: page('/dead-letters/redrive', { body: { eventType: 'charge.paid' } }),
  showAuditLog: page('/audit'),
  rotateAuditKeyFromPage: page('/audit/rotate-key', { body: {} }),
  issueAuditTokenFromPage: page('/audit/tokens', { body: { name: 'The auditors' } }),
  revokeAuditTokenFromPage: {
    path: ({ auditTokenId }) => `${PLATFORM_PAGES}/audit/tokens/${auditTokenId}/revoke`,
    absent: `${PLATFORM_PAGES}/audit/tokens/${NO_ID}/revoke`,
    body: {},
    live: 401,
  },
  showErasure: page('/erasure'),
  findPersonalDataFromPage: page('/erasure', { body: NOBODY }),
  reportPersonalDataFromPage: page('/erasure/report', { body: { ...NOBODY, format: 'pdf' } }),
  erasePersonalDataFromPage: page('/erasure/erase', { body: { ...NOBODY, reason: 'request 17', confirm: 'yes' } }),
};
