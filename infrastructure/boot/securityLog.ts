// Security events in the log, each with its name in the field `security`. A flood of them does not flood the log: beyond a bound a minute
// they are counted, and the count is told when the minute ends.

import type { WebhookSender } from '../../application/ports/webhookSender.ts';
import { PREFIX } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import type { SecurityEvent } from '../../http/kernel/securityEvents.ts';
import type { Services } from '../../http/kernel/services.ts';
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

// What the security log is told of besides requests: webhooks that were not let go, and settings that were changed. Its lines name
// accounts, keys by their fingerprint, operators and ids; never personal data, secrets, or paths of URLs.

const hostOf = (url: string): string => URL.parse(url)?.host ?? 'unreadable';

/** Tells of every address that a delivery, or a registration, was refused for. */
export const tellingOfBlocked = (sender: WebhookSender, tell: (event: WebhookBlocked) => void): WebhookSender => {
  return {
    send: async (request) => {
      const outcome = await sender.send(request);
      if (outcome.error?.startsWith('blocked'))
        tell({
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
        tell({ security: 'webhook_address_blocked', at: 'registration', mode, host: hostOf(url) });
      return verdict;
    },
    close: () => sender.close(),
  };
};

type Changes = Pick<
  Services,
  'changeSandboxSettings' | 'rotateOverrideSecret' | 'registerWebhookEndpoint' | 'deleteWebhookEndpoint'
>;

/** Tells of every setting that was changed, and by which key. */
export const tellingOfChanges = (services: Changes, log: Log): Changes => {
  type Requester = Parameters<Changes['deleteWebhookEndpoint']>[2];
  const tell = (setting: string, account: string, mode: string, { actor, requestId }: Requester, more: object = {}) =>
    log.info(
      { security: 'settings_changed', setting, account: PREFIX.account + account, mode, by: actor, requestId, ...more },
      'a setting was changed',
    );
  return {
    changeSandboxSettings: async (accountId, wish, requester) => {
      const done = await services.changeSandboxSettings(accountId, wish, requester);
      if (!isRejection(done)) tell('sandbox', accountId, 'test', requester, { changed: Object.keys(wish) });
      return done;
    },
    rotateOverrideSecret: async (tenant, requester) => {
      const done = await services.rotateOverrideSecret(tenant, requester);
      if (!isRejection(done)) tell('override secret', tenant.accountId, tenant.mode, requester);
      return done;
    },
    registerWebhookEndpoint: async (tenant, wish, requester) => {
      const done = await services.registerWebhookEndpoint(tenant, wish, requester);
      if (!isRejection(done))
        tell('webhook endpoint registered', tenant.accountId, tenant.mode, requester, {
          endpointId: PREFIX.endpoint + done.endpointId,
        });
      return done;
    },
    deleteWebhookEndpoint: async (tenant, endpointId, requester) => {
      const refused = await services.deleteWebhookEndpoint(tenant, endpointId, requester);
      if (refused === null)
        tell('webhook endpoint deleted', tenant.accountId, tenant.mode, requester, {
          endpointId: PREFIX.endpoint + endpointId,
        });
      return refused;
    },
  };
};
