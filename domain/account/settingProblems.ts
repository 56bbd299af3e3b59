// Bounds of account settings, and the problems of settings outside them.
import { PAYMENT_METHODS } from '../charge/methods.ts';
import { outside } from '../kernel/accountSetting.ts';
import type { Problem } from '../kernel/rejection.ts';
import { CITY_MAX, foldToAscii, NAME_MAX } from '../pix/brCode.ts';
import { isStrictTaxId } from '../pix/taxId.ts';
import type { Fee } from '../transaction/fees.ts';
import type { OwnSettings } from './account.ts';

/** Inclusive bounds. */
export const SETTING_BOUNDS = {
  customerPerHour: [1, 100_000],
  accountPerHour: [1, 1_000_000],
  holdDays: [0, 365],
  chargeWindowSeconds: [60, 86_400],
  feeBps: [0, 10_000],
  feeFixed: [0, 10_000_000],
  merchantName: [1, 200],
} as const;

const B = SETTING_BOUNDS;

/** Returns the problems of all the account's own settings, changed or not. */
export const settingProblems = (settings: OwnSettings): readonly Problem[] => {
  const { velocity, holdDays, fees } = settings;
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
    ...unless(settings.color === null || COLOR.test(settings.color), 'color', 'must be a color such as #1a7f5c'),
    ...outside('velocity.customerPerHour', velocity.customerPerHour, B.customerPerHour),
    ...outside('velocity.accountPerHour', velocity.accountPerHour, B.accountPerHour),
  ];
};

const COLOR = /^#[0-9a-f]{6}$/;
/** Control characters, lone surrogates, line separators and direction characters. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

const unless = (holds: boolean, param: string, message: string): readonly Problem[] =>
  holds ? [] : [{ param, message }];

const feeProblems = (param: string, { percentBps, fixed }: Fee): readonly Problem[] => [
  ...outside(`${param}.percentBps`, percentBps, B.feeBps),
  ...outside(`${param}.fixed`, fixed, B.feeFixed),
];

const nameProblems = (param: string, name: string): readonly Problem[] => {
  const [min, max] = B.merchantName;
  return unless(
    name.length >= min && name.length <= max && name === name.trim() && !UNPRINTABLE.test(name),
    param,
    `must be one line of ${min} to ${max} characters without leading or trailing spaces`,
  );
};

const receiverProblems = (param: string, text: string, max: number): readonly Problem[] => {
  const folded = text.length > B.merchantName[1] ? '' : foldToAscii(text, Number.POSITIVE_INFINITY);
  return unless(
    folded.length >= 1 && folded.length <= max,
    param,
    `must have 1 to ${max} characters after accents and other non-ASCII characters are removed`,
  );
};
