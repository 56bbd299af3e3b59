// Routes by which operators manage provider connections (rules V1, V5).

import type { Static } from 'typebox';
import { OPEN_WORK_READS } from '../../../application/ports/readModels/providers.ts';
import type { ConnectionChange } from '../../../application/providers/manageConnections.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { type AccountId, type ConnectionId, parseId, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { PROVIDER_CONNECTION } from '../../../domain/providerConnection/aggregate.ts';
import { NO_CONNECTION } from '../../../domain/providerConnection/decisions.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { actorOf, type Frozen, json, jsonBody, ok, type Route, route } from '../../kernel/route.ts';
import { FOR_OPERATORS } from '../ops/operatorRoutes.ts';
import {
  addConnectionBody,
  addedSchema,
  changeConnectionBody,
  checkSchema,
  clientSecret,
  connectionSchema,
  rotatedSchema,
  webhookSchema,
} from './connectionSchema.ts';

export const connectionParam = {
  id: {
    description: 'The `pc_` id of the provider connection.',
    schema: { type: 'string' },
    parse: (text: string) => parsePrefixedId<ConnectionId>(text, PROVIDER_CONNECTION.idPrefix) ?? NO_CONNECTION,
  },
} as const;

type Body<Schema extends Parameters<typeof jsonBody>[0]['schema']> = Frozen<Static<Schema>>;

const accountOf = (text: string): AccountId => parseId<AccountId>(text, ACCOUNT.idPrefix) as AccountId;

export const wantedOf = (body: Body<typeof addConnectionBody>) => {
  const { clientSecret: _, privateKey: _key, accountId, certificate = null, ca = null, ...settings } = body;
  return {
    kind: 'pix' as const,
    ...settings,
    certificate,
    ca,
    accountId: accountId === undefined ? null : accountOf(accountId),
    methods: settings.methods ?? ['PIX' as const],
    order: settings.order ?? 0,
    requireClientCertificate: settings.requireClientCertificate ?? false,
    allowPrivate: settings.allowPrivate ?? false,
  };
};

const changeOf = ({ accountId, ...change }: Body<typeof changeConnectionBody>): ConnectionChange => ({
  ...change,
  ...(accountId !== undefined && { accountId: accountId === null ? null : accountOf(accountId) }),
});

const addRoute = route('POST', '/ops/v1/providers', {
  operationId: 'addProvider',
  summary: 'Add a provider connection',
  description:
    'Adds a connection to a bank or payment institution for live payments, and enables it. The callback URL contains a secret: register it at the institution, or let the check do it.',
  ...FOR_OPERATORS,
  body: jsonBody({ schema: addConnectionBody }),
  responses: { 201: json('The id and the callback URL.', addedSchema) },
  errors: ['invalid_connection'],
  handle: async (context) => {
    const { body, services } = context;
    const secrets = { clientSecret: body.clientSecret, privateKey: body.privateKey ?? null };
    const done = await services.platform.addProviderConnection(wantedOf(body), secrets, actorOf(context));
    if (isRejection(done)) return done;
    const { connectionId, callbackUrl } = done;
    return { status: 201, body: { id: PROVIDER_CONNECTION.idPrefix + connectionId, callbackUrl } };
  },
});

const listRoute = route('GET', '/ops/v1/providers', {
  operationId: 'listProviders',
  summary: 'List provider connections',
  description: 'Returns all connections that are not removed, oldest first.',
  ...FOR_OPERATORS,
  reads: OPEN_WORK_READS,
  responses: {
    200: { kind: 'json', description: 'The connections.', schema: s.exactly({ data: s.listOf(connectionSchema) }) },
  },
  handle: async ({ services: { platform } }) => ({ status: 200, body: { data: await platform.listConnections() } }),
});

const ONE = {
  params: connectionParam,
  ...FOR_OPERATORS,
  responses: { 200: json('The connection.', connectionSchema) },
} as const;

const showRoute = route('GET', '/ops/v1/providers/{id}', {
  ...ONE,
  operationId: 'showProvider',
  summary: 'Retrieve a provider connection',
  description: 'Returns the settings and the state of a connection, without its secrets.',
  reads: OPEN_WORK_READS,
  handle: async ({ params, services: { platform } }) => {
    const found = await platform.showConnection(params.id);
    return isRejection(found) ? found : { status: 200, body: found };
  },
});

const changeRoute = route('PATCH', '/ops/v1/providers/{id}', {
  ...ONE,
  operationId: 'changeProvider',
  summary: 'Change a provider connection',
  description:
    'Changes the given settings; all processes use them within about a second. A new certificate comes with its private key.',
  body: jsonBody({ schema: changeConnectionBody }),
  errors: ['invalid_connection'],
  handle: async (context) =>
    ok(
      await context.services.platform.changeProviderConnection(
        context.params.id,
        changeOf(context.body),
        actorOf(context),
      ),
    ),
});

