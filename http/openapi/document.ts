// The OpenAPI 3.1 document at GET /openapi.json, generated from the route table, the error table and the event catalogue.

import type { CatalogueEntry } from '../../domain/kernel/publisher.ts';
import type { ErrorCode } from '../../domain/kernel/rejection.ts';
import { EVENT_CATALOGUE } from '../../domain/presentation/catalogue.ts';
import { API_VERSION } from '../../domain/presentation/envelope.ts';
import { HTTP_MODULES } from '../api/routes.ts';
import { ERRORS, errorType } from '../kernel/errors.ts';
import type { JsonSchema } from '../kernel/jsonSchema.ts';
import type { Route } from '../kernel/route.ts';
import { EXAMPLES, type Examples } from './examples.ts';
import { operationOf } from './operation.ts';
import { NAMED_SCHEMAS, WEBHOOK_EVENTS, withReferences } from './vocabulary.ts';

// --- The schemas of the webhooks in the OpenAPI document, one for each event of the catalogue ---

const BODIES = new Map(HTTP_MODULES.flatMap(({ webhooks }) => Object.entries(webhooks)));

/** Returns the schema of the delivery body of an event. Throws Error when no module describes the event. */
export const webhookSchema = (event: string): JsonSchema => {
  const bodyOf = BODIES.get(event.split('.', 1).join());
  if (bodyOf === undefined) throw new Error(`no module of http/api describes the body of ${event}`);
  return bodyOf(event);
};

type Json = Readonly<Record<string, unknown>>;

const string = (description: string, more: Json = {}): Json => ({ description, schema: { type: 'string', ...more } });
const integer = (description: string): Json => ({ description, schema: { type: 'integer' } });

const errorSchema: Json = {
  type: 'object',
  required: ['error', 'request_id'],
  additionalProperties: false,
  properties: {
    error: {
      type: 'object',
      required: ['type', 'code', 'message'],
      additionalProperties: false,
      properties: {
        type: { type: 'string', enum: [...new Set(Object.values(ERRORS).map(({ status }) => errorType(status)))] },
        code: {
          type: 'string',
          enum: Object.keys(ERRORS),
          description: 'The stable code of the error. Programs should branch on it.',
        },
        message: { type: 'string', description: 'An explanation for people. Its wording may change.' },
        param: { type: 'string', description: 'The invalid field, if a single field caused the error.' },
        details: {
          type: 'array',
          description: 'All validation errors of the request.',
          items: {
            type: 'object',
            required: ['param', 'message'],
            additionalProperties: false,
            properties: { param: { type: 'string' }, message: { type: 'string' } },
          },
        },
      },
    },
    request_id: { type: 'string', description: 'The id of the request, as in the header `X-Request-Id`.' },
  },
};

/** `returnedCodes`: the codes that operations can return. Other codes are returned only outside operations and need no example. */
const components = ({ errors }: Examples, returnedCodes: ReadonlySet<ErrorCode>, docsUrl: string): Json => ({
  securitySchemes: {
    apiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'apikey',
      description:
        'An API key of the account. `ak_live_…` keys use real providers, `ak_test_…` keys use the sandbox. Send the exact key, without surrounding spaces.',
    },
    dashboard: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description:
        'The token that `POST /v1/auth/login` returns. It expires after one hour, or when the user logs out.',
    },
    testApiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'apikey',
      description: 'A test key (`ak_test_…`). With a live key, the request fails with 403 `mode_not_allowed`.',
    },
  },
  parameters: {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      required: true,
      description:
        'A unique value of 8 to 128 printable ASCII characters. A repeat with the same key and body returns the first response. The same key with another body fails with 409. Keys do not expire.',
      schema: { type: 'string', minLength: 8, maxLength: 128, pattern: '^[\\x20-\\x7e]*$' },
      example: 'order-1001',
    },
    RequestId: {
      name: 'X-Request-Id',
      in: 'header',
      description:
        'Your own id for this request: letters, digits, `.`, `_` and `-`. If you omit it, Quita generates one.',
      schema: { type: 'string', maxLength: 128, pattern: '^[A-Za-z0-9._-]+$' },
      example: 'checkout-7f3a',
    },
  },
  headers: {
    RequestId: string('The id of the request: yours if you sent one. Quote it when you contact support.'),
    ErrorHelp: string('A link to the description of this error.', {
      examples: [`<${docsUrl}/errors#unauthorized>; rel="help"`],
    }),
    IdempotentReplayed: string(
      '`true` if this is the stored response to an earlier request with the same key. Absent otherwise.',
      {
        const: 'true',
      },
    ),
    RetryAfter: integer('The number of seconds to wait before a retry.'),
    RateLimitLimit: integer(
      'The maximum number of requests per minute for the key or the IP address. Absent if no limit applies.',
    ),
    RateLimitRemaining: integer('The number of requests left in this minute. Absent if no limit applies.'),
  },
  schemas: { Error: errorSchema, ...NAMED_SCHEMAS },
  examples: Object.fromEntries(
    Object.entries(errors)
      .filter(([code]) => returnedCodes.has(code as ErrorCode))
      .map(([code, value]) => [code, { summary: ERRORS[code as keyof typeof ERRORS].when.replaceAll('`', ''), value }]),
  ),
});

