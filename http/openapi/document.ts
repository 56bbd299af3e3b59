// GET /openapi.json: the OpenAPI 3.1 document, made from the route table, the error table and the event catalogue.

import type { CatalogueEntry } from '../../domain/kernel/publisher.ts';
import type { ErrorCode } from '../../domain/kernel/rejection.ts';
import { EVENT_CATALOGUE } from '../../domain/presentation/catalogue.ts';
import { API_VERSION } from '../../domain/presentation/envelope.ts';
import { ERRORS, errorType } from '../kernel/errors.ts';
import type { Route } from '../kernel/route.ts';
import { EXAMPLES, type Examples } from './examples.ts';
import { operationOf } from './operation.ts';
import { NAMED_SCHEMAS, WEBHOOK_EVENTS, withReferences } from './vocabulary.ts';
import { webhookSchema } from './webhooks.ts';

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
        code: { type: 'string', enum: Object.keys(ERRORS), description: 'Branch on this one.' },
        message: { type: 'string', description: 'For people. It may change.' },
        param: { type: 'string', description: 'The field at fault, when it is one.' },
        details: {
          type: 'array',
          description: 'All problems of a validation.',
          items: {
            type: 'object',
            required: ['param', 'message'],
            additionalProperties: false,
            properties: { param: { type: 'string' }, message: { type: 'string' } },
          },
        },
      },
    },
    request_id: { type: 'string', description: 'The same as in the header `X-Request-Id`.' },
  },
};

/** `answered`: the codes that operations can answer; others are answered to what is no operation. */
const components = ({ errors }: Examples, answered: ReadonlySet<ErrorCode>, docsUrl: string): Json => ({
  securitySchemes: {
    apiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'apikey',
      description:
        'An API key of the account: `ak_live_…` reaches real providers, `ak_test_…` the sandbox. Compared exactly, so without spaces around it.',
    },
    dashboard: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description:
        'The token of a login to the dashboard (`POST /v1/auth/login`). It ends after an hour, or with the logout.',
    },
    testApiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'apikey',
      description: 'A test key (`ak_test_…`). A live key is answered 403 `mode_not_allowed` here.',
    },
  },
  parameters: {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      required: true,
      description:
        '8 to 128 printable ASCII characters that name this one order of yours. The same key with the same body is answered as the first time, for ever; with another body it is answered 409.',
      schema: { type: 'string', minLength: 8, maxLength: 128, pattern: '^[\\x20-\\x7e]*$' },
      example: 'order-1001',
    },
    RequestId: {
      name: 'X-Request-Id',
      in: 'header',
      description: 'Your own name for this request, of letters, digits, `.`, `_` and `-`. Without it one is made.',
      schema: { type: 'string', maxLength: 128, pattern: '^[A-Za-z0-9._-]+$' },
      example: 'checkout-7f3a',
    },
  },
  headers: {
    RequestId: string('The request’s id, yours if you sent one. Name it when you ask for help.'),
    ErrorHelp: string('Where this error is explained.', {
      examples: [`<${docsUrl}/errors#unauthorized>; rel="help"`],
    }),
    IdempotentReplayed: string('There, and `true`, when this is the answer to an earlier request with the same key.', {
      const: 'true',
    }),
    RetryAfter: integer('Seconds after which a repeat makes sense.'),
    RateLimitLimit: integer(
      'Requests a minute that the key or the address may make. Absent where any number is agreed.',
    ),
    RateLimitRemaining: integer('How many of them are left in this minute. Absent where any number is agreed.'),
  },
  schemas: { Error: errorSchema, ...NAMED_SCHEMAS },
  examples: Object.fromEntries(
    Object.entries(errors)
      .filter(([code]) => answered.has(code as ErrorCode))
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
  'The delivery’s `wd_` id: the same in every attempt of this delivery.',
);
const EVENT_TYPE = deliveryHeader('X-Acme-Event-Type', 'The event, as in the body.');
const SEQUENCE = deliveryHeader(
  'X-Acme-Sequence',
  '1, 2, 3 … over the messages of a payment, in their order: the same on every endpoint, retry and resend.',
);
const STANDARD = [
  deliveryHeader('webhook-id', 'Standard Webhooks: the event’s id. Deduplicate on it.'),
  deliveryHeader('webhook-timestamp', 'Standard Webhooks: Unix seconds of this attempt.'),
  deliveryHeader(
    'webhook-signature',
    'Standard Webhooks: `v1,` and the Base64 HMAC-SHA256 of `<id>.<timestamp>.<body>`.',
  ),
];
const SIGNATURE = {
  canonical: deliveryHeader(
    'X-Acme-Signature',
    '`t=<unix seconds>,v1=<hex>`: the HMAC-SHA256 of `<t>.<raw body>` under the endpoint’s secret. Refuse a `t` more than 300 s from now.',
  ),
  legacy: deliveryHeader(
    'X-Acme-Signature',
    '`sha256=<hex>`: the HMAC-SHA256 of the raw body under the endpoint’s secret.',
  ),
};

const camelCase = (event: string): string =>
  event.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());

const webhook = ({ event, description, legacy }: CatalogueEntry, { webhooks }: Examples): Json => ({
  post: {
    operationId: `on${camelCase(event)}`,
    summary: description,
    description: legacy
      ? 'Of the older family, for integrations that speak the transaction format.'
      : 'Answer 2xx within 30 seconds. Anything else is tried again, 15 times over four days.',
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
      '2XX': { description: 'Delivered. The body is not read.' },
      '4XX': { description: 'A failed attempt; it is repeated later, at 429 when `Retry-After` says.' },
    },
  },
});

const description = (docsUrl: string): string =>
  `Pix charges and payments for merchants in Brazil: wallets, refunds, signed webhooks.

Amounts are integers in the smallest unit (centavos of BRL), timestamps are ISO 8601 in UTC. Every answer carries \`X-Request-Id\`, every
error one of the codes in [the error reference](${docsUrl}/errors). Begin with [the first charge](${docsUrl}/first-charge).`;

/** `publicUrl`: without a slash at its end. */
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
    servers: [{ url: publicUrl, description: 'This server. The key tells test from live.' }],
    externalDocs: { url: docsUrl, description: 'Guides and reference' },
    tags: [...new Set([...routes.map(({ tag }) => tag), WEBHOOK_EVENTS])],
    paths: Object.fromEntries(
      [...byPath].map(([path, there]) => [
        path,
        Object.fromEntries(
          there.map((route) => [route.method.toLowerCase(), operationOf(route, examples, withReferences)]),
        ),
      ]),
    ),
    webhooks: Object.fromEntries(EVENT_CATALOGUE.map((entry) => [entry.event, webhook(entry, examples)])),
    components: components(examples, new Set(routes.flatMap((route) => route.errors)), docsUrl),
  };
};
