// Writes security events to the log, with their name in the field `security`. Each event is logged up to 60 times a minute. Further ones
// are only counted, and the count is logged at the end of the minute.

import type { OperatorRequest, SecurityEvent, SettingChanged } from '../../application/ports/securityEvents.ts';
import type { AttemptOutcome, WebhookRequest, WebhookSender } from '../../application/ports/webhookSender.ts';
import { ACCOUNT } from '../../domain/account/account.ts';
import type { Log } from '../log/log.ts';
import { FORBIDDEN_ADDRESS } from '../webhookSender/target.ts';

const MINUTE_MS = 60_000;
/** Lines per event and minute. */
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
  authentication_failed: 'request without a valid key or token',
  login_failed: 'login failed',
  second_factor_enrolled: 'user enrolled a second factor',
  second_factor_reset: 'operator reset a second factor',
  rate_limited: 'rate limit exceeded',
  webhook_address_blocked: 'webhook blocked: its address is not allowed',
  forwarding_header_untrusted:
    'forwarding header ignored: if there is a proxy, set TRUST_PROXY, or all its clients count as one address',
};

export const securityLog = (
  log: Log,
  linesMax: number = LINES_MAX,
  minuteMs: number = MINUTE_MS,
): ((event: LoggedEvent) => void) => {
  /** Counts of the current minute, by event. */
  const counts = new Map<string, number>();
  const endMinute = (security: LoggedEvent['security']) => {
    const unlogged = (counts.get(security) ?? 0) - linesMax;
    counts.delete(security);
    if (unlogged > 0) log.warn({ security, unlogged }, 'security events not logged within a minute');
  };
  return (event) => {
    const { security } = event;
    const count = (counts.get(security) ?? 0) + 1;
    counts.set(security, count);
    if (count === 1) setTimeout(() => endMinute(security), minuteMs).unref();
    if (count <= linesMax) log.warn(event, TEXT[security]);
  };
};

// The security log also records blocked webhooks, changed settings and erasures. Its lines name accounts, fingerprints of keys, operators
// and ids, but never personal data, secrets, or paths of URLs.

const hostOf = (url: string): string => URL.parse(url)?.host ?? 'unreadable';

/** Wraps a sender: calls `report` for each delivery or registration that is blocked because of its address. */
export const reportingBlocked = (sender: WebhookSender, report: (event: WebhookBlocked) => void): WebhookSender => {
  const check = ({ url, mode, headers }: WebhookRequest, outcome: AttemptOutcome): void => {
    if (!outcome.error?.startsWith('blocked')) return;
    const deliveryId = headers['x-acme-delivery-id'];
    report({ security: 'webhook_address_blocked', at: 'delivery', mode, host: hostOf(url), deliveryId });
  };
  return {
    send: async (request) => {
      const outcome = await sender.send(request);
      check(request, outcome);
      return outcome;
    },
    sendInTurn: async (requestOf, signal) => {
      let request: WebhookRequest | null = null;
      const outcome = await sender.sendInTurn(async () => (request = await requestOf()), signal);
      if (request !== null && outcome !== null) check(request, outcome);
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

/** Logs each change that an operator requests through the API, as the command line logs its own. */
export const operatorLog =
  (log: Log): ((request: OperatorRequest) => void) =>
  (request) =>
    log.info({ security: 'operator_request', ...request }, 'operator requested a change');

/** Logs each changed setting, and the key that changed it. */
export const changesLog =
  (log: Log): ((change: SettingChanged) => void) =>
  ({ account, ...change }) =>
    log.info({ security: 'settings_changed', account: ACCOUNT.idPrefix + account, ...change }, 'setting changed');

/** Logs each payment or payout whose personal data was erased. After a restore, these are erased again. */
export const erasureLog =
  (log: Log): ((id: string) => void) =>
  (id) =>
    log.info({ security: 'personal_data_erased', id }, 'personal data erased');
