// Changing what an account has agreed, and how its sandbox behaves. What is not named stays.
import { PAYMENT_METHODS, type PaymentMethod } from '../charge/methods.ts';
import { type AccountSetting, completed, type StoredValues } from '../kernel/accountSetting.ts';
import type { Decision } from '../kernel/decider.ts';
import { reject } from '../kernel/rejection.ts';
import type { SandboxSwitch } from '../kernel/sandboxSwitch.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { Fee, FeePair, FeeSchedule } from '../transaction/fees.ts';
import {
  type AccountEvent,
  type AccountSettings,
  type AccountState,
  agreedSettings,
  type OwnSettings,
  type SandboxSettings,
} from './account.ts';
import { settingProblems } from './settingProblems.ts';

/** Of the settings that hold several values, those that are named; of a method's fees each side by itself. */
export type SettingsChange = Partial<Omit<OwnSettings, Grouped>> & {
  readonly [Group in Exclude<Grouped, 'fees'>]?: Partial<OwnSettings[Group]>;
} & { readonly fees?: { readonly [Method in PaymentMethod]?: Partial<FeePair> } } & StoredValues;
type Grouped = 'velocity' | 'holdDays' | 'fees';

const isSame = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Out of its bounds: `invalid_request` with the setting as its param. Already so: nothing. */
export const changeSettings =
  (
    change: SettingsChange,
    at: Timestamp,
    declared: readonly AccountSetting[],
  ): Decision<AccountState, AccountEvent, AccountSettings> =>
  (state) => {
    if (state.status !== 'open') throw new Error('settings of an account that was never opened');
    const before = agreedSettings(state.settings, declared);
    const settings = merged(before, change, declared);
    if (isSame(settings, before)) return { events: [], reply: before };
    const [problem] = [...settingProblems(settings), ...declared.flatMap(({ problemsOf }) => problemsOf(settings))];
    if (problem) return reject('invalid_request', `${problem.param} ${problem.message}`, { param: problem.param });
    return { events: [{ type: 'AccountSettingsChanged', data: { settings, at } }], reply: settings };
  };

/** Settings are compared as text. */
const inOrder = ({ percentBps, fixed }: Fee): Fee => ({ percentBps, fixed });

const merged = (
  before: AccountSettings,
  change: SettingsChange,
  declared: readonly AccountSetting[],
): AccountSettings => ({
  ...before,
  ...change,
  ...Object.fromEntries(
    declared.flatMap(({ name, after }) => (change[name] === undefined ? [] : [[name, after(before, change[name])]])),
  ),
  velocity: { ...before.velocity, ...change.velocity },
  holdDays: { ...before.holdDays, ...change.holdDays },
  fees: Object.fromEntries(
    PAYMENT_METHODS.map((method) => {
      const { provider, platform } = { ...before.fees[method], ...change.fees?.[method] };
      return [method, { provider: inOrder(provider), platform: inOrder(platform) }];
    }),
  ) as FeeSchedule,
});

/** `change`: by the switches' names. Already so: nothing. The reply is how the sandbox behaves from here on. */
export const changeSandboxSettings =
  (
    change: SandboxSettings,
    at: Timestamp,
    switches: readonly SandboxSwitch[],
  ): Decision<AccountState, AccountEvent, SandboxSettings> =>
  (state) => {
    if (state.status !== 'open') throw new Error('settings of an account that was never opened');
    const before = completed(state.sandbox, switches);
    const after = { ...before, ...change };
    if (isSame(after, before)) return { events: [], reply: before };
    const unsaid = new Set(
      switches.flatMap((one) => (one.isUnsaid && one.of(after) === one.initial ? [one.name] : [])),
    );
    const sandbox = Object.fromEntries(Object.entries(after).filter(([name]) => !unsaid.has(name)));
    return { events: [{ type: 'AccountSandboxSettingsChanged', data: { sandbox, at } }], reply: after };
  };
