// Security events in the log, each with its name in the field `security`. A flood of them does not flood the log: beyond a bound a minute
// they are counted, and the count is logged when the minute ends.

import type { OperatorRequest, SecurityEvent, SettingChanged } from '../../application/ports/securityEvents.ts';
import type { WebhookSender } from '../../application/ports/webhookSender.ts';
import { ACCOUNT } from '../../domain/account/account.ts';
import type { Log } from '../log/log.ts';
import { FORBIDDEN_ADDRESS } from '../webhookSender/target.ts';

const MINUTE_MS = 60_000;
/** Lines of each event in a minute. */
const LINES_MAX = 60;

interface WebhookBlocked {
  readonly security: 'webhook_address_blocked';
  readonly at: 'delivery' | 'registration';
  readonly mode: string;
  readonly host: string;
  /** `wd_…` */
  readonly deliveryId?: string | undefined;
}
type LoggedEvent = SecurityEvent | WebhookBlocked;

const TEXT: { readonly [Name in LoggedEvent['security']]: string } = {
  authentication_failed: 'a request came without a right key or token',
  login_failed: 'a login failed',
  second_factor_enrolled: 'a user enrolled a second factor',
  second_factor_reset: 'an operator reset a second factor',
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
  const counts = new Map<string, number>();
  const endMinute = (security: LoggedEvent['security']) => {
    const unlogged = (counts.get(security) ?? 0) - linesMax;
    counts.delete(security);
    if (unlogged > 0) log.warn({ security, unlogged }, 'and as many times more within a minute');
  };
  return (event) => {
    const { security } = event;
    const count = (counts.get(security) ?? 0) + 1;
    counts.set(security, count);
    if (count === 1) setTimeout(() => endMinute(security), minuteMs).unref();
    if (count <= linesMax) log.warn(event, TEXT[security]);
  };
};

// Besides requests, the security log has webhooks that were blocked, and settings that were changed. Its lines name accounts, keys by their
// fingerprint, operators and ids; never personal data, secrets, or paths of URLs.

const hostOf = (url: string): string => URL.parse(url)?.host ?? 'unreadable';

/** Returns the sender, with `report` called for every delivery and registration that is refused because of its address. */
export const reportingBlocked = (sender: WebhookSender, report: (event: WebhookBlocked) => void): WebhookSender => {
  return {
    send: async (request) => {
      const outcome = await sender.send(request);
      if (outcome.error?.startsWith('blocked'))
        report({
          security: 'webhook_address_blocked',
          at: 'delivery',
          mode: request.mode,
          host: hostOf(request.url),
          deliveryId: request.headers['x-acme-delivery-id'],
        });
      return outcome;
    },
    judgeUrl: (url, mode) => {
      const verdict = sender.judgeUrl(url, mode);
      if (verdict !== null && FORBIDDEN_ADDRESS.test(verdict.message))
        report({ security: 'webhook_address_blocked', at: 'registration', mode, host: hostOf(url) });
      return verdict;
    },
    close: () => sender.close(),
  };
};

/** Tells of every change that an operator asked for by a request, as the command line does of its own. */
export const operatorLog =
  (log: Log): ((request: OperatorRequest) => void) =>
  (request) =>
    log.info({ security: 'operator_request', ...request }, 'an operator asked for a change');

/** Tells of every setting that was changed, and by which key. */
export const changesLog =
  (log: Log): ((change: SettingChanged) => void) =>
  ({ account, ...change }) =>
    log.info({ security: 'settings_changed', account: ACCOUNT.idPrefix + account, ...change }, 'a setting was changed');
