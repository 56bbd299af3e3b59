// Changing what an account has agreed, and how its sandbox behaves. What is not named stays.
import { PAYMENT_METHODS, type PaymentMethod } from '../charge/methods.ts';
import type { Decision } from '../kernel/decider.ts';
import { reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { Fee, FeePair, FeeSchedule } from '../transaction/fees.ts';
import type { AccountEvent, AccountSettings, AccountState, OpenAccount, SandboxSettings } from './account.ts';
import { settingProblems } from './settingProblems.ts';

/** Of the settings that hold several values, those that are named; of a method's fees each side by itself. */
export type SettingsChange = Partial<Omit<AccountSettings, Grouped>> & {
  readonly [Group in Exclude<Grouped, 'fees'>]?: Partial<AccountSettings[Group]>;
} & { readonly fees?: { readonly [Method in PaymentMethod]?: Partial<FeePair> } };
type Grouped = 'velocity' | 'refundVelocity' | 'holdDays' | 'fees';

const changed = <T extends object>(before: T, change: Partial<T>): T | null => {
  const after = { ...before, ...change };
  return JSON.stringify(after) === JSON.stringify(before) ? null : after;
};

/** Out of its bounds: `invalid_request` with the setting as its param. Already so: nothing. */
export const changeSettings =
  (change: SettingsChange, at: Timestamp): Decision<AccountState, AccountEvent, AccountSettings> =>
  (state) => {
    if (state.status !== 'open') throw new Error('settings of an account that was never opened');
    const settings = changed(state.settings, merged(state.settings, change));
    if (settings === null) return { events: [], reply: state.settings };
    const [problem] = settingProblems(settings);
    if (problem) return reject('invalid_request', `${problem.param} ${problem.message}`, { param: problem.param });
    return { events: [{ type: 'AccountSettingsChanged', data: { settings, at } }], reply: settings };
  };

/** Settings are compared as text. */
const inOrder = ({ percentBps, fixed }: Fee): Fee => ({ percentBps, fixed });

const merged = (before: AccountSettings, change: SettingsChange): AccountSettings => ({
  ...before,
  ...change,
  velocity: { ...before.velocity, ...change.velocity },
  refundVelocity: { ...before.refundVelocity, ...change.refundVelocity },
  holdDays: { ...before.holdDays, ...change.holdDays },
  fees: Object.fromEntries(
    PAYMENT_METHODS.map((method) => {
      const { provider, platform } = { ...before.fees[method], ...change.fees?.[method] };
      return [method, { provider: inOrder(provider), platform: inOrder(platform) }];
    }),
  ) as FeeSchedule,
});

/** Already so: nothing. */
export const changeSandboxSettings =
  (change: Partial<SandboxSettings>, at: Timestamp): Decision<AccountState, AccountEvent, SandboxSettings> =>
  (state) => {
    if (state.status !== 'open') throw new Error('settings of an account that was never opened');
    const sandbox = changed(state.sandbox, change);
    return sandbox === null
      ? { events: [], reply: state.sandbox }
      : { events: [{ type: 'AccountSandboxSettingsChanged', data: { sandbox, at } }], reply: sandbox };
  };

/** Requests a minute of each key; 0: any number (E8). `deployments`: where the account has agreed nothing of its own. */
export const requestsPerMinute = ({ settings }: Pick<OpenAccount, 'settings'>, deployments: number): number =>
  settings.rateLimitPerMinute ?? deployments;

/** The same for test keys: the sandbox's setting lowers it, and never lifts it (E8, X3). */
export const sandboxRequestsPerMinute = (
  account: Pick<OpenAccount, 'settings' | 'sandbox'>,
  deployments: number,
): number => {
  const agreed = requestsPerMinute(account, deployments);
  const wish = account.sandbox.rateLimitPerMinute || agreed;
  return agreed === 0 ? wish : Math.min(wish, agreed);
};
