// Requests and responses of the sandbox (rules X).
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

/** How the bank decides on money that leaves: a refund or a payout. */
export const bankPaysBody = accepting({
  late: optional(described('The bank pays it even if it refused it before: operators are alerted.', boolean)),
});
export const bankFailsBody = accepting({ reason: optional(described('The bank’s.', string(500))) });

/** One year (rule X5). */
const ADVANCE_SECONDS_MAX = 31_536_000;
export const advanceBody = accepting({ seconds: integer(1, ADVANCE_SECONDS_MAX, 'How far.') });
export const clockSchema = exactly({
  now: described('Account time.', timestamp),
  offset_seconds: described('How far it is ahead of real time.', anyInteger),
});
export const flushSchema = exactly({ pending: described('Deliveries that are due or held back.', anyInteger) });

const { switches } = DECLARED_SETTINGS;
export const sandboxSettingsBody = accepting(
  Object.fromEntries(switches.map(({ apiName, schema }) => [apiName, optional(declaredValue(schema))])),
);
export const sandboxSettingsSchema = exactly(
  Object.fromEntries(
    switches.map(({ apiName, schema, shownSchema = schema }) => [apiName, declaredValue(shownSchema)]),
  ),
);
