// The account as its members see it, in the words of `account settings --json`.
import { ACCOUNT, type AccountSettings } from '../../../domain/account/account.ts';
import { SETTING_BOUNDS } from '../../../domain/account/settingProblems.ts';
import { PAYMENT_METHODS } from '../../../domain/charge/methods.ts';
import {
  accepting,
  anyInteger,
  anyJson,
  boolean,
  described,
  exactly,
  id,
  integer,
  listOf,
  optional,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';
import { OWNERS_SETTINGS, refundGuardFields } from './refundGuards.ts';

const perMethod = <Schema>(schema: Schema) =>
  Object.fromEntries(PAYMENT_METHODS.map((method) => [method, schema])) as {
    readonly [Method in (typeof PAYMENT_METHODS)[number]]: Schema;
  };
const fee = exactly({
  percentBps: described('Basis points of the amount.', anyInteger),
  fixed: described('Minor units on top.', anyInteger),
});

export const settingsSchema = exactly({
  fees: exactly(perMethod(exactly({ provider: fee, platform: fee }))),
  holdDays: exactly(perMethod(anyInteger)),
  chargeWindowSeconds: anyInteger,
  merchantName: described('As payers see the merchant.', string()),
  taxId: described('CPF or CNPJ; null: not known.', orNull(string())),
  receiverName: described('In the Pix code, as is the city.', string()),
  receiverCity: string(),
  logo: described('SHA-256 of the image; null: none.', orNull(string())),
  color: described('#rrggbb of the checkout’s buttons and links; null: Quita’s.', orNull(string())),
  velocity: exactly({ customerPerHour: anyInteger, accountPerHour: anyInteger }),
  refundVelocity: exactly({ countPerHour: orNull(anyInteger), sumPerHour: orNull(anyInteger) }),
  payoutCount: described('Live payouts an hour; null: any.', orNull(anyInteger)),
  payoutSum: described('Sum of live payouts an hour, in minor units; null: any.', orNull(anyInteger)),
  payoutApprovalAbove: described(
    'Payouts of more than this wait for an approval; null: none does.',
    orNull(anyInteger),
  ),
  rateLimitPerMinute: described('Of each key; null: the deployment’s; 0: any number.', orNull(anyInteger)),
  cashoutDestinations: described(
    'Pix keys that live cash-outs may go to, beside the payer’s own document; null: any. New accounts have an empty list.',
    orNull(listOf(string())),
  ),
  disputeNotifications: described('Whether outcomes of live disputes are published as webhooks.', boolean),
});

export const accountProperties = {
  id: id(ACCOUNT.idPrefix),
  name: described('As the account was opened.', string()),
  email: string(),
  createdAt: timestamp,
  logoUrl: described('Where the logo is served; null: there is none.', orNull(string())),
  settings: settingsSchema,
};
export const accountSchema = exactly(accountProperties);

/** What a merchant changes itself. */
const OWN = ['color', 'chargeWindowSeconds', ...OWNERS_SETTINGS] as const;
type OperatorsOwn = Exclude<keyof AccountSettings, (typeof OWN)[number]>;
const REFUSED = optional(described('Only the operator of the platform changes it: 403 `role_required`.', anyJson));
/** Named, so that they are refused and not ignored. */
const OPERATORS_OWN: { readonly [Name in OperatorsOwn]: typeof REFUSED } = {
  fees: REFUSED,
  holdDays: REFUSED,
  merchantName: REFUSED,
  taxId: REFUSED,
  receiverName: REFUSED,
  receiverCity: REFUSED,
  logo: optional(described('PUT /v1/account/logo changes it; here it is 403 `role_required`.', anyJson)),
  velocity: REFUSED,
  rateLimitPerMinute: REFUSED,
  disputeNotifications: REFUSED,
};
export const OPERATORS_SETTINGS = Object.keys(OPERATORS_OWN) as readonly OperatorsOwn[];

export const settingsBody = accepting({
  color: optional(described('Lower-case #rrggbb; null: Quita’s.', orNull(string(7)))),
  chargeWindowSeconds: optional(integer(...SETTING_BOUNDS.chargeWindowSeconds)),
  ...refundGuardFields(' Only an OWNER changes it.'),
  ...OPERATORS_OWN,
});
