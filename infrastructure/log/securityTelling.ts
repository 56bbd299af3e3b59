// What the security log is told of besides requests: webhooks that were not let go, and settings that were changed. Its lines name
// accounts, keys by their fingerprint, operators and ids; never personal data, secrets, or paths of URLs.
import type { WebhookSender } from '../../application/ports/webhookSender.ts';
import { PREFIX } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import type { Services } from '../../http/kernel/services.ts';
import { FORBIDDEN_ADDRESS } from '../webhookSender/target.ts';
import type { Log } from './log.ts';
import type { WebhookBlocked } from './securityLog.ts';

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
