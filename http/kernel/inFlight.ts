// Requests in flight of one address behind a proxy. The bound of connections can't hold there: the proxy's connections carry everybody.
import type { NextFunction, Request, Response } from 'express';
import { KeyedCount } from '../../application/core/keyedCount.ts';
import { addressOf } from './address.ts';
import { OVERLOADED } from './admission.ts';
import { sendError } from './errors.ts';

/** As many as a client without a proxy has connections. */
export const IN_FLIGHT_MAX = 256;

/** Counts from the headers of a request to the end of its answer, streams and slow bodies included. */
export const boundInFlight = (max: number) => {
  const inFlight = new KeyedCount();
  return (req: Request, res: Response, next: NextFunction): void => {
    const address = addressOf(req);
    if (inFlight.of(address) >= max) {
      sendError(req, res, OVERLOADED);
      return;
    }
    res.once('close', inFlight.add(address));
    next();
  };
};