const switchRoute = (
  name: 'enable' | 'drain' | 'disable',
  to: 'enabled' | 'draining' | 'disabled',
  summary: string,
  description: string,
) =>
  route('POST', `/ops/v1/providers/{id}/${name}`, {
    ...ONE,
    operationId: `${name}Provider`,
    summary,
    description,
    handle: async (context) =>
      ok(await context.services.platform.switchProviderConnection(context.params.id, to, actorOf(context))),
  });

const removeRoute = route('DELETE', '/ops/v1/providers/{id}', {
  operationId: 'removeProvider',
  summary: 'Remove a provider connection',
  description:
    'Removes a connection and its secrets. While one of its payments or payouts is not final, or a callback not handled, it stays, drained if it was enabled. A repeat succeeds.',
  params: connectionParam,
  ...FOR_OPERATORS,
  responses: { 204: { kind: 'empty', description: 'The connection is removed.' } },
  errors: ['connection_in_use'],
  handle: async (context) => {
    const { params, services, apart } = context;
    const done = await apart(services.platform.removeProviderConnection(params.id, actorOf(context)));
    return isRejection(done) ? done : { status: 204 };
  },
});

const rotateClientSecretRoute = route('POST', '/ops/v1/providers/{id}/client-secret', {
  ...ONE,
  operationId: 'rotateProviderClientSecret',
  summary: 'Replace the client secret of a provider connection',
  description: 'Stores a new client secret. New tokens are requested with it within about a second.',
  body: jsonBody({ schema: s.accepting({ clientSecret }) }),
  errors: ['invalid_connection'],
  handle: async (context) => {
    const { params, body, services } = context;
    const by = actorOf(context);
    return ok(await services.platform.rotateProviderClientSecret(params.id, body.clientSecret, by));
  },
});

const rotateCallbackSecretRoute = route('POST', '/ops/v1/providers/{id}/callback-secret', {
  operationId: 'rotateProviderCallbackSecret',
  summary: 'Replace the callback URL of a provider connection',
  description:
    'Makes a new callback URL. The previous one works for 24 hours, or until the next rotation. Register the new one at the institution.',
  params: connectionParam,
  ...FOR_OPERATORS,
  responses: { 200: json('The new callback URL.', rotatedSchema) },
  handle: async (context) =>
    ok(await context.services.platform.rotateProviderCallbackSecret(context.params.id, actorOf(context))),
});

const checkRoute = route('POST', '/ops/v1/providers/{id}/check', {
  operationId: 'checkProvider',
  summary: 'Check a provider connection',
  description:
    'Requests a token, compares scopes and clocks, creates, reads and cancels a charge of one centavo, registers the webhook and waits up to 30 seconds until the institution calls it.',
  params: connectionParam,
  ...FOR_OPERATORS,
  responses: { 200: json('The steps.', checkSchema) },
  errors: ['invalid_connection'],
  handle: async ({ params, services: { platform }, apart }) => {
    const steps = await apart(platform.checkProviderConnection(params.id));
    if (isRejection(steps)) return steps;
    const shown = steps.map(({ name, isOk: ok, detail }) => ({ name, ok, detail }));
    return { status: 200, body: { ok: shown.every(({ ok }) => ok), steps: shown } };
  },
});

const WEBHOOK = {
  params: connectionParam,
  ...FOR_OPERATORS,
  responses: { 200: json('The registered URL.', webhookSchema) },
  errors: ['invalid_connection'],
} as const;

const registerWebhookRoute = route('POST', '/ops/v1/providers/{id}/webhook', {
  ...WEBHOOK,
  operationId: 'registerProviderWebhook',
  summary: 'Register the callback URL at the institution',
  description: 'Registers the connection’s callback URL for its Pix key. Replaces the URL registered before.',
  handle: async ({ params, services: { platform }, apart }) =>
    ok(await apart(platform.registerProviderWebhook(params.id))),
});

const showWebhookRoute = route('GET', '/ops/v1/providers/{id}/webhook', {
  ...WEBHOOK,
  operationId: 'showProviderWebhook',
  summary: 'Show the callback URL registered at the institution',
  description: 'Asks the institution which URL is registered for the Pix key.',
  handle: async ({ params, services: { platform }, apart }) => ok(await apart(platform.showProviderWebhook(params.id))),
});

export const OPERATOR_CONNECTION_ROUTES: readonly Route[] = [
  addRoute,
  listRoute,
  showRoute,
  changeRoute,
  switchRoute('enable', 'enabled', 'Enable a provider connection', 'The connection takes new payments.'),
  switchRoute(
    'drain',
    'draining',
    'Drain a provider connection',
    'The connection takes no new payments. Everything else continues: settlements, returns, refunds, payouts.',
  ),
  switchRoute(
    'disable',
    'disabled',
    'Disable a provider connection',
    'The connection makes no calls at all. Its payments wait until it is enabled or drained.',
  ),
  removeRoute,
  rotateClientSecretRoute,
  rotateCallbackSecretRoute,
  checkRoute,
  registerWebhookRoute,
  showWebhookRoute,
];
