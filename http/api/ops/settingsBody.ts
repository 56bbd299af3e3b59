// What an operator changes of an account's settings, in the words in which they are shown; what is not sent stays (rules O1, O2).
import type { Static } from 'typebox';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import { SETTING_BOUNDS } from '../../../domain/account/settingProblems.ts';
import type { SettingsChange } from '../../../domain/account/settings.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { taxIdOf } from '../../../domain/pix/taxId.ts';
import { described, exactly, integer, optional, orNull, string } from '../../kernel/jsonSchema.ts';
import type { Frozen } from '../../kernel/route.ts';
import { changesOf, perMethod } from '../accounts/accountSchema.ts';

const B = SETTING_BOUNDS;

const fee = exactly({
  percentBps: integer(...B.feeBps, 'Basis points of the amount.'),
  fixed: integer(...B.feeFixed, 'Minor units on top.'),
});
const feePair = optional(exactly({ provider: optional(fee), platform: optional(fee) }));

/** Nothing else: a mistyped setting must not look as if it had been changed. */
export const operatorsSettingsBody = exactly({
  fees: optional(described('By method; each side by itself.', exactly(perMethod(feePair)))),
  holdDays: optional(exactly(perMethod(optional(integer(...B.holdDays))))),
  chargeWindowSeconds: optional(integer(...B.chargeWindowSeconds)),
  merchantName: optional(string(B.merchantName[1])),
  taxId: optional(described('CPF or CNPJ; null: none.', orNull(string(32)))),
  receiverName: optional(string(B.merchantName[1])),
  receiverCity: optional(string(B.merchantName[1])),
  color: optional(described('Lower-case #rrggbb; null: Quita’s.', orNull(string(7)))),
  velocity: optional(
    exactly({
      customerPerHour: optional(integer(...B.velocityPerHour)),
      accountPerHour: optional(integer(...B.velocityPerHour)),
    }),
  ),
  ...changesOf(DECLARED_SETTINGS.settings, ''),
});

type Body = Frozen<Static<typeof operatorsSettingsBody>>;
type BodyFee = NonNullable<NonNullable<NonNullable<Body['fees']>['PIX']>['provider']>;

const feeOf = ({ percentBps, fixed }: BodyFee) => ({ percentBps, fixed: toMinor(fixed) });

/** The change that the body asks for. */
export const operatorsChangeOf = ({ fees, taxId, ...rest }: Body): SettingsChange => ({
  ...rest,
  ...(fees && {
    fees: Object.fromEntries(
      Object.entries(fees).map(([method, { provider, platform }]) => [
        method,
        { ...(provider && { provider: feeOf(provider) }), ...(platform && { platform: feeOf(platform) }) },
      ]),
    ),
  }),
  // What is none goes on as it was sent, and is refused with all that is out of bounds.
  ...(taxId !== undefined && { taxId: taxId && (taxIdOf(taxId) ?? taxId) }),
});
