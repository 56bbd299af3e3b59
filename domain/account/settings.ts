// Changing what an account has agreed, and how its sandbox behaves. What is not named stays.
import { PAYMENT_METHODS } from '../charge/methods.ts';
import type { Decision } from '../kernel/decider.ts';
import { type Problem, reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import { isPixKey } from '../pix/pixKey.ts';
import type { AccountEvent, AccountSettings, AccountState, OpenAccount, SandboxSettings } from './account.ts';

/** Of the fields that hold several values, those that are named. */
export type SettingsChange = Partial<Omit<AccountSettings, 'velocity' | 'holdDays'>> & {
  readonly velocity?: Partial<AccountSettings['velocity']>;
  readonly holdDays?: Partial<AccountSettings['holdDays']>;
};

/** Bounds, both included. */
export const SETTING_BOUNDS = {
  velocityPerHour: [1, 100_000],
  rateLimitPerMinute: [0, 1_000_000_000],
  holdDays: [0, 365],
  chargeWindowSeconds: [60, 86_400],
  cashoutDestinations: [0, 1_000],
} as const;
type Bounds = (typeof SETTING_BOUNDS)[keyof typeof SETTING_BOUNDS];

const changed = <T extends object>(before: T, change: Partial<T>): T | null => {
  const after = { ...before, ...change };
  return JSON.stringify(after) === JSON.stringify(before) ? null : after;
};

/** Out of its bounds: `invalid_request` with the setting as its param. Already so: nothing. */
export const changeSettings =
  (change: SettingsChange, at: Timestamp): Decision<AccountState, AccountEvent, AccountSettings> =>
  (state) => {
    if (state.status !== 'open') throw new Error('settings of an account that was never opened');
    const velocity = { ...state.settings.velocity, ...change.velocity };
    const holdDays = { ...state.settings.holdDays, ...change.holdDays };
    const [problem] = problemsOf({ ...change, velocity, holdDays });
    if (problem) return reject('invalid_request', `${problem.param} ${problem.message}`, { param: problem.param });
    const settings = changed(state.settings, { ...change, velocity, holdDays });
    return settings === null
      ? { events: [], reply: state.settings }
      : { events: [{ type: 'AccountSettingsChanged', data: { settings, at } }], reply: settings };
  };

const problemsOf = (
  change: Omit<SettingsChange, 'velocity' | 'holdDays'> & Pick<AccountSettings, 'velocity' | 'holdDays'>,
): readonly Problem[] => [
  ...outside('velocity.customerPerHour', change.velocity.customerPerHour, SETTING_BOUNDS.velocityPerHour),
  ...outside('velocity.accountPerHour', change.velocity.accountPerHour, SETTING_BOUNDS.velocityPerHour),
  ...outside('rateLimitPerMinute', change.rateLimitPerMinute ?? 0, SETTING_BOUNDS.rateLimitPerMinute),
  ...PAYMENT_METHODS.flatMap((method) =>
    outside(`holdDays.${method}`, change.holdDays[method], SETTING_BOUNDS.holdDays),
  ),
  ...outside('chargeWindowSeconds', change.chargeWindowSeconds ?? 60, SETTING_BOUNDS.chargeWindowSeconds),
  ...destinationProblems(change.cashoutDestinations ?? []),
];

const outside = (param: string, value: number, [min, max]: Bounds): readonly Problem[] =>
  Number.isInteger(value) && value >= min && value <= max
    ? []
    : [{ param, message: `must be a whole number from ${min} to ${max}` }];

const destinationProblems = (keys: readonly string[]): readonly Problem[] => {
  const param = 'cashoutDestinations';
  const max = SETTING_BOUNDS.cashoutDestinations[1];
  if (keys.length > max) return [{ param, message: `must be at most ${max} Pix keys` }];
  const wrong = keys.find((key) => !isPixKey(key));
  return wrong === undefined
    ? []
    : [{ param, message: `must be Pix keys as the directory holds them, not "${wrong}"` }];
};

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
