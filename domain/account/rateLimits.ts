// Requests a minute of an account's keys (rules E8, X3).

import { accountSetting, type Bounds, limitSchema, outside, wholeNumber } from '../kernel/accountSetting.ts';
import { sandboxSwitch } from '../kernel/sandboxSwitch.ts';
import { integer, nullable } from '../kernel/serde.ts';
import type { OpenAccount } from './account.ts';

const PER_MINUTE: Bounds = [0, 1_000_000_000];
const SANDBOX_MAX = 1_000_000;

/** Of each API key. null: the deployment's; 0: any number. */
export const rateLimitPerMinute = accountSetting<number | null>({
  name: 'rateLimitPerMinute',
  initial: null,
  shape: nullable(integer),
  schema: limitSchema(PER_MINUTE, 'Of each key; null: the deployment’s; 0: any number.'),
  problems: (limit) => outside('rateLimitPerMinute', limit ?? 0, PER_MINUTE),
  options: {
    'rate-limit': {
      description: 'requests a minute of each API key; none: any number; default: as the deployment says',
      read: wholeNumber([1, PER_MINUTE[1]], { default: null, none: 0 }),
    },
  },
  line: (limit) => {
    if (limit === null) return ['rate limit', 'as the deployment says'];
    return ['rate limit', limit === 0 ? 'none' : `${limit} a minute`];
  },
});

/** Lowers what the account has, never lifts it. 0 and null: as it has. */
export const sandboxRateLimit = sandboxSwitch<number | null>({
  name: 'rateLimitPerMinute',
  initial: null,
  shape: nullable(integer),
  apiName: 'rate_limit_per_minute',
  schema: {
    type: 'integer',
    minimum: 0,
    maximum: SANDBOX_MAX,
    description: 'Lowers the limit of each test key, never lifts it; 0: as the account has it.',
  },
  shownSchema: limitSchema([0, SANDBOX_MAX], '0 and null: as the account has it.'),
});

/** Requests a minute of each key; 0: any number (E8). `deployments`: where the account has agreed nothing of its own. */
export const requestsPerMinute = ({ settings }: Pick<OpenAccount, 'settings'>, deployments: number): number =>
  rateLimitPerMinute.of(settings) ?? deployments;

/** The same for test keys: the sandbox's setting lowers it, and never lifts it (E8, X3). */
export const sandboxRequestsPerMinute = (
  account: Pick<OpenAccount, 'settings' | 'sandbox'>,
  deployments: number,
): number => {
  const agreed = requestsPerMinute(account, deployments);
  const wish = sandboxRateLimit.of(account.sandbox) || agreed;
  return agreed === 0 ? wish : Math.min(wish, agreed);
};
