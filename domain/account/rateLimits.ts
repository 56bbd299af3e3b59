// Rate limits of an account's API keys, in requests per minute (rules E8, X3).

import {
  accountSetting,
  type Bounds,
  limitSchema,
  outside,
  sandboxSwitch,
  wholeNumber,
} from '../kernel/accountSetting.ts';
import { integer, nullable } from '../kernel/serde.ts';
import type { OpenAccount } from './account.ts';

const PER_MINUTE: Bounds = [0, 1_000_000_000];
const SANDBOX_MAX = 1_000_000;

/** Limit of each API key. null uses the deployment's limit; 0 is unlimited. */
export const rateLimitPerMinute = accountSetting<number | null>({
  name: 'rateLimitPerMinute',
  initial: null,
  shape: nullable(integer),
  schema: limitSchema(PER_MINUTE, 'Requests per minute of each key. null uses the deployment’s limit; 0 is unlimited.'),
  problems: (limit) => outside('rateLimitPerMinute', limit ?? 0, PER_MINUTE),
  options: {
    'rate-limit': {
      description: 'requests per minute of each API key; `none` is unlimited, `default` uses the deployment’s limit',
      read: wholeNumber([1, PER_MINUTE[1]], { default: null, none: 0 }),
    },
  },
  line: (limit) => {
    if (limit === null) return ['rate limit', 'the deployment’s default'];
    return ['rate limit', limit === 0 ? 'none' : `${limit} per minute`];
  },
});

/** Lowers the account's limit for test keys; it can't raise it. 0 and null leave the account's limit unchanged. */
export const sandboxRateLimit = sandboxSwitch<number | null>({
  name: 'rateLimitPerMinute',
  initial: null,
  shape: nullable(integer),
  apiName: 'rate_limit_per_minute',
  schema: {
    type: 'integer',
    minimum: 0,
    maximum: SANDBOX_MAX,
    description: 'Lowers the limit of each test key; it can’t raise it. 0 keeps the account’s limit.',
  },
  shownSchema: limitSchema([0, SANDBOX_MAX], '0 and null keep the account’s limit.'),
});

/** Returns the limit of each key in requests per minute; 0 is unlimited (E8). `deployments` applies if the account has no own limit. */
export const requestsPerMinute = ({ settings }: Pick<OpenAccount, 'settings'>, deployments: number): number =>
  rateLimitPerMinute.of(settings) ?? deployments;

/** Returns the limit of each test key in requests per minute. The sandbox setting can lower it, but not raise it (E8, X3). */
export const sandboxRequestsPerMinute = (
  account: Pick<OpenAccount, 'settings' | 'sandbox'>,
  deployments: number,
): number => {
  const agreed = requestsPerMinute(account, deployments);
  const wish = sandboxRateLimit.of(account.sandbox) || agreed;
  return agreed === 0 ? wish : Math.min(wish, agreed);
};
