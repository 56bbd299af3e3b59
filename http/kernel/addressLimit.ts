// Requests a minute that an address may make without a right key: pages, readiness, and keys that are none (rule E8).
import type { Request, Response } from 'express';
import { addressOf, networkOf } from './address.ts';
import { MinuteWindows } from './minuteWindows.ts';
import { judgeLeft, type Limited } from './rateLimit.ts';

/** Each is counted by itself: whoever tries keys does not make the process look sick to who asks for its health. */
export type WithoutKey = 'keys' | 'pages' | 'readiness' | 'catalogue';

/** Of each kind. */
const PER_MINUTE = 1_200;
/** Of hostile addresses as many as one likes may come: those seen last are counted. */
const ADDRESSES_REMEMBERED = 50_000;

/** null: within the limit. */
export type AddressLimit = (
  req: Request,
  res: Response,
  of: WithoutKey,
) => (Limited & { readonly network: string }) | null;

/** `perMinute` requests of each address and kind; loopback is no exception. */
export const addressLimit = (
  perMinute: number = PER_MINUTE,
  remembered: number = ADDRESSES_REMEMBERED,
): AddressLimit => {
  const windows = new MinuteWindows(remembered);
  return (req, res, of) => {
    const address = addressOf(req);
    const window = windows.of(`${of} ${address}`);
    window.count += 1;
    if (window.count <= perMinute) return null;
    const limit = { perMinute, left: perMinute - window.count, of: ' from this address' };
    const limited = judgeLeft(res, windows, window, limit);
    return limited && { ...limited, network: networkOf(address) };
  };
};
