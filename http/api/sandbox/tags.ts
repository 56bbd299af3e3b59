// The chapter of the API reference that contains these routes.
import type { Tag } from '../../kernel/route.ts';

export const SANDBOX: Tag = {
  name: 'Sandbox',
  description: 'Simulation of payers, banks and the passage of time. These operations require a test key.',
};

/** The common properties of sandbox routes. */
export const IN_SANDBOX = { tag: SANDBOX, principal: 'testKey' } as const;
/** The longest wait for an effect to be visible in reads. After it, the response is 202 and processing continues (rules X). */
export const VISIBLE_MS = 5_000;