const deliveryHeader = (name: string, description: string): Json => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});

const DELIVERY_ID = deliveryHeader(
  'X-Acme-Delivery-Id',
  'The `wd_` id of the delivery. It is the same in every attempt of this delivery.',
);
const EVENT_TYPE = deliveryHeader('X-Acme-Event-Type', 'The event type, as in the body.');
const SEQUENCE = deliveryHeader(
  'X-Acme-Sequence',
  'The position of the message among those of its payment: 1, 2, 3 and so on. It is the same on every endpoint, retry and resend.',
);
const STANDARD = [
  deliveryHeader('webhook-id', 'Standard Webhooks: the event’s id. Deduplicate on it.'),
  deliveryHeader('webhook-timestamp', 'Standard Webhooks: the time of this attempt in Unix seconds.'),
  deliveryHeader(
    'webhook-signature',
    'Standard Webhooks: `v1,` followed by the Base64 HMAC-SHA256 of `<id>.<timestamp>.<body>`.',
  ),
];
const SIGNATURE = {
  canonical: deliveryHeader(
    'X-Acme-Signature',
    '`t=<unix seconds>,v1=<hex>`: the HMAC-SHA256 of `<t>.<raw body>`, keyed with the endpoint’s secret. Reject a `t` more than 300 seconds from the current time.',
  ),
  legacy: deliveryHeader(
    'X-Acme-Signature',
    '`sha256=<hex>`: the HMAC-SHA256 of the raw body, keyed with the endpoint’s secret.',
  ),
};

const camelCase = (event: string): string =>
  event.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());

const webhook = ({ event, description, legacy }: CatalogueEntry, { webhooks }: Examples): Json => ({
  post: {
    operationId: `on${camelCase(event)}`,
    summary: description,
    description: legacy
      ? 'An event of the older family, for integrations that use the transaction format.'
      : 'Respond with 2xx within 30 seconds. Otherwise Quita retries the delivery, with up to 15 attempts over about two and a half days.',
    tags: [WEBHOOK_EVENTS.name],
    security: [],
    parameters: [SIGNATURE[legacy ? 'legacy' : 'canonical'], DELIVERY_ID, EVENT_TYPE, SEQUENCE, ...STANDARD],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: withReferences(webhookSchema(event)),
          ...(Object.hasOwn(webhooks, event) && { example: webhooks[event] }),
        },
      },
    },
    responses: {
      '2XX': { description: 'The delivery succeeded, whatever the body contains.' },
      '4XX': { description: 'The attempt failed. Quita retries later; after a 429, at the time in `Retry-After`.' },
    },
  },
});

const description = (docsUrl: string): string =>
  `Pix charges and payments for merchants in Brazil: wallets, refunds, signed webhooks.

Amounts are integers in the smallest unit of the currency (centavos for BRL), timestamps are ISO 8601 in UTC. Every response has an
\`X-Request-Id\` header. Every error has a code from [the error reference](${docsUrl}/errors). Start with [the first
charge](${docsUrl}/first-charge).`;

/** Returns the OpenAPI document of the routes. `publicUrl` has no trailing slash. */
export const openApiDocument = (routes: readonly Route[], publicUrl: string, examples: Examples = EXAMPLES): Json => {
  const docsUrl = `${publicUrl}/docs`;
  const byPath = Map.groupBy(routes, ({ path }) => path);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quita',
      version: API_VERSION,
      summary: 'An event-sourced payment gateway for Brazil.',
      description: description(docsUrl),
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl, description: 'This server. The API key selects test or live mode.' }],
    externalDocs: { url: docsUrl, description: 'Guides and reference' },
    tags: [...new Set([...routes.map(({ tag }) => tag), WEBHOOK_EVENTS])],
    paths: Object.fromEntries(
      [...byPath].map(([path, sharing]) => [
        path,
        Object.fromEntries(
          sharing.map((route) => [route.method.toLowerCase(), operationOf(route, examples, withReferences)]),
        ),
      ]),
    ),
    webhooks: Object.fromEntries(EVENT_CATALOGUE.map((entry) => [entry.event, webhook(entry, examples)])),
    components: components(examples, new Set(routes.flatMap((route) => route.errors)), docsUrl),
  };
};
