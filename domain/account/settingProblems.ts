// Bounds of what an account may agree, and what is wrong with a setting beyond them.
import { PAYMENT_METHODS } from '../charge/methods.ts';
import { AMOUNT_MAX } from '../kernel/money.ts';
import type { Problem } from '../kernel/rejection.ts';
import { CITY_MAX, foldToAscii, NAME_MAX } from '../pix/brCode.ts';
import { isPixKey } from '../pix/pixKey.ts';
import { isStrictTaxId } from '../pix/taxId.ts';
import type { Fee } from '../transaction/fees.ts';
import type { AccountSettings } from './account.ts';

/** Bounds, both included. */
export const SETTING_BOUNDS = {
  velocityPerHour: [1, 100_000],
  refundsPerHour: [0, 100_000],
  refundSumPerHour: [0, AMOUNT_MAX],
  payoutCount: [0, 100_000],
  payoutSum: [0, AMOUNT_MAX],
  payoutApprovalAbove: [0, AMOUNT_MAX],
  rateLimitPerMinute: [0, 1_000_000_000],
  holdDays: [0, 365],
  chargeWindowSeconds: [60, 86_400],
  feeBps: [0, 10_000],
  feeFixed: [0, 10_000_000],
  merchantName: [1, 200],
  // All settings stand in each event that changes one, and an event is below 32 kB.
  cashoutDestinations: [0, 300],
} as const;
type Bounds = (typeof SETTING_BOUNDS)[keyof typeof SETTING_BOUNDS];

const B = SETTING_BOUNDS;

/** Every setting is judged, those that stay included. */
export const settingProblems = (settings: AccountSettings): readonly Problem[] => {
  const { velocity, refundVelocity, holdDays, fees } = settings;
  return [
    ...PAYMENT_METHODS.flatMap((method) => [
      ...feeProblems(`fees.${method}.provider`, fees[method].provider),
      ...feeProblems(`fees.${method}.platform`, fees[method].platform),
      ...outside(`holdDays.${method}`, holdDays[method], B.holdDays),
    ]),
    ...outside('chargeWindowSeconds', settings.chargeWindowSeconds, B.chargeWindowSeconds),
    ...nameProblems('merchantName', settings.merchantName),
    ...unless(settings.taxId === null || isStrictTaxId(settings.taxId), 'taxId', 'must be a valid CPF or CNPJ'),
    ...receiverProblems('receiverName', settings.receiverName, NAME_MAX),
    ...receiverProblems('receiverCity', settings.receiverCity, CITY_MAX),
    ...unless(settings.color === null || COLOR.test(settings.color), 'color', 'must be like #1a7f5c'),
    ...outside('velocity.customerPerHour', velocity.customerPerHour, B.velocityPerHour),
    ...outside('velocity.accountPerHour', velocity.accountPerHour, B.velocityPerHour),
    ...outside('refundVelocity.countPerHour', refundVelocity.countPerHour ?? 0, B.refundsPerHour),
    ...outside('refundVelocity.sumPerHour', refundVelocity.sumPerHour ?? 0, B.refundSumPerHour),
    ...outside('payoutCount', settings.payoutCount ?? 0, B.payoutCount),
    ...outside('payoutSum', settings.payoutSum ?? 0, B.payoutSum),
    ...outside('payoutApprovalAbove', settings.payoutApprovalAbove ?? 0, B.payoutApprovalAbove),
    ...outside('rateLimitPerMinute', settings.rateLimitPerMinute ?? 0, B.rateLimitPerMinute),
    ...destinationProblems(settings.cashoutDestinations ?? []),
  ];
};

const COLOR = /^#[0-9a-f]{6}$/;
/** Breaks a line, hides what stands beside it, or is no character at all. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

const unless = (holds: boolean, param: string, message: string): readonly Problem[] =>
  holds ? [] : [{ param, message }];

const outside = (param: string, value: number, [min, max]: Bounds): readonly Problem[] =>
  unless(
    Number.isInteger(value) && value >= min && value <= max,
    param,
    `must be a whole number from ${min} to ${max}`,
  );

const feeProblems = (param: string, { percentBps, fixed }: Fee): readonly Problem[] => [
  ...outside(`${param}.percentBps`, percentBps, B.feeBps),
  ...outside(`${param}.fixed`, fixed, B.feeFixed),
];

const nameProblems = (param: string, name: string): readonly Problem[] => {
  const [min, max] = B.merchantName;
  return unless(
    name.length >= min && name.length <= max && name === name.trim() && !UNPRINTABLE.test(name),
    param,
    `must have ${min} to ${max} characters on one line, without spaces around them`,
  );
};

const receiverProblems = (param: string, text: string, max: number): readonly Problem[] => {
  const folded = text.length > B.merchantName[1] ? '' : foldToAscii(text, Number.POSITIVE_INFINITY);
  return unless(
    folded.length >= 1 && folded.length <= max,
    param,
    `must have 1 to ${max} characters once its accents and all that is not ASCII are gone`,
  );
};

const destinationProblems = (keys: readonly string[]): readonly Problem[] => {
  const param = 'cashoutDestinations';
  const max = B.cashoutDestinations[1];
  if (keys.length > max) return [{ param, message: `must be at most ${max} Pix keys` }];
  const wrong = keys.find((key) => !isPixKey(key));
  return unless(wrong === undefined, param, `must be Pix keys as the directory holds them, not "${wrong}"`);
};
