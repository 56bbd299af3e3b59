// Routes by which operators of the platform manage the API keys of any account (rule O1).

import { shownFingerprint } from '../../../application/accounts/apiKeys.ts';
import { NO_ACCOUNT } from '../../../domain/account/account.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { actorOf, json, jsonBody, ok, route } from '../../kernel/route.ts';
import { accountParam } from '../accounts/operatorAccounts.ts';
import { FOR_OPERATORS } from '../ops/operatorRoutes.ts';
import { issueBody, keyParam, keyView, label, listedKey, newKey, newKeySchema } from './apiKeys.ts';

const params = { ...accountParam, keyId: keyParam.id };

const operatorsKeySchema = s.exactly({
  ...listedKey,
  fingerprint: s.described(
    'The first 16 hex characters of the SHA-256 hash of the key, as in request logs.',
    s.string(),
  ),
  lastUsedAt: s.described('The minute of the last use; null if the key was never used.', s.orNull(s.timestamp)),
});

const listKeysOfAccountRoute = route('GET', '/ops/v1/accounts/{id}/api-keys', {
  operationId: 'listKeysOfAccount',
  params: accountParam,
  summary: 'List the active API keys of an account',
  description:
    'Returns the active keys of an account by their prefixes, oldest first, with the time of their last use.',
  ...FOR_OPERATORS,
  responses: {
    200: json('The keys.', s.exactly({ data: s.listOf(operatorsKeySchema) })),
  },
  handle: async ({ params: { id }, services: { platform, listApiKeys } }) => {
    if ((await platform.findAccount(id)) === null) return NO_ACCOUNT;
    const keys = await listApiKeys(id);
    const lastUsed = await platform.lastKeyUses(keys.map(({ keyId }) => keyId));
    const data = keys.map((key) => ({
      ...keyView(key),
      fingerprint: shownFingerprint(key.fingerprint),
      lastUsedAt: lastUsed.get(key.keyId) ?? null,
    }));
    return { status: 200, body: { data } };
  },
});

const issueKeyOfAccountRoute = route('POST', '/ops/v1/accounts/{id}/api-keys', {
  operationId: 'issueKeyOfAccount',
  params: accountParam,
  summary: 'Issue an API key for an account',
  description: 'Issues an API key for an account. Store `apiKey`: later responses don’t contain it.',
  ...FOR_OPERATORS,
  body: jsonBody({ schema: issueBody }),
  responses: { 201: json('The new key. It works immediately.', newKeySchema) },
  errors: ['change_limit_reached'],
  handle: async (context) => {
    const { params: of, body, services } = context;
    const wish = { mode: body.test ? 'test' : 'live', label: body.label ?? null } as const;
    const done = await services.issueApiKey(of.id, wish, actorOf(context));
    return isRejection(done) ? done : newKey(done);
  },
});

const rotateKeyOfAccountRoute = route('POST', '/ops/v1/accounts/{id}/api-keys/{keyId}/rotate', {
  operationId: 'rotateKeyOfAccount',
  params,
  summary: 'Replace an API key of an account',
  description:
    'Issues a new key of the same mode and revokes the old one immediately. Store `apiKey`: later responses don’t contain it.',
  ...FOR_OPERATORS,
  body: jsonBody({ schema: s.accepting({ label: s.optional(label) }) }),
  responses: {
    201: json('The new key. Every server process rejects the old one.', newKeySchema),
  },
  errors: ['change_limit_reached'],
  handle: async (context) => {
    const { params: of, body, services } = context;
    const done = await services.rotateApiKey(of.id, of.keyId, body.label, actorOf(context));
    return isRejection(done) ? done : newKey(done);
  },
});

const revokeKeyOfAccountRoute = route('DELETE', '/ops/v1/accounts/{id}/api-keys/{keyId}', {
  operationId: 'revokeKeyOfAccount',
  params,
  summary: 'Revoke an API key of an account',
  description: 'Revokes a key of an account immediately. This can’t be undone.',
  ...FOR_OPERATORS,
  responses: {
    200: json('The key is revoked. Every server process rejects it.', s.exactly({ revoked: s.boolean })),
  },
  handle: async (context) => {
    const { params: of, services } = context;
    return ok(await services.revokeApiKey(of.id, of.keyId, actorOf(context)), () => ({ revoked: true }));
  },
});

export const OPERATOR_KEY_ROUTES = [
  listKeysOfAccountRoute,
  issueKeyOfAccountRoute,
  rotateKeyOfAccountRoute,
  revokeKeyOfAccountRoute,
];
