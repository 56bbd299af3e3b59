// Request and response schemas of the sandbox (rules X).
import type { SandboxSwitch } from '../../../domain/kernel/accountSetting.ts';
import * as s from '../../kernel/jsonSchema.ts';
import type { Tag } from '../../kernel/route.ts';

/** The chapter of the API reference that contains these routes. */
export const SANDBOX: Tag = {
  name: 'Sandbox',
  description: 'Simulation of payers, banks and the passage of time. These operations require a test key.',
};

/** The common properties of sandbox routes. */
export const IN_SANDBOX = { tag: SANDBOX, principal: 'testKey' } as const;
/** The longest wait for an effect to be visible in reads. After it, the response is 202 and processing continues (rules X). */
export const VISIBLE_MS = 5_000;

/** The bodies with which the sandbox bank pays or fails a refund or a payout. */
export const bankPaysBody = s.accepting({
  late: s.optional(s.described('Whether the bank pays even if it refused before. Operators are alerted.', s.boolean)),
});
export const bankFailsBody = s.accepting({
  reason: s.optional(s.described('The reason that the bank gives.', s.string(500))),
});

/** One year (rule X5). */
export const ADVANCE_SECONDS_MAX = 31_536_000;
export const advanceBody = s.accepting({
  seconds: s.integer(1, ADVANCE_SECONDS_MAX, 'The number of seconds to advance the clock.'),
});
export const clockSchema = s.exactly({
  now: s.described('The account time.', s.timestamp),
  offset_seconds: s.described('The number of seconds that account time is ahead of real time.', s.anyInteger),
});
export const flushSchema = s.exactly({
  pending: s.described('The number of deliveries that are due or held back.', s.anyInteger),
});

export const sandboxSettingsBody = (switches: readonly SandboxSwitch[]) =>
  s.accepting(
    Object.fromEntries(switches.map(({ apiName, schema }) => [apiName, s.optional(s.declaredValue(schema))])),
  );
export const sandboxSettingsSchema = (switches: readonly SandboxSwitch[]) =>
  s.exactly(
    Object.fromEntries(
      switches.map(({ apiName, schema, shownSchema = schema }) => [apiName, s.declaredValue(shownSchema)]),
    ),
  );
