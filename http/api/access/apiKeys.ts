// Routes by which users of an account manage its API keys in the dashboard (contract.md API key management).

import { shownFingerprint } from '../../../application/accounts/apiKeys.ts';
import type { NewKey } from '../../../application/accounts/manageKeys.ts';
import { type KeyId, PREFIX, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { type ApiKey, KEY_LABEL_LENGTH_MAX } from '../../../domain/keyring/keyring.ts';
import { mayManageKeys } from '../../../domain/user/user.ts';
import type { SessionCaller } from '../../kernel/callers.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { actorOf, json, jsonBody, ok, pathParam, route } from '../../kernel/route.ts';
import { DASHBOARD } from './login.ts';

export const label = s.described(
  'A label of your own, such as the purpose of the key.',
  s.string(KEY_LABEL_LENGTH_MAX),
);
export const listedKey = {
  id: s.id(PREFIX.key),
  prefix: s.described('The first 12 characters of the key.', s.string()),
  label: s.orNull(label),
  createdAt: s.timestamp,
  mode: s.described('`test` keys use the sandbox, `live` keys use real providers.', s.mode),
};
export const newKeySchema = s.exactly({
  id: listedKey.id,
  apiKey: s.described('The key itself. Returned only once.', s.string()),
  fingerprint: s.described('The first 16 hex characters of the SHA-256 hash of the key.', s.string()),
  prefix: listedKey.prefix,
  label: listedKey.label,
  createdAt: listedKey.createdAt,
  mode: listedKey.mode,
});

export const keyView = ({ keyId, prefix, label, issuedAt, mode }: ApiKey) => ({
  id: PREFIX.key + keyId,
  prefix,
  label,
  createdAt: issuedAt,
  mode,
});

export const newKey = ({ key, cleartext }: NewKey) => {
  const { id, ...rest } = keyView(key);
  return {
    status: 201 as const,
    body: { id, apiKey: cleartext, fingerprint: shownFingerprint(key.fingerprint), ...rest },
  };
};

export const issueBody = s.accepting({
  label: s.optional(label),
  test: s.optional(s.described('Whether to issue a test key, for the sandbox. Default: false.', s.boolean)),
});

const NOT_A_MANAGER = reject('API_KEY_ROLE_REQUIRED', 'Only an OWNER or ADMIN of the account can manage API keys.');
const unlessManager = ({ role }: SessionCaller) => (mayManageKeys(role) ? null : NOT_A_MANAGER);

export const keyParam = {
  id: pathParam(
    'The `key_` id of the API key.',
    (text) => parsePrefixedId<KeyId>(text, PREFIX.key) ?? reject('not_found', 'There is no such API key.'),
  ),
};

export const issueApiKeyRoute = route('POST', '/v1/api-keys', {
  operationId: 'issueApiKey',
  summary: 'Issue an API key',
  description:
    'Issues an API key. Store `apiKey`: later responses don’t contain it. Only an OWNER or ADMIN can issue keys.',
  tag: DASHBOARD,
  principal: 'session',
  refusalOf: unlessManager,
  body: jsonBody({
    schema: issueBody,
  }),
  responses: { 201: json('The new key. It works immediately.', newKeySchema) },
  errors: ['API_KEY_ROLE_REQUIRED', 'change_limit_reached'],
  handle: async (context) => {
    const { caller, body, services } = context;
    const wish = { mode: body.test ? 'test' : 'live', label: body.label ?? null } as const;
    const done = await services.issueApiKey(caller.tenant.accountId, wish, actorOf(context));
    return isRejection(done) ? done : newKey(done);
  },
});

export const listApiKeysRoute = route('GET', '/v1/api-keys', {
  operationId: 'listApiKeys',
  summary: 'List the active API keys',
  description:
    'Returns the active keys of the account by their prefixes, oldest first. `access.canManage` tells whether the user can change them.',
  tag: DASHBOARD,
  principal: 'session',
  responses: {
    200: json(
      'The keys, and whether the user can issue, rotate and revoke them.',
      s.exactly({ data: s.listOf(s.exactly(listedKey)), access: s.exactly({ canManage: s.boolean }) }),
    ),
  },
  handle: async ({ caller, services }) => {
    const keys = await services.listApiKeys(caller.tenant.accountId);
    return { status: 200, body: { data: keys.map(keyView), access: { canManage: mayManageKeys(caller.role) } } };
  },
});

export const rotateApiKeyRoute = route('POST', '/v1/api-keys/{id}/rotate', {
  operationId: 'rotateApiKey',
  params: keyParam,
  summary: 'Replace an API key',
  description:
    'Issues a new key of the same mode and revokes the old one immediately. Store `apiKey`: later responses don’t contain it. Only an OWNER or ADMIN can rotate keys.',
  tag: DASHBOARD,
  principal: 'session',
  refusalOf: unlessManager,
  body: jsonBody({ schema: s.accepting({ label: s.optional(label) }) }),
  responses: {
    201: json('The new key. Every server process rejects the old one.', newKeySchema),
  },
  errors: ['API_KEY_ROLE_REQUIRED', 'change_limit_reached'],
  handle: async (context) => {
    const { caller, params, body, services } = context;
    const done = await services.rotateApiKey(caller.tenant.accountId, params.id, body.label, actorOf(context));
    return isRejection(done) ? done : newKey(done);
  },
});

export const revokeApiKeyRoute = route('DELETE', '/v1/api-keys/{id}', {
  operationId: 'revokeApiKey',
  params: keyParam,
  summary: 'Revoke an API key',
  description: 'Revokes a key immediately. This can’t be undone. Only an OWNER or ADMIN can revoke keys.',
  tag: DASHBOARD,
  principal: 'session',
  refusalOf: unlessManager,
  responses: {
    200: json('The key is revoked. Every server process rejects it.', s.exactly({ revoked: s.boolean })),
  },
  errors: ['API_KEY_ROLE_REQUIRED'],
  handle: async (context) =>
    ok(
      await context.services.revokeApiKey(context.caller.tenant.accountId, context.params.id, actorOf(context)),
      () => ({ revoked: true }),
    ),
});
