// The settings that every account has, declared like those of capabilities. Operators agree them with the merchant (rules E6, M1, M2, O2,
// O3).
import { PAYMENT_METHODS, type PaymentMethod } from '../charge/methods.ts';
import { accountSetting, type Bounds, notLike, outside, wholeNumber } from '../kernel/accountSetting.ts';
import { isRejection, type Problem, type Rejection } from '../kernel/rejection.ts';
import { integer, money, nullable, record, text } from '../kernel/serde.ts';
import { CITY_MAX, foldToAscii, NAME_MAX } from '../pix/brCode.ts';
import { isStrictTaxId, taxIdOf } from '../pix/taxId.ts';
import { DEFAULT_FEES, type Fee, type FeePair, type FeeSchedule } from '../transaction/fees.ts';

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

// --- Schemas ---

const wholeSchema = ([minimum, maximum]: Bounds, description: string) =>
  ({ type: 'integer', minimum, maximum, description }) as const;
const textSchema = (description: string) => ({ type: 'string', maxLength: B.merchantName[1], description }) as const;
const textOrNull = (maxLength: number, description: string) =>
  ({ type: ['string', 'null'], maxLength, description }) as const;
/** A group, whose parts can change separately. */
const groupSchema = <Parts extends object>(properties: Parts, description: string) =>
  ({ type: 'object', properties, additionalProperties: false, description }) as const;

// --- Values by method. An operator types `PIX=…,BOLETO=…`. ---

const perMethod = <T>(value: T) =>
  Object.fromEntries(PAYMENT_METHODS.map((method) => [method, value])) as { readonly [M in PaymentMethod]: T };
const isMethod = (name: string): boolean => (PAYMENT_METHODS as readonly string[]).includes(name);

/** Returns the first rejection among the parts, or the parts. */
const unlessRejected = <T extends object>(parts: T): T | Rejection => Object.values(parts).find(isRejection) ?? parts;

const byMethod = (example: string, read: (text: string) => unknown) => (typed: string) => {
  const pairs = typed.split(',').map((pair) => {
    const [method = '', value = ''] = pair.split('=').map((part) => part.trim());
    const of = isMethod(method) ? read(value) : notLike(`${example}, with ${PAYMENT_METHODS.join(', ')}`, pair);
    return [method, of] as const;
  });
  return unlessRejected(Object.fromEntries(pairs));
};

// --- Fees. An operator types `0+10/100+0`: the provider's and the platform's, each in basis points plus minor units. ---

const FEES_EXAMPLE = 'PIX=0+10/100+0';

const feeOf = (typed: string) => {
  const [bps, fixed, ...rest] = typed.split('+').map((part) => part.trim());
  if (bps === undefined || fixed === undefined || rest.length > 0) return notLike(FEES_EXAMPLE, typed);
  return unlessRejected({ percentBps: wholeNumber(B.feeBps)(bps), fixed: wholeNumber(B.feeFixed)(fixed) });
};
/** An empty side stays unchanged. */
const feePairOf = (typed: string) => {
  const [provider, platform, ...rest] = typed.split('/').map((part) => part.trim());
  if (provider === undefined || platform === undefined || rest.length > 0) return notLike(FEES_EXAMPLE, typed);
  return unlessRejected({
    ...(provider !== '' && { provider: feeOf(provider) }),
    ...(platform !== '' && { platform: feeOf(platform) }),
  });
};
const feePairText = ({ provider, platform }: FeePair): string =>
  [provider, platform].map(({ percentBps, fixed }) => `${percentBps}+${fixed}`).join('/');

const fee = record<Fee>({ percentBps: integer, fixed: money });
const feeSchema = {
  ...groupSchema(
    {
      percentBps: wholeSchema(B.feeBps, 'The variable part, in basis points of the amount.'),
      fixed: wholeSchema(B.feeFixed, 'The fixed part, in minor units.'),
    },
    'The fee of one side.',
  ),
  required: ['percentBps', 'fixed'],
};
const feeProblems = (param: string, { percentBps, fixed }: Fee): readonly Problem[] => [
  ...outside(`${param}.percentBps`, percentBps, B.feeBps),
  ...outside(`${param}.fixed`, fixed, B.feeFixed),
];

