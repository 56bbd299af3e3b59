// Request and response schemas of the sandbox (rules X).
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import {
  accepting,
  anyInteger,
  boolean,
  declaredValue,
  described,
  exactly,
  integer,
  optional,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';

/** The bodies with which the sandbox bank pays or fails a refund or a payout. */
export const bankPaysBody = accepting({
  late: optional(described('Whether the bank pays even if it refused before. Operators are alerted.', boolean)),
});
export const bankFailsBody = accepting({ reason: optional(described('The reason that the bank gives.', string(500))) });

/** One year (rule X5). */
const ADVANCE_SECONDS_MAX = 31_536_000;
export const advanceBody = accepting({
  seconds: integer(1, ADVANCE_SECONDS_MAX, 'The number of seconds to advance the clock.'),
});
export const clockSchema = exactly({
  now: described('The account time.', timestamp),
  offset_seconds: described('The number of seconds that account time is ahead of real time.', anyInteger),
});
export const flushSchema = exactly({
  pending: described('The number of deliveries that are due or held back.', anyInteger),
});

const { switches } = DECLARED_SETTINGS;
export const sandboxSettingsBody = accepting(
  Object.fromEntries(switches.map(({ apiName, schema }) => [apiName, optional(declaredValue(schema))])),
);
export const sandboxSettingsSchema = exactly(
  Object.fromEntries(
    switches.map(({ apiName, schema, shownSchema = schema }) => [apiName, declaredValue(shownSchema)]),
  ),
);
