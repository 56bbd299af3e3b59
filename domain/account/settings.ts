// Changes an account's settings and the behavior of its sandbox. Settings that a change omits keep their values.
import type { PaymentMethod } from '../charge/methods.ts';
import { type AccountSetting, completed, type SandboxSwitch, type StoredValues } from '../kernel/accountSetting.ts';
import type { Decision } from '../kernel/decider.ts';
import { reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { FeePair } from '../transaction/fees.ts';
import {
  type AccountEvent,
  type AccountSettings,
  type AccountState,
  agreedSettings,
  type SandboxSettings,
} from './account.ts';
import type { OwnSettings } from './ownSettings.ts';

/** A change of settings. Grouped settings may be given in part; a method's fees may be changed on one side only. */
export type SettingsChange = Partial<Omit<OwnSettings, Grouped>> & {
  readonly [Group in Exclude<Grouped, 'fees'>]?: Partial<OwnSettings[Group]>;
} & { readonly fees?: { readonly [Method in PaymentMethod]?: Partial<FeePair> } } & StoredValues;
type Grouped = 'velocity' | 'holdDays' | 'fees';

const isSame = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Changes settings. Rejects values out of bounds with `invalid_request` and the setting as param. No-op if nothing changes. */
export const changeSettings =
  (
    change: SettingsChange,
    at: Timestamp,
    declared: readonly AccountSetting[],
  ): Decision<AccountState, AccountEvent, AccountSettings> =>
  (state) => {
    if (state.status !== 'open') throw new Error('the account was never opened');
    const before = agreedSettings(state.settings, declared);
    const wished = {
      ...before,
      ...Object.fromEntries(
        declared.flatMap(({ name, after }) =>
          change[name] === undefined ? [] : [[name, after(before, change[name])]],
        ),
      ),
    };
    if (isSame(wished, before)) return { events: [], reply: before };
    const [problem] = declared.flatMap(({ problemsOf }) => problemsOf(wished));
    if (problem) return reject('invalid_request', `${problem.param} ${problem.message}`, { param: problem.param });
    const settings = agreedSettings(wished, declared);
    if (isSame(settings, before)) return { events: [], reply: before };
    return { events: [{ type: 'AccountSettingsChanged', data: { settings, at } }], reply: settings };
  };

/** Changes sandbox switches by name. Replies with all switches after the change. No-op if nothing changes. */
export const changeSandboxSettings =
  (
    change: SandboxSettings,
    at: Timestamp,
    switches: readonly SandboxSwitch[],
  ): Decision<AccountState, AccountEvent, SandboxSettings> =>
  (state) => {
    if (state.status !== 'open') throw new Error('the account was never opened');
    const before = completed(state.sandbox, switches);
    const after = { ...before, ...change };
    if (isSame(after, before)) return { events: [], reply: before };
    const unsaid = new Set(
      switches.flatMap((one) => (one.isUnsaid && one.of(after) === one.initial ? [one.name] : [])),
    );
    const sandbox = Object.fromEntries(Object.entries(after).filter(([name]) => !unsaid.has(name)));
    return { events: [{ type: 'AccountSandboxSettingsChanged', data: { sandbox, at } }], reply: after };
  };