/** The provider's and the platform's fee, per method (M1). */
const fees = accountSetting<FeeSchedule>({
  name: 'fees',
  initial: DEFAULT_FEES,
  shape: record<FeeSchedule>(perMethod(record<FeePair>({ provider: fee, platform: fee }))),
  schema: groupSchema(
    perMethod(groupSchema({ provider: feeSchema, platform: feeSchema }, 'The fees of the method.')),
    'Fees by method. `provider` and `platform` change independently.',
  ),
  problems: (all) =>
    PAYMENT_METHODS.flatMap((method) => [
      ...feeProblems(`fees.${method}.provider`, all[method].provider),
      ...feeProblems(`fees.${method}.platform`, all[method].platform),
    ]),
  options: {
    fees: {
      description:
        'provider and platform fee by method, each in basis points plus minor units: PIX=0+10/100+0; others stay unchanged',
      read: byMethod(FEES_EXAMPLE, feePairOf),
    },
  },
  line: (all) => ['fees', PAYMENT_METHODS.map((method) => `${method}=${feePairText(all[method])}`).join(' ')],
});

// --- Texts. An invalid one is passed on, so that it is rejected together with other invalid settings. ---

/** Control characters, lone surrogates, line separators and direction characters. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
const COLOR = /^#[0-9a-f]{6}$/;

const unless = (holds: boolean, param: string, message: string): readonly Problem[] =>
  holds ? [] : [{ param, message }];

const merchantName = accountSetting<string>({
  name: 'merchantName',
  initial: '',
  shape: text(),
  schema: textSchema('The name of the merchant that payers see.'),
  problems: (name) => {
    const [min, max] = B.merchantName;
    return unless(
      name.length >= min && name.length <= max && name === name.trim() && !UNPRINTABLE.test(name),
      'merchantName',
      `must be one line of ${min} to ${max} characters without leading or trailing spaces`,
    );
  },
  options: {
    name: {
      description: 'the merchant’s name, shown to payers on the checkout and on documents',
      read: (name) => name,
    },
  },
  line: (name) => ['name', name],
});

/** CPF or CNPJ without punctuation. If null, no document shows one. */
const taxId = accountSetting<string | null>({
  name: 'taxId',
  initial: null,
  shape: nullable(text()),
  schema: textOrNull(32, 'CPF or CNPJ; null for none.'),
  sent: (typed) => (typeof typed === 'string' ? (taxIdOf(typed) ?? typed) : typed),
  problems: (id) => unless(id === null || isStrictTaxId(id), 'taxId', 'must be a valid CPF or CNPJ'),
  options: {
    'tax-id': {
      description: 'the merchant’s CNPJ or CPF, shown on documents, or none',
      read: (typed) => (typed === 'none' ? null : typed),
    },
  },
  line: (id) => ['tax id', id ?? 'none'],
});

/** A field of the receiver on the BR code: up to `max` characters once folded to ASCII. */
const receiver = (
  part: 'Name' | 'City',
  max: number,
  initial: string,
  shown: Pick<Parameters<typeof accountSetting<string>>[0], 'line'>,
) => {
  const name = `receiver${part}` as const;
  return accountSetting<string>({
    name,
    initial,
    shape: text(),
    schema: textSchema(`The receiver’s ${part.toLowerCase()} in Pix codes.`),
    problems: (typed) => {
      const folded = typed.length > B.merchantName[1] ? '' : foldToAscii(typed, Number.POSITIVE_INFINITY);
      return unless(
        folded.length >= 1 && folded.length <= max,
        name,
        `must have 1 to ${max} characters after accents and other non-ASCII characters are removed`,
      );
    },
    options: {
      [`receiver-${part.toLowerCase()}`]: {
        description: `the receiver’s ${part.toLowerCase()} in the Pix code: up to ${max} characters, no accents`,
        read: (typed) => typed,
      },
    },
    ...shown,
  });
};
const receiverCity = receiver('City', CITY_MAX, 'SAO PAULO', {});
const receiverName = receiver('Name', NAME_MAX, '', {
  line: (name, settings) => ['receiver', `${name}, ${receiverCity.of(settings)}`],
});

/** SHA-256 of the logo on the checkout and on receipts, 64 hex digits; null if there is no logo. */
const logo = accountSetting<string | null>({
  name: 'logo',
  initial: null,
  shape: nullable(text()),
  schema: textOrNull(64, 'SHA-256 hash of the image; null if there is no logo.'),
  isUploaded: true,
  options: {},
  line: (hash) => ['logo', hash ?? 'none'],
});

