// Requests a minute for each API key (rule E8).
import type { Response } from 'express';
import { requestsPerMinute, sandboxRequestsPerMinute } from '../../domain/account/settings.ts';
import type { Rejection } from '../../domain/kernel/rejection.ts';
import { reject } from '../../domain/kernel/rejection.ts';
import type { MinuteWindow } from './minuteWindows.ts';
import { MinuteWindows } from './minuteWindows.ts';
import type { Caller, Route } from './route.ts';

export interface Limited {
  readonly perMinute: number;
  /** Of its minute. */
  readonly isFirst: boolean;
  readonly rejection: Rejection;
}
/** null: within the limit. */
export type RateLimit = (caller: Caller, route: Pick<Route, 'limit'>, res: Response) => Limited | null;

/** As many keys as are remembered by their fingerprints. */
const KEYS_REMEMBERED = 10_000;

/** Headers of every request that is counted; refused when nothing is `left`. */
export const judgeLeft = (
  res: Response,
  windows: MinuteWindows,
  window: MinuteWindow,
  limit: { readonly perMinute: number; readonly left: number; readonly of: string },
): Limited | null => {
  const { perMinute, left, of } = limit;
  res.setHeader('X-RateLimit-Limit-Minute', String(perMinute));
  res.setHeader('X-RateLimit-Remaining-Minute', String(Math.max(left, 0)));
  if (left >= 0) return null;
  res.setHeader('Retry-After', String(windows.secondsLeft(window)));
  const isFirst = !window.isTold;
  window.isTold = true;
  return { perMinute, isFirst, rejection: reject('rate_limited', `More than ${perMinute} requests in a minute${of}.`) };
};

/** `deploymentsPerMinute`: for accounts without a limit of their own; 0: none. Where nothing limits there are no headers either. */
export const rateLimit = (deploymentsPerMinute: number): RateLimit => {
  const windows = new MinuteWindows(KEYS_REMEMBERED);
  return ({ account, tenant, actor }, { limit }, res) => {
    const isApart = limit === 'keyApartFromSandbox';
    const agreed = requestsPerMinute(account, deploymentsPerMinute);
    const isLowered = tenant.mode === 'test' && !isApart;
    const perMinute = isLowered ? sandboxRequestsPerMinute(account, deploymentsPerMinute) : agreed;
    const window = windows.of(actor);
    window.count += 1;
    if (isApart) window.apart += 1;
    if (perMinute === 0) return null;
    const ofAgreed = agreed === 0 ? Number.POSITIVE_INFINITY : agreed - window.count;
    const left = perMinute === agreed ? ofAgreed : Math.min(ofAgreed, perMinute - window.count + window.apart);
    return judgeLeft(res, windows, window, { perMinute, left, of: '' });
  };
};
