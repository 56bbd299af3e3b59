// Stored format of account events.
import {
  flag,
  integer,
  listOf,
  money,
  nullable,
  oneOf,
  record,
  type Serde,
  type SerdeTable,
  serdeOf,
  text,
  time,
} from '../kernel/serde.ts';
import type { Fee, FeePair, FeeSchedule } from '../transaction/fees.ts';
import type { AccountEvent, AccountSettings, SandboxSettings } from './account.ts';

const fee = record<Fee>({ percentBps: integer, fixed: money });
const pair = record<FeePair>({ provider: fee, platform: fee });
const perMethod = <T>(shape: T) => ({
  PIX: shape,
  CREDIT_CARD: shape,
  MBWAY: shape,
  MULTIBANCO: shape,
  BOLETO: shape,
  CRYPTO: shape,
});
const settings = record<AccountSettings>({
  fees: record<FeeSchedule>(perMethod(pair)),
  holdDays: record<AccountSettings['holdDays']>(perMethod(integer)),
  chargeWindowSeconds: integer,
  merchantName: text(),
  taxId: nullable(text()),
  receiverName: text(),
  receiverCity: text(),
  logo: nullable(text()),
  color: nullable(text()),
  velocity: record<AccountSettings['velocity']>({ customerPerHour: integer, accountPerHour: integer }),
  refundVelocity: record<AccountSettings['refundVelocity']>({
    countPerHour: nullable(integer),
    sumPerHour: nullable(money),
  }),
  rateLimitPerMinute: nullable(integer),
  cashoutDestinations: nullable(listOf(text())),
  disputeNotifications: flag,
});
/** A merchant may be a person. */
const PERSONAL_SETTINGS = [
  'settings.merchantName',
  'settings.taxId',
  'settings.receiverName',
  'settings.cashoutDestinations',
];
const sandbox = record<SandboxSettings>({
  autoConfirmRefunds: flag,
  rateLimitPerMinute: nullable(integer),
  disputeNotifications: flag,
});

export const accountEventTable: SerdeTable<AccountEvent> = {
  AccountOpened: {
    version: 1,
    shape: record({ accountId: text(), name: text(), email: text(), idSeed: text(), settings, at: time }),
    personal: ['name', 'email', ...PERSONAL_SETTINGS],
  },
  AccountSettingsChanged: {
    version: 1,
    shape: record({ settings, at: time }),
    personal: PERSONAL_SETTINGS,
  },
  AccountSandboxSettingsChanged: { version: 1, shape: record({ sandbox, at: time }), personal: [] },
  AccountOverrideSecretRotated: {
    version: 1,
    shape: record({ mode: oneOf('test', 'live'), version: integer, at: time }),
    personal: [],
  },
  AccountSuspended: { version: 1, shape: record({ at: time }), personal: [] },
  AccountReopened: { version: 1, shape: record({ at: time }), personal: [] },
  AccountTestClockAdvanced: { version: 1, shape: record({ seconds: integer, from: time, to: time }), personal: [] },
};
export const accountSerde: Serde<AccountEvent> = serdeOf<AccountEvent>(accountEventTable);
