// Security events in the log, each with its name in the field `security`. A flood of them does not flood the log: beyond a bound a minute
// they are counted, and the count is told when the minute ends.
import type { SecurityEvent } from '../../http/kernel/securityEvents.ts';
import type { Log } from './log.ts';

const MINUTE_MS = 60_000;
/** Lines of each event in a minute. */
const LINES_MAX = 60;

export interface WebhookBlocked {
  readonly security: 'webhook_address_blocked';
  readonly at: 'delivery' | 'registration';
  readonly mode: string;
  readonly host: string;
  /** `wd_…` */
  readonly deliveryId?: string | undefined;
}
type LoggedEvent = SecurityEvent | WebhookBlocked;

const TEXT: { readonly [Name in LoggedEvent['security']]: string } = {
  authentication_failed: 'a request came without a right key',
  rate_limited: 'a limit of requests was reached',
  webhook_address_blocked: 'a webhook would have gone to an address that is not allowed',
  forwarding_header_untrusted:
    'requests come with a header of a proxy, which is not believed: set TRUST_PROXY if there is one, or all clients count as one address',
};

export const securityLog = (
  log: Log,
  linesMax: number = LINES_MAX,
  minuteMs: number = MINUTE_MS,
): ((event: LoggedEvent) => void) => {
  /** Of the present minute, by event. */
  const told = new Map<string, number>();
  const endMinute = (security: LoggedEvent['security']) => {
    const notTold = (told.get(security) ?? 0) - linesMax;
    told.delete(security);
    if (notTold > 0) log.warn({ security, notTold }, 'and as many times more within a minute');
  };
  return (event) => {
    const { security } = event;
    const count = (told.get(security) ?? 0) + 1;
    told.set(security, count);
    if (count === 1) setTimeout(() => endMinute(security), minuteMs).unref();
    if (count <= linesMax) log.warn(event, TEXT[security]);
  };
};
