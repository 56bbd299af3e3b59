// One operation of the OpenAPI document, from one route of the table.
import type { ErrorCode } from '../../domain/kernel/rejection.ts';
import { ERRORS } from '../kernel/errors.ts';
import type { JsonSchema } from '../kernel/jsonSchema.ts';
import type { BodyRule, QueryRule, Route } from '../kernel/route.ts';
import { errorCodesByStatus } from './errorCodes.ts';
import type { Examples, OperationExamples } from './examples.ts';
import { type Refer, tagOf } from './vocabulary.ts';

type Json = Readonly<Record<string, unknown>>;

const ref = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` });

const PATH_PARAMETERS: { readonly [start: string]: string } = {
  '/v1/charges/': 'The charge: its `ch_` id or its raw id.',
  '/v1/payments/': 'The payment: its raw id, its `tx_` id or its `ch_` id.',
  '/v1/webhooks/endpoints/': 'The endpoint: its `we_` id.',
  '/v1/sandbox/charges/': 'The charge: its `ch_` id or its raw id.',
  '/v1/sandbox/payments/': 'The payment: its raw id, its `tx_` id or its `ch_` id.',
  '/v1/sandbox/refunds/': 'The refund: its `rf_` id.',
};

const pathParameters = ({ path }: Route): readonly Json[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: Object.entries(PATH_PARAMETERS).find(([start]) => path.startsWith(start))?.[1] ?? 'Its id.',
    schema: { type: 'string' },
  }));

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** Parameters of other lists that this one refuses are no parameters of it. */
const isAccepted = ([, { description }]: readonly [string, QueryRule]): boolean => !description.startsWith('left out');

const queryParameters = ({ query = {} }: Route): readonly Json[] =>
  Object.entries(query)
    .filter(isAccepted)
    .map(([name, { description, schema, fallback }]) => {
      const { description: _, ...bare } = schema;
      return {
        name,
        in: 'query',
        description: sentence(description),
        schema: { ...bare, ...(fallback !== undefined && { default: fallback }) },
      };
    });

const headerParameters = ({ idempotent }: Route): readonly Json[] => [
  ...(idempotent ? [ref('parameters', 'IdempotencyKey')] : []),
  ref('parameters', 'RequestId'),
];

/** What the route fills in itself is not asked of the caller. */
const asSent = ({ schema, fill }: BodyRule): JsonSchema => {
  const filled = fill ? Object.keys(fill({})) : [];
  return filled.length === 0
    ? schema
    : { ...schema, required: (schema.required ?? []).filter((name) => !filled.includes(name)) };
};

const requestBody = (body: BodyRule, example: unknown, refer: Refer): Json => {
  const schema = asSent(body);
  return {
    required: (schema.required ?? []).length > 0,
    content: { 'application/json': { schema: refer(schema), ...(example !== undefined && { example }) } },
  };
};

/** A repeat under the same key is answered like the first request, and says so. */
const takesIdempotencyKey = ({ idempotent, body }: Route): boolean =>
  idempotent === true || body?.schema.properties?.['idempotencyKey'] !== undefined;

const ALWAYS_SENT = { 'X-Request-Id': ref('headers', 'RequestId') };
const RATE_LIMIT = {
  'X-RateLimit-Limit-Minute': ref('headers', 'RateLimitLimit'),
  'X-RateLimit-Remaining-Minute': ref('headers', 'RateLimitRemaining'),
};

const successResponses = (route: Route, examples: OperationExamples | undefined, refer: Refer): Json =>
  Object.fromEntries(
    Object.entries(route.responses).map(([status, { description, schema }]) => {
      const example = examples?.responses[status];
      return [
        status,
        {
          description,
          headers: {
            ...ALWAYS_SENT,
            ...RATE_LIMIT,
            ...(status === '201' &&
              takesIdempotencyKey(route) && { 'Idempotent-Replayed': ref('headers', 'IdempotentReplayed') }),
          },
          content: { 'application/json': { schema: refer(schema), ...(example !== undefined && { example }) } },
        },
      ];
    }),
  );

const RETRIED = new Set([409, 429, 503]);

/** The one error body, narrowed to the codes that this operation answers with this status. */
const errorSchema = (codes: readonly ErrorCode[]): Json => ({
  allOf: [
    ref('schemas', 'Error'),
    { type: 'object', properties: { error: { type: 'object', properties: { code: { enum: codes } } } } },
  ],
});

const errorResponse = (status: number, codes: readonly ErrorCode[], { errors }: Examples): Json => ({
  description: codes.map((code) => `- \`${code}\`: ${ERRORS[code].when}`).join('\n'),
  headers: {
    ...ALWAYS_SENT,
    Link: ref('headers', 'ErrorHelp'),
    ...(RETRIED.has(status) && { 'Retry-After': ref('headers', 'RetryAfter') }),
    ...(status === 429 && RATE_LIMIT),
  },
  content: {
    'application/json': {
      schema: errorSchema(codes),
      examples: Object.fromEntries(
        codes.filter((code) => Object.hasOwn(errors, code)).map((code) => [code, ref('examples', code)]),
      ),
    },
  },
});

const errorResponses = (route: Route, examples: Examples): Json =>
  Object.fromEntries(
    [...errorCodesByStatus(route)].map(([status, codes]) => [status, errorResponse(status, codes, examples)]),
  );

const SECURITY = { none: [], apikey: [{ apiKey: [] }], testKey: [{ testApiKey: [] }] } as const;

/** `refer` puts a reference to a component in place of each schema that is one. */
export const operationOf = (route: Route, examples: Examples, refer: Refer): Json => {
  const recorded = examples.operations[route.operationId];
  return {
    operationId: route.operationId,
    summary: route.summary,
    tags: [tagOf(route)],
    security: SECURITY[route.auth],
    parameters: [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)],
    ...(route.body && { requestBody: requestBody(route.body, recorded?.request, refer) }),
    responses: { ...successResponses(route, recorded, refer), ...errorResponses(route, examples) },
  };
};
