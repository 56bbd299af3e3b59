// A merchant's account: the seed of its ids, its settings, and the clock of its test mode.

import { type AccountSetting, completed, type StoredValues } from '../kernel/accountSetting.ts';
import { aggregate } from '../kernel/aggregate.ts';
import { type Decider, type Decision, type Fact, ignore } from '../kernel/decider.ts';
import { partition } from '../kernel/eventGroups.ts';
import type { AccountId, Mode } from '../kernel/ids.ts';
import { reject, SENT_BEFORE } from '../kernel/rejection.ts';
import { freeForm, integer, oneOf, record, type Serde, type Shape, serdeOf, text, time } from '../kernel/serde.ts';
import { addSeconds, fromMillis, type Timestamp } from '../kernel/time.ts';
import { EMPTY_TEXT, foldToAscii, NAME_MAX } from '../pix/brCode.ts';
import { OWN_SETTINGS, type OwnSettings } from './ownSettings.ts';

/** All settings: the account's own and those that capabilities declare. */
export interface AccountSettings extends OwnSettings, StoredValues {}

/** The sandbox's behavior for the account's test keys, by switch name (X3). Capabilities declare the switches. */
export type SandboxSettings = StoredValues;

/** Returns the settings of a new account. */
export const defaultSettings = (name: string, declared: readonly AccountSetting[]): AccountSettings =>
  agreedSettings({ merchantName: name, receiverName: foldToAscii(name, NAME_MAX) || EMPTY_TEXT }, declared);

/** The account was opened. Its seed never changes, because ids derived from it are capabilities (architecture §4). */
export type AccountOpened = Fact<
  'AccountOpened',
  {
    readonly accountId: AccountId;
    readonly name: string;
    readonly email: string;
    /** 32 random bytes in base64. */
    readonly idSeed: string;
    readonly settings: AccountSettings;
    readonly at: Timestamp;
  }
>;
/** The merchant moved the clock of the account's test mode forward (X5). `from` and `to` are account time. */
export type AccountTestClockAdvanced = Fact<
  'AccountTestClockAdvanced',
  { readonly seconds: number; readonly from: Timestamp; readonly to: Timestamp }
>;
/** The operator or the merchant changed settings. The event holds all settings after the change. */
export type AccountSettingsChanged = Fact<
  'AccountSettingsChanged',
  { readonly settings: AccountSettings; readonly at: Timestamp }
>;
/** The merchant changed how its sandbox behaves. The event holds all switches after the change. */
export type AccountSandboxSettingsChanged = Fact<
  'AccountSandboxSettingsChanged',
  { readonly sandbox: SandboxSettings; readonly at: Timestamp }
>;
/** The merchant rotated the secret that signs messages to payments' own URLs (W7). The event holds only its version, from 1. */
export type AccountOverrideSecretRotated = Fact<
  'AccountOverrideSecretRotated',
  { readonly mode: Mode; readonly version: number; readonly at: Timestamp }
>;
/** The operator suspended the account: keys and logins stop working and cash-outs wait. Payments in progress continue. */
export type AccountSuspended = Fact<'AccountSuspended', { readonly at: Timestamp }>;
/** The operator reopened the account: keys and logins work again and waiting cash-outs continue. */
export type AccountReopened = Fact<'AccountReopened', { readonly at: Timestamp }>;
export type AccountEvent =
  | AccountOpened
  | AccountSuspended
  | AccountReopened
  | AccountOverrideSecretRotated
  | AccountTestClockAdvanced
  | AccountSettingsChanged
  | AccountSandboxSettingsChanged;

/** A span of account time that the test clock skipped. Work that falls due inside it acts at its own due time (X5). */
interface SkippedSpan {
  readonly from: Timestamp;
  readonly to: Timestamp;
}
/** Older spans are dropped. Their work is done, because a drain ends before the next advance is answered. */
const SPANS_MAX = 1_000;
export type AccountState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'open';
      readonly accountId: AccountId;
      readonly name: string;
      readonly email: string;
      readonly idSeed: string;
      readonly settings: AccountSettings;
      readonly sandbox: SandboxSettings;
      readonly openedAt: Timestamp;
      /** null if the account is not suspended. */
      readonly suspendedAt: Timestamp | null;
      /** 0 for the initial secret, which is created automatically. */
      readonly overrideSecretVersion: { readonly [M in Mode]: number };
      readonly testClock: { readonly offsetSeconds: number; readonly skipped: readonly SkippedSpan[] };
    };
export type OpenAccount = Extract<AccountState, { status: 'open' }>;

