// The operators' pages about the system, deliveries of all accounts, the audit log and erasure.
import { AUDIT_PAGES } from './audit.ts';
import { DEAD_LETTER_PAGES } from './deadLetters.ts';
import { ERASURE_PAGES } from './erasure.ts';
import { JOB_PAGES } from './jobs.ts';
import { PARKED_PAGES } from './parked.ts';
import { READ_MODEL_PAGES } from './readModels.ts';
import { SYSTEM_PAGES } from './system.ts';

export const OPERATIONS_PAGES = [
  ...SYSTEM_PAGES,
  ...PARKED_PAGES,
  ...JOB_PAGES,
  ...READ_MODEL_PAGES,
  ...DEAD_LETTER_PAGES,
  ...AUDIT_PAGES,
  ...ERASURE_PAGES,
];
