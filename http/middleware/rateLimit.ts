// Requests a minute for each API key (decisions E8).
import type { Response } from 'express';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { requestsPerMinute } from '../../domain/account/settings.ts';
import type { Rejection } from '../../domain/kernel/rejection.ts';
import { reject } from '../../domain/kernel/rejection.ts';
import type { Caller } from '../route.ts';

export type RateLimit = (caller: Caller, res: Response) => Promise<Rejection | null>;

/** The limit is the caller's own and may change within a minute: here requests are only counted. */
const NEVER_REACHED = Number.MAX_SAFE_INTEGER;

/** `deploymentsPerMinute`: for accounts without a limit of their own. Where there is none (0) there are no headers either. */
export const rateLimit = (deploymentsPerMinute: number): RateLimit => {
  const counter = new RateLimiterMemory({ points: NEVER_REACHED, duration: 60 });
  return async ({ account, tenant, actor }, res) => {
    const perMinute = requestsPerMinute(account, tenant.mode) ?? deploymentsPerMinute;
    if (perMinute === 0) return null;
    const { consumedPoints, msBeforeNext } = await counter.consume(actor);
    res.setHeader('X-RateLimit-Limit-Minute', String(perMinute));
    res.setHeader('X-RateLimit-Remaining-Minute', String(Math.max(perMinute - consumedPoints, 0)));
    if (consumedPoints <= perMinute) return null;
    res.setHeader('Retry-After', String(Math.max(1, Math.ceil(msBeforeNext / 1000))));
    return reject('rate_limited', `More than ${perMinute} requests in a minute.`);
  };
};