const evolve = (state: AccountState, event: AccountEvent): AccountState => {
  switch (event.type) {
    case 'AccountOpened': {
      const { at: openedAt, ...opened } = event.data;
      const fresh = {
        suspendedAt: null,
        overrideSecretVersion: { test: 0, live: 0 },
        testClock: { offsetSeconds: 0, skipped: [] },
      };
      return { status: 'open', ...opened, sandbox: {}, openedAt, ...fresh };
    }
    case 'AccountTestClockAdvanced': {
      if (state.status !== 'open') return state;
      const { seconds, from, to } = event.data;
      const { offsetSeconds, skipped } = state.testClock;
      const latest = [...skipped, { from, to }].slice(-SPANS_MAX);
      return { ...state, testClock: { offsetSeconds: offsetSeconds + seconds, skipped: latest } };
    }
    case 'AccountSuspended':
      return state.status === 'open' ? { ...state, suspendedAt: event.data.at } : state;
    case 'AccountReopened':
      return state.status === 'open' ? { ...state, suspendedAt: null } : state;
    case 'AccountSettingsChanged':
      return state.status === 'open' ? { ...state, settings: event.data.settings } : state;
    case 'AccountSandboxSettingsChanged':
      return state.status === 'open' ? { ...state, sandbox: event.data.sandbox } : state;
    case 'AccountOverrideSecretRotated': {
      if (state.status !== 'open') return state;
      const { mode, version } = event.data;
      return { ...state, overrideSecretVersion: { ...state.overrideSecretVersion, [mode]: version } };
    }
    default:
      return ignore(state, event);
  }
};

export const account: Decider<AccountState, AccountEvent> = { initial: { status: 'absent' }, evolve };

/** Opens the account. No-op if it is already open: the first seed and settings are kept. */
export const openAccount =
  (
    opening: Omit<AccountOpened['data'], 'settings'>,
    declared: readonly AccountSetting[],
  ): Decision<AccountState, AccountEvent, 'opened' | 'already_open'> =>
  (state) =>
    state.status === 'open'
      ? { events: [], reply: 'already_open' }
      : {
          events: [{ type: 'AccountOpened', data: { ...opening, settings: defaultSettings(opening.name, declared) } }],
          reply: 'opened',
        };

/** Maximum lead of account time over real time: 100 years, so that every timestamp keeps its format. */
export const TEST_CLOCK_OFFSET_SECONDS_MAX = 100 * 366 * 86_400;

/**
 * Moves the test clock forward. `realNow` is real time. `seenOffset`: the offset that the user saw; null for any. Replies with the new
 * account time. Rejects with `invalid_request` a clock that has moved since it was seen, or that would be too far ahead.
 */
export const advanceTestClock =
  (
    seconds: number,
    realNow: Timestamp,
    seenOffset: number | null = null,
  ): Decision<AccountState, AccountEvent, { now: Timestamp; offsetSeconds: number }> =>
  (state) => {
    if (state.status !== 'open') throw new Error('the account was never opened');
    if (seenOffset !== null && seenOffset !== state.testClock.offsetSeconds) return SENT_BEFORE;
    const offsetSeconds = state.testClock.offsetSeconds + seconds;
    if (offsetSeconds > TEST_CLOCK_OFFSET_SECONDS_MAX)
      return reject('invalid_request', 'The test clock can be at most 100 years ahead.', { param: 'seconds' });
    const from = addSeconds(realNow, state.testClock.offsetSeconds);
    const to = addSeconds(from, seconds);
    return {
      events: [{ type: 'AccountTestClockAdvanced', data: { seconds, from, to } }],
      reply: { now: to, offsetSeconds },
    };
  };

/** Returns the account's time: real time in live mode, real time plus the offset in test mode (I4, X5). */
export const accountTime = (state: OpenAccount, mode: 'test' | 'live', realNowMs: number): Timestamp =>
  fromMillis(realNowMs + (mode === 'test' ? state.testClock.offsetSeconds * 1000 : 0));

/** Returns when work due at `dueAt` acts: at `dueAt` if the test clock jumped over it, otherwise now. */
export const actingTime = (
  state: OpenAccount,
  mode: 'test' | 'live',
  dueAt: Timestamp,
  realNowMs: number,
): Timestamp => (isJumpedOver(state, mode, dueAt) ? dueAt : accountTime(state, mode, realNowMs));

/** Returns whether the test clock jumped over this instant. */
export const isJumpedOver = (state: OpenAccount, mode: 'test' | 'live', at: Timestamp): boolean =>
  mode === 'test' && state.testClock.skipped.some(({ from, to }) => from < at && at <= to);

