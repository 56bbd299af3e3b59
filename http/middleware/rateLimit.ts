// Requests a minute for each API key (decisions E8).
import type { Response } from 'express';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { Rejection } from '../../domain/kernel/rejection.ts';
import { reject } from '../../domain/kernel/rejection.ts';

export type RateLimit = (actor: string, res: Response) => Promise<Rejection | null>;

const unlimited: RateLimit = () => Promise.resolve(null);

/** `perMinute` 0: none, and no headers. */
export const rateLimit = (perMinute: number): RateLimit => {
  if (perMinute === 0) return unlimited;
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return async (actor, res) => {
    const state = await limiter.consume(actor).catch((refused: RateLimiterRes) => refused);
    const isOver = state.consumedPoints > perMinute;
    res.setHeader('X-RateLimit-Limit-Minute', String(perMinute));
    res.setHeader('X-RateLimit-Remaining-Minute', String(Math.max(state.remainingPoints, 0)));
    if (!isOver) return null;
    res.setHeader('Retry-After', String(Math.max(1, Math.ceil(state.msBeforeNext / 1000))));
    return reject('rate_limited', `More than ${perMinute} requests in a minute.`);
  };
};
