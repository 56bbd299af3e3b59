// Reports every setting that a merchant's key changes to the security log: which, whose, and by which key.

import { PREFIX } from '../domain/kernel/ids.ts';
import { isRejection } from '../domain/kernel/rejection.ts';
import type { ApiKey } from '../domain/keyring/keyring.ts';
import { WEBHOOK_ENDPOINT } from '../domain/webhookEndpoint/webhookEndpoint.ts';
import type { issueApiKey, revokeApiKey, rotateApiKey } from './accounts/manageKeys.ts';
import type { Actor, Changer } from './core/eventMetadata.ts';
import type { Tenant } from './ports/paymentProvider.ts';
import type { SettingChanged } from './ports/securityEvents.ts';
import type { changeSandboxSettings } from './sandbox/changeSandboxSettings.ts';
import type { rotateOverrideSecret } from './webhooks/overrideSecret.ts';
import type {
  changeWebhookEndpoint,
  deleteWebhookEndpoint,
  registerWebhookEndpoint,
  rotateWebhookSecret,
} from './webhooks/webhookEndpoints.ts';

interface Changes {
  readonly changeSandboxSettings: ReturnType<typeof changeSandboxSettings>;
  readonly rotateOverrideSecret: ReturnType<typeof rotateOverrideSecret>;
  readonly registerWebhookEndpoint: ReturnType<typeof registerWebhookEndpoint>;
  readonly changeWebhookEndpoint: ReturnType<typeof changeWebhookEndpoint>;
  readonly rotateWebhookSecret: ReturnType<typeof rotateWebhookSecret>;
  readonly deleteWebhookEndpoint: ReturnType<typeof deleteWebhookEndpoint>;
}

/** Returns the same use cases; `report` is called for each change that they made. */
export const reportingChanges = (useCases: Changes, report: (change: SettingChanged) => void): Changes => {
  const reportChange = (
    setting: string,
    { accountId: account, mode }: Tenant,
    { actor: by, requestId }: Actor,
    more: Pick<SettingChanged, 'changed' | 'endpointId'> = {},
  ) => report({ setting, account, mode, by, requestId, ...more });
  return {
    changeSandboxSettings: async (accountId, wish, requester) => {
      const done = await useCases.changeSandboxSettings(accountId, wish, requester);
      if (!isRejection(done))
        reportChange('sandbox', { accountId, mode: 'test' }, requester, { changed: Object.keys(wish) });
      return done;
    },
    rotateOverrideSecret: async (tenant, requester) => {
      const done = await useCases.rotateOverrideSecret(tenant, requester);
      if (!isRejection(done)) reportChange('override secret', tenant, requester);
      return done;
    },
    registerWebhookEndpoint: async (tenant, wish, requester) => {
      const done = await useCases.registerWebhookEndpoint(tenant, wish, requester);
      if (!isRejection(done))
        reportChange('webhook endpoint registered', tenant, requester, {
          endpointId: WEBHOOK_ENDPOINT.idPrefix + done.endpointId,
        });
      return done;
    },
    changeWebhookEndpoint: async (tenant, endpointId, wish, requester) => {
      const done = await useCases.changeWebhookEndpoint(tenant, endpointId, wish, requester);
      const changed = Object.keys(wish).filter((name) => wish[name as keyof typeof wish] !== null);
      if (!isRejection(done) && changed.length > 0)
        reportChange('webhook endpoint changed', tenant, requester, {
          changed,
          endpointId: WEBHOOK_ENDPOINT.idPrefix + endpointId,
        });
      return done;
    },
    rotateWebhookSecret: async (tenant, endpointId, requester) => {
      const done = await useCases.rotateWebhookSecret(tenant, endpointId, requester);
      if (!isRejection(done))
        reportChange('webhook endpoint secret', tenant, requester, {
          endpointId: WEBHOOK_ENDPOINT.idPrefix + endpointId,
        });
      return done;
    },
    deleteWebhookEndpoint: async (tenant, endpointId, requester) => {
      const refused = await useCases.deleteWebhookEndpoint(tenant, endpointId, requester);
      if (refused === null)
        reportChange('webhook endpoint deleted', tenant, requester, {
          endpointId: WEBHOOK_ENDPOINT.idPrefix + endpointId,
        });
      return refused;
    },
  };
};

interface KeyChanges {
  readonly issueApiKey: ReturnType<typeof issueApiKey>;
  readonly rotateApiKey: ReturnType<typeof rotateApiKey>;
  readonly revokeApiKey: ReturnType<typeof revokeApiKey>;
}

/** The same for API keys, which people of an account change in the dashboard. */
export const reportingKeyChanges = (useCases: KeyChanges, report: (change: SettingChanged) => void): KeyChanges => {
  const reportKey = (setting: string, { accountId, keyId, mode }: ApiKey, { actor: by, requestId }: Changer) =>
    report({ setting, account: accountId, mode, by, requestId, keyId: PREFIX.key + keyId });
  return {
    issueApiKey: async (accountId, wish, by) => {
      const done = await useCases.issueApiKey(accountId, wish, by);
      if (!isRejection(done)) reportKey('API key issued', done.key, by);
      return done;
    },
    rotateApiKey: async (accountId, keyId, label, by) => {
      const done = await useCases.rotateApiKey(accountId, keyId, label, by);
      if (!isRejection(done)) reportKey('API key rotated', { ...done.key, keyId }, by);
      return done;
    },
    revokeApiKey: async (accountId, keyId, by) => {
      const done = await useCases.revokeApiKey(accountId, keyId, by);
      if (!isRejection(done)) reportKey('API key revoked', done, by);
      return done;
    },
  };
};