/**
 * Returns the instant at which the test clock left for the first jump after this instant, or null. Work that was due, but still under way
 * when the clock left, ends at that instant (X5). null if a jump passed over this instant.
 */
export const leftAt = (state: OpenAccount, mode: 'test' | 'live', at: Timestamp): Timestamp | null => {
  if (mode !== 'test' || isJumpedOver(state, mode, at)) return null;
  return state.testClock.skipped.find(({ from }) => at <= from)?.from ?? null;
};

/** Records that a secret of this version was stored. Replies `taken` if another rotation was faster: retry with a later version. */
export const rotateOverrideSecret =
  (mode: Mode, version: number, at: Timestamp): Decision<AccountState, AccountEvent, 'rotated' | 'taken'> =>
  (state) => {
    if (state.status !== 'open') throw new Error('the account was never opened');
    return state.overrideSecretVersion[mode] >= version
      ? { events: [], reply: 'taken' }
      : { events: [{ type: 'AccountOverrideSecretRotated', data: { mode, version, at } }], reply: 'rotated' };
  };

export const NO_ACCOUNT = reject('not_found', 'There is no such account.');

/** Suspends the account and replies with the time of suspension. No-op if it is already suspended. */
export const suspendAccount =
  (at: Timestamp): Decision<AccountState, AccountEvent, { readonly since: Timestamp }> =>
  (state) => {
    if (state.status !== 'open') return NO_ACCOUNT;
    return state.suspendedAt === null
      ? { events: [{ type: 'AccountSuspended', data: { at } }], reply: { since: at } }
      : { events: [], reply: { since: state.suspendedAt } };
  };

/** Reopens a suspended account. No-op if it is not suspended. */
export const reopenAccount =
  (at: Timestamp): Decision<AccountState, AccountEvent, 'reopened' | 'already_open'> =>
  (state) => {
    if (state.status !== 'open') return NO_ACCOUNT;
    return state.suspendedAt === null
      ? { events: [], reply: 'already_open' }
      : { events: [{ type: 'AccountReopened', data: { at } }], reply: 'reopened' };
  };

const own = record<OwnSettings>(
  Object.fromEntries(Object.values(OWN_SETTINGS).map(({ name, shape }) => [name, shape])) as {
    readonly [Name in keyof OwnSettings]: Shape<OwnSettings[Name]>;
  },
);
const othersOf = (all: unknown) =>
  Object.fromEntries(Object.entries(Object(all)).filter(([name]) => !Object.hasOwn(OWN_SETTINGS, name)));
/** Shape of the account's own settings. Settings that capabilities declare pass through unchanged. */
const settings: Shape<AccountSettings> = {
  encode: (value) => Object.assign({}, own.encode(value), othersOf(value)),
  decode: (value, path) => ({ ...own.decode(value, path), ...othersOf(value) }),
};

/** Returns all settings in the order of their declarations. Those that the account has never stored get their initial values. */
export const agreedSettings = (agreed: StoredValues, declared: readonly AccountSetting[]): AccountSettings =>
  completed(agreed, declared) as AccountSettings;

/** A merchant may be a natural person, so these fields are personal. */
const PERSONAL_SETTINGS = [
  'settings.merchantName',
  'settings.taxId',
  'settings.receiverName',
  'settings.cashoutDestinations',
];
const accountSerde: Serde<AccountEvent> = serdeOf<AccountEvent>({
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
  AccountSandboxSettingsChanged: {
    version: 1,
    shape: record({ sandbox: freeForm<SandboxSettings>(), at: time }),
    personal: [],
  },
  AccountOverrideSecretRotated: {
    version: 1,
    shape: record({ mode: oneOf('test', 'live'), version: integer, at: time }),
    personal: [],
  },
  AccountSuspended: { version: 1, shape: record({ at: time }), personal: [] },
  AccountReopened: { version: 1, shape: record({ at: time }), personal: [] },
  AccountTestClockAdvanced: { version: 1, shape: record({ seconds: integer, from: time, to: time }), personal: [] },
});

export const ACCOUNT = aggregate<AccountId>()({
  category: 'account',
  changesMax: 20_000,
  idPrefix: 'acct_',
  decider: account,
  serde: accountSerde,
  groups: partition<AccountEvent>()({
    standing: ['AccountOpened', 'AccountSuspended', 'AccountReopened'],
    settings: ['AccountSettingsChanged', 'AccountOverrideSecretRotated'],
    sandbox: ['AccountSandboxSettingsChanged', 'AccountTestClockAdvanced'],
  }),
  isRare: true,
});