/** Color of the checkout's buttons and links as `#rrggbb`; null for Quita's color. */
const color = accountSetting<string | null>({
  name: 'color',
  initial: null,
  shape: nullable(text()),
  schema: textOrNull(
    7,
    'Color of buttons and links on the checkout page, in lower case as #rrggbb; null for the default color.',
  ),
  isManagers: true,
  problems: (code) => unless(code === null || COLOR.test(code), 'color', 'must be a color such as #1a7f5c'),
  options: {
    color: {
      description: 'colour of the checkout’s buttons and links, like #1a7f5c, or none for Quita’s default',
      read: (typed) => (typed === 'none' ? null : typed.toLowerCase()),
    },
  },
  line: (code) => ['colour', code ?? 'Quita’s'],
});

// --- Numbers ---

/** Days that settled money stays pending, per method (M2). */
const holdDays = accountSetting<{ readonly [Method in PaymentMethod]: number }>({
  name: 'holdDays',
  initial: { PIX: 0, CREDIT_CARD: 2, MBWAY: 1, MULTIBANCO: 1, BOLETO: 1, CRYPTO: 1 },
  shape: record<{ readonly [Method in PaymentMethod]: number }>(perMethod(integer)),
  schema: groupSchema(perMethod(wholeSchema(B.holdDays, 'Days.')), 'Days that settled money stays pending, by method.'),
  problems: (days) => PAYMENT_METHODS.flatMap((method) => outside(`holdDays.${method}`, days[method], B.holdDays)),
  options: {
    'hold-days': {
      description: 'days that settled money stays pending, by method: PIX=0,BOLETO=2; others stay unchanged',
      read: byMethod('PIX=0,BOLETO=2', wholeNumber(B.holdDays)),
    },
  },
  line: (days) => ['hold days', PAYMENT_METHODS.map((method) => `${method}=${days[method]}`).join(' ')],
});

/** Default lifetime of a charge in seconds. */
const chargeWindowSeconds = accountSetting<number>({
  name: 'chargeWindowSeconds',
  initial: 3600,
  shape: integer,
  schema: wholeSchema(B.chargeWindowSeconds, 'The default lifetime of a charge, in seconds.'),
  isManagers: true,
  problems: (seconds) => outside('chargeWindowSeconds', seconds, B.chargeWindowSeconds),
  options: {
    'charge-window': {
      description: 'default lifetime of a charge, in seconds',
      read: wholeNumber(B.chargeWindowSeconds),
    },
  },
  line: (seconds) => ['charge window', `${seconds} s`],
});

interface Velocity {
  readonly customerPerHour: number;
  readonly accountPerHour: number;
}
/** Maximum of live charges per hour, per customer document and per account (E6). */
const velocity = accountSetting<Velocity>({
  name: 'velocity',
  initial: { customerPerHour: 20, accountPerHour: 1_000 },
  shape: record<Velocity>({ customerPerHour: integer, accountPerHour: integer }),
  schema: groupSchema(
    {
      customerPerHour: wholeSchema(B.customerPerHour, 'Per customer document.'),
      accountPerHour: wholeSchema(B.accountPerHour, 'In total.'),
    },
    'Maximum of live charges per hour.',
  ),
  problems: ({ customerPerHour, accountPerHour }) => [
    ...outside('velocity.customerPerHour', customerPerHour, B.customerPerHour),
    ...outside('velocity.accountPerHour', accountPerHour, B.accountPerHour),
  ],
  options: {
    'velocity-customer': {
      description: 'maximum live charges per hour for one customer document',
      part: 'customerPerHour',
      read: wholeNumber(B.customerPerHour),
    },
    'velocity-account': {
      description: 'maximum live charges per hour for the whole account',
      part: 'accountPerHour',
      read: wholeNumber(B.accountPerHour),
    },
  },
  line: ({ customerPerHour, accountPerHour }) => [
    'velocity',
    `${customerPerHour} per hour and customer, ${accountPerHour} per hour in total`,
  ],
});

/** By name, in the order in which events hold them. */
export const OWN_SETTINGS = {
  fees,
  holdDays,
  chargeWindowSeconds,
  merchantName,
  taxId,
  receiverName,
  receiverCity,
  logo,
  color,
  velocity,
};
export type OwnSettings = {
  readonly [Name in keyof typeof OWN_SETTINGS]: ReturnType<(typeof OWN_SETTINGS)[Name]['of']>;
};
