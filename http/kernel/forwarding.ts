// Headers of proxies. Without TRUST_PROXY they are not believed: behind a proxy all clients then count as one address, which its operator
// has to hear of.
import type { NextFunction, Request, Response } from 'express';
import type { TellSecurityEvent } from './securityEvents.ts';

const FORWARDING = [
  'x-forwarded-for',
  'forwarded',
  'x-real-ip',
  'x-forwarded-proto',
  'x-forwarded-host',
  'via',
] as const;

/** Tells of the first such header, once. */
export const warnOfForwarding = (tell: TellSecurityEvent) => {
  let isTold = false;
  return (req: Request, _res: Response, next: NextFunction): void => {
    if (!isTold) {
      const header = FORWARDING.find((name) => req.headers[name] !== undefined);
      if (header !== undefined) {
        isTold = true;
        tell({ security: 'forwarding_header_untrusted', header });
      }
    }
    next();
  };
};
