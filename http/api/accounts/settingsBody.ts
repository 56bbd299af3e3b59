// The body with which an operator changes an account's settings; omitted settings keep their values (rules O1, O2).
import type { Static } from 'typebox';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import { SETTING_BOUNDS } from '../../../domain/account/settingProblems.ts';
import type { SettingsChange } from '../../../domain/account/settings.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { taxIdOf } from '../../../domain/pix/taxId.ts';
import * as s from '../../kernel/jsonSchema.ts';
import type { Frozen } from '../../kernel/route.ts';
import { changesOf, perMethod } from './accountSchema.ts';

const B = SETTING_BOUNDS;

const fee = s.exactly({
  percentBps: s.integer(...B.feeBps, 'The variable part, in basis points of the amount.'),
  fixed: s.integer(...B.feeFixed, 'The fixed part, in minor units.'),
});
const feePair = s.optional(s.exactly({ provider: s.optional(fee), platform: s.optional(fee) }));

/** Rejects unknown settings: a mistyped name must not look like a successful change. */
export const operatorsSettingsBody = s.exactly({
  fees: s.optional(
    s.described('Fees by method. `provider` and `platform` change independently.', s.exactly(perMethod(feePair))),
  ),
  holdDays: s.optional(s.exactly(perMethod(s.optional(s.integer(...B.holdDays))))),
  chargeWindowSeconds: s.optional(s.integer(...B.chargeWindowSeconds)),
  merchantName: s.optional(s.string(B.merchantName[1])),
  taxId: s.optional(s.described('CPF or CNPJ; null for none.', s.orNull(s.string(32)))),
  receiverName: s.optional(s.string(B.merchantName[1])),
  receiverCity: s.optional(s.string(B.merchantName[1])),
  color: s.optional(
    s.described('A color in lower case, as #rrggbb; null for the default color.', s.orNull(s.string(7))),
  ),
  velocity: s.optional(
    s.exactly({
      customerPerHour: s.optional(s.integer(...B.velocityPerHour)),
      accountPerHour: s.optional(s.integer(...B.velocityPerHour)),
    }),
  ),
  ...changesOf(DECLARED_SETTINGS.settings, ''),
});

type Body = Frozen<Static<typeof operatorsSettingsBody>>;
type BodyFee = NonNullable<NonNullable<NonNullable<Body['fees']>['PIX']>['provider']>;

const feeOf = ({ percentBps, fixed }: BodyFee) => ({ percentBps, fixed: toMinor(fixed) });

/** Returns the requested change of settings. */
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
  // An invalid tax id is passed on unchanged, so that it is rejected together with other invalid values.
  ...(taxId !== undefined && { taxId: taxId && (taxIdOf(taxId) ?? taxId) }),
});
