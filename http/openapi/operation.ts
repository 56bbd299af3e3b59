// Converts a route to an operation of the OpenAPI document.
import type { ErrorCode } from '../../domain/kernel/rejection.ts';
import type { Principal } from '../kernel/callers.ts';
import { ERRORS } from '../kernel/errors.ts';
import type { JsonSchema } from '../kernel/jsonSchema.ts';
import type { BodyRule, QueryRule, Route } from '../kernel/route.ts';
import type { Examples, OperationExamples } from './examples.ts';
import type { Refer } from './vocabulary.ts';

type Json = Readonly<Record<string, unknown>>;

const ref = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` });

const pathParameters = ({ params }: Route): readonly Json[] =>
  Object.entries(params).map(([name, { description, schema }]) => ({
    name,
    in: 'path',
    required: true,
    description,
    schema,
  }));

/** Leaves out parameters that a list knows only to reject them (see `neverAccepted`). */
const isAccepted = ([, { expects }]: readonly [string, QueryRule]): boolean => !expects.startsWith('omitted');

const queryParameters = ({ query }: Route): readonly Json[] =>
  Object.entries(query)
    .filter(isAccepted)
    .map(([name, { description, schema }]) => ({ name, in: 'query', description, schema }));

const headerParameters = (route: Route): readonly Json[] => [
  ...(needsIdempotencyKey(route) ? [ref('parameters', 'IdempotencyKey')] : []),
  ref('parameters', 'RequestId'),
];

/** A raw file. OpenAPI 3.1 has no type for bytes, but tools know this format. */
const FILE: Json = { schema: { type: 'string', format: 'binary' } };

const requestBody = (body: BodyRule, example: unknown, refer: Refer): Json | null => {
  if (body.kind === 'stream')
    return (
      body.contentTypes && {
        required: true,
        content: Object.fromEntries(body.contentTypes.map((type) => [type, FILE])),
      }
    );
  if (body.kind === 'none' || body.kind === 'form' || body.kind === 'files') return null;
  const schema: JsonSchema = body.schema;
  return {
    required: (schema.required ?? []).length > 0,
    content: { 'application/json': { schema: refer(schema), ...(example !== undefined && { example }) } },
  };
};

const needsIdempotencyKey = ({ headers }: Route): boolean => Object.hasOwn(headers, 'Idempotency-Key');

/** Whether the response to a repeated request has the header `Idempotent-Replayed`. */
const acceptsIdempotencyKey = (route: Route): boolean =>
  needsIdempotencyKey(route) ||
  (route.body.kind === 'json' && Object.hasOwn((route.body.schema as JsonSchema).properties ?? {}, 'idempotencyKey'));

const ALWAYS_SENT = { 'X-Request-Id': ref('headers', 'RequestId') };
const RATE_LIMIT = {
  'X-RateLimit-Limit-Minute': ref('headers', 'RateLimitLimit'),
  'X-RateLimit-Remaining-Minute': ref('headers', 'RateLimitRemaining'),
};

const successResponses = (route: Route, examples: OperationExamples | undefined, refer: Refer): Json =>
  Object.fromEntries(
    Object.entries(route.responses).map(([status, response]) => {
      // A late response has the same form as a timely one.
      const timely = status === '202' ? (examples?.responses['200'] ?? examples?.responses['201']) : undefined;
      const example = examples?.responses[status] ?? timely;
      return [
        status,
        {
          description: response.description,
          headers: {
            ...ALWAYS_SENT,
            ...RATE_LIMIT,
            ...(status === '201' &&
              acceptsIdempotencyKey(route) && { 'Idempotent-Replayed': ref('headers', 'IdempotentReplayed') }),
          },
          ...(response.kind === 'json' && {
            content: {
              'application/json': { schema: refer(response.schema), ...(example !== undefined && { example }) },
            },
          }),
        },
      ];
    }),
  );

const RETRIED = new Set([409, 429, 503]);

/** Lists the codes in the description, names their examples, and repeats them for programs in `x-codes`. */
const errorResponse = (status: number, codes: readonly ErrorCode[], { errors }: Examples): Json => ({
  description: codes.map((code) => `- \`${code}\`: ${ERRORS[code].when}`).join('\n'),
  'x-codes': codes,
  headers: {
    ...ALWAYS_SENT,
    Link: ref('headers', 'ErrorHelp'),
    ...(RETRIED.has(status) && { 'Retry-After': ref('headers', 'RetryAfter') }),
    ...(status === 429 && RATE_LIMIT),
  },
  content: {
    'application/json': {
      schema: ref('schemas', 'Error'),
      examples: Object.fromEntries(
        codes.filter((code) => Object.hasOwn(errors, code)).map((code) => [code, ref('examples', code)]),
      ),
    },
  },
});

/** Returns the error codes by ascending status; the codes of a status are in the order of the error table. */
const errorCodesByStatus = ({ errors }: Route): ReadonlyMap<number, readonly ErrorCode[]> => {
  const inOrder = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => errors.includes(code));
  const byStatus = Map.groupBy(inOrder, (code) => ERRORS[code].status);
  return new Map([...byStatus].sort(([a], [b]) => a - b));
};

const errorResponses = (route: Route, examples: Examples): Json =>
  Object.fromEntries(
    [...errorCodesByStatus(route)].map(([status, codes]) => [status, errorResponse(status, codes, examples)]),
  );

const SECURITY: Partial<Record<Principal, readonly Json[]>> = {
  public: [],
  apiKey: [{ apiKey: [] }],
  testKey: [{ testApiKey: [] }],
  anySession: [{ dashboard: [] }],
  session: [{ dashboard: [] }],
  operator: [{ dashboard: [] }],
};

/** Returns the operation of a route. `refer` replaces each named schema with a reference to its component. */
export const operationOf = (route: Route, examples: Examples, refer: Refer): Json => {
  const recorded = examples.operations[route.operationId];
  const body = requestBody(route.body, recorded?.request, refer);
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: route.description,
    tags: [route.tag.name],
    security: SECURITY[route.principal],
    parameters: [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)],
    ...(body && { requestBody: body }),
    responses: { ...successResponses(route, recorded, refer), ...errorResponses(route, examples) },
  };
};
