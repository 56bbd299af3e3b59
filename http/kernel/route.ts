// A route as data: Express, the tests and the OpenAPI document come from the same table.
import type { Static, TSchema } from 'typebox';
import type { Actor } from '../../application/core/eventMetadata.ts';
import type { ReadModelName } from '../../application/ports/readModels/progress.ts';
import type { CodedProblem } from '../../domain/charge/request.ts';
import type { Mode } from '../../domain/kernel/ids.ts';
import type { ErrorCode, Rejection } from '../../domain/kernel/rejection.ts';
import type { EventSink, Refusal, SentChunks } from './answers.ts';
import { type Caller, type Callers, isKeyed, isOfSession, type Principal } from './callers.ts';
import { closed, type JsonSchema } from './jsonSchema.ts';
import type { AppServices, GatewayServices } from './serverContext.ts';

/** A chapter of the reference. Chapters stand in the order of their first routes. */
export interface Tag {
  readonly name: string;
  readonly description: string;
}

/** Whose share of requests and of places a request takes (rule E8); http/kernel/admission.ts says how much each is. */
export type LimitClass =
  /** The key's requests a minute, and its account's places. */
  | 'key'
  /** The same, but not counted by the limit that a sandbox may set itself: the route changes that one. */
  | 'keyApartFromSandbox'
  /** The user's requests a minute, and the places of its account. */
  | 'user'
  /** The same, but never refused: whoever has a stolen token must not keep its owner from ending the session. */
  | 'logOut'
  /** The address's; pages together have the places of one account. */
  | 'pages'
  | 'catalogue'
  /** The address's, for logins; together they have the places of one account. */
  | 'login'
  /** The address's; answered however busy the process is. */
  | 'readiness'
  | 'unlimited';

/** A piece of the path. */
export interface ParamRule<Value = unknown> {
  readonly description: string;
  readonly schema: JsonSchema;
  /** The value, or what the route answers to a text that is none. */
  readonly parse: (text: string) => Value | Rejection;
}

/** A parameter of the query. It is optional: without it the value is the fallback, or undefined. */
export interface QueryRule<Value = unknown, Fallback extends Value | undefined = Value | undefined> {
  /** What it is for. */
  readonly description: string;
  /** What it must be: "must be …". */
  readonly expects: string;
  readonly schema: JsonSchema;
  /** The value, or undefined when the text is not one. */
  readonly parse: (text: string) => Value | undefined;
  readonly fallback: Fallback;
  /** The answer to a bad value where that must not be reported as a problem of the parameter. */
  readonly refusal?: Rejection;
  /** The code of a bad value. */
  readonly code: ErrorCode;
}

export type ParamRules = { readonly [name: string]: ParamRule };
type QueryRules = { readonly [name: string]: QueryRule };
type ParamsOf<Rules> = {
  readonly [Name in keyof Rules]: Rules[Name] extends ParamRule<infer Value> ? Exclude<Value, Rejection> : never;
};
type QueryOf<Rules> = {
  readonly [Name in keyof Rules]: Rules[Name] extends QueryRule<infer Value, infer Fallback>
    ? Value | (undefined extends Fallback ? undefined : never)
    : never;
};

/** A JSON value that nobody changes. */
export type Frozen<Value> = Value extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
    : Value;

/** What rules beyond the schema may ask. */
export interface ValidationContext {
  readonly mode: Mode;
  readonly services: GatewayServices;
}

/** A JSON body of at most 64 kB. `jsonBody` makes one. */
export interface JsonBody<Body = unknown> {
  readonly kind: 'json';
  /** What a caller sends. */
  readonly schema: TSchema;
  /** The code of a problem by the first part of its path; others are `invalid_request`. */
  readonly codes: { readonly [field: string]: ErrorCode };
  /** The code of a field that is not there, where it is not the one of `codes`. */
  readonly missing: { readonly [field: string]: ErrorCode };
  /** Fields that the route fills in itself: whatever a caller sends in them is ignored. */
  readonly ignores: readonly string[];
  /** Where a charge or payment is created, because old clients send extras. On every other route they are refused (rule I12). */
  readonly ignoresUnknownFields: boolean;
  /** Rules beyond the schema, reported with its problems. Fields in which the schema does not hold are absent, required ones too. */
  readonly refine?: (body: Partial<Body>, context: ValidationContext) => readonly CodedProblem[];
}
export const jsonBody = <Schema extends TSchema>(
  rule: { readonly schema: Schema } & Partial<Omit<JsonBody<Frozen<Static<Schema>>>, 'kind' | 'schema'>>,
): JsonBody<Frozen<Static<Schema>>> => {
  const { ignoresUnknownFields = false, schema } = rule;
  const judged = ignoresUnknownFields ? schema : closed(schema);
  return { kind: 'json', codes: {}, missing: {}, ignores: [], ...rule, schema: judged, ignoresUnknownFields };
};

/** A body that is not held in memory. */
export interface StreamBody {
  readonly kind: 'stream';
  /** null: the handler itself judges type and size, because its URL says what they must be. */
  readonly contentTypes: readonly string[] | null;
  readonly bytesMax: number;
}
/** Chunks as they arrive. Reading more than the rule's `bytesMax` throws PayloadTooLarge, and a connection that ends, BodyCutOff. */
export interface ArrivingBody extends AsyncIterable<Buffer> {
  /** As the request declares them; null: it does not. */
  readonly contentType: string | null;
  readonly size: number | null;
}
export interface NoBody {
  readonly kind: 'none';
}
// `never`: a rule takes the body that its own schema describes.
export type BodyRule = JsonBody<never> | StreamBody | NoBody;
type BodyOf<Rule> = Rule extends JsonBody<infer Body> ? Body : Rule extends StreamBody ? ArrivingBody : undefined;

/** What a route answers with a status that is not an error body. */
export type ResponseRule<Schema extends TSchema = TSchema> =
  | { readonly kind: 'json'; readonly description: string; readonly schema: Schema }
  | { readonly kind: 'bytes'; readonly description: string; readonly contentTypes: readonly string[] }
  | { readonly kind: 'page'; readonly description: string }
  /** `schema`: of the data of each event. */
  | { readonly kind: 'eventStream'; readonly description: string; readonly schema: Schema }
  | { readonly kind: 'empty'; readonly description: string };
type ResponseRules = { readonly [status: number]: ResponseRule };

interface Headers {
  readonly [name: string]: string;
}

interface Contents<Body> {
  readonly json: { readonly body: Body };
  readonly bytes: { readonly contentType: string } & ({ readonly bytes: Uint8Array | string } | SentChunks);
  readonly page: { readonly page: string };
  /** What it does until its end may fail: the connection is then cut, and the fault reported. */
  readonly eventStream: { readonly open: (sink: EventSink) => void | Promise<void> };
  readonly empty: unknown;
}
type ResultOf<Status, Rule> = Rule extends ResponseRule
  ? { readonly status: Status; readonly headers?: Headers } & Contents<SchemaOf<Rule>>[Rule['kind']]
  : never;
type SchemaOf<Rule> = Rule extends { readonly schema: infer Schema extends TSchema } ? Frozen<Static<Schema>> : never;

/** What a route answers, of the shape that its responses declare. */
export type RouteResult<Responses extends ResponseRules = ResponseRules> = {
  [Status in keyof Responses & number]: ResultOf<Status, Responses[Status]>;
}[keyof Responses & number];

/** What the client would rather have of what there is; null when it takes nothing of it (RFC 9110, 12.5). */
export interface Preferences {
  type<Type extends string>(of: readonly Type[]): Type | null;
  language<Language extends string>(of: readonly Language[]): Language | null;
  encoding<Encoding extends string>(of: readonly Encoding[]): Encoding | null;
}

export interface RouteContext<
  Who extends Principal = Principal,
  Params extends ParamRules = ParamRules,
  Query extends QueryRules = QueryRules,
  Body extends BodyRule = BodyRule,
  Called = AppServices,
> {
  readonly caller: Callers[Who];
  readonly params: ParamsOf<Params>;
  readonly query: QueryOf<Query>;
  readonly body: BodyOf<Body>;
  /** Only where the route requires one. */
  readonly idempotencyKey: string;
  readonly requestId: string;
  /** Where the request comes from, as limits count it. */
  readonly address: string;
  readonly prefers: Preferences;
  /** Both wait, for so long or for a turn; meanwhile the request takes no place of those in progress. */
  readonly pause: (ms: number) => Promise<void>;
  readonly apart: <T>(turn: Promise<T>) => Promise<T>;
  readonly services: Called;
}
/** What routes for API keys have in common, for what several of them do. */
export type KeyContext<Params extends ParamRules = ParamRules> = Omit<RouteContext<'apiKey', Params>, 'query' | 'body'>;

interface Named {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** OpenAPI style: `/v1/charges/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** For the reference: what the summary leaves out. Every operation of the OpenAPI document has one. */
  readonly description?: string;
  readonly tag: Tag;
  /** Makes what is made once, so that the first request need not. */
  readonly prepare?: () => void;
}

/** What is written down of a route; `route` fills in what follows from it. */
interface Declaration<
  Who extends Principal,
  Params extends ParamRules,
  Query extends QueryRules,
  Body extends BodyRule,
  Responses extends ResponseRules,
  Called,
> extends Named {
  readonly principal: Who;
  /** Refuses a caller for its role, before anything that it sent is judged; null: it may. Default: whoever the principal lets in may. */
  readonly refusalOf?: (caller: Callers[Who]) => Rejection | null;
  /** Default: `key` where a key is asked for, `user` where a session is, else `pages`. */
  readonly limit?: LimitClass;
  /** Each `{name}` of the path. */
  readonly params?: Params;
  readonly query?: Query;
  /** Lists that filter or page, and statistics: a mistyped filter must not return everything. Elsewhere they are ignored (rule I12). */
  readonly refusesUnknownQuery?: true;
  /** Requires the Idempotency-Key header (contract.md Charges, rule 1). */
  readonly needsIdempotencyKey?: true;
  readonly body?: Body;
  /** Waits until these read models have passed what this process knows of; 503 when they have not within a second (architecture §6). */
  readonly reads?: readonly ReadModelName[];
  readonly responses: Responses;
  /** Beyond what follows from the rest. */
  readonly errors: readonly ErrorCode[];
  readonly handle: (
    context: RouteContext<Who, Params, Query, Body, Called>,
  ) => Promise<RouteResult<NoInfer<Responses>> | Refusal>;
}

/** A header that a request must have. */
export interface HeaderRule {
  readonly description: string;
  readonly schema: JsonSchema;
}

/** A route of the table, whatever the types of what it takes and gives. */
export interface Route extends Named {
  readonly principal: Principal;
  readonly refusalOf: (caller: Callers[Principal]) => Rejection | null;
  readonly limit: LimitClass;
  readonly params: ParamRules;
  readonly query: QueryRules;
  readonly refusesUnknownQuery: boolean;
  /** Those that are required, credentials aside. */
  readonly headers: { readonly [name: string]: HeaderRule };
  readonly body: BodyRule;
  readonly reads: readonly ReadModelName[];
  readonly responses: ResponseRules;
  /** Every code that it can answer. */
  readonly errors: readonly ErrorCode[];
  readonly handle: (context: RouteContext) => Promise<RouteResult | Refusal>;
}

const IDEMPOTENCY_KEY: HeaderRule = {
  description: 'Names this one request: a repeat with the same key and body gets the first answer again.',
  schema: { type: 'string', minLength: 8, maxLength: 128, pattern: '^[\\x20-\\x7e]*$' },
};

/** What follows from who may call, what is taken, and that any process can be too busy or at fault. */
const impliedErrors = ({
  principal,
  limit,
  params,
  query,
  body,
  needsIdempotencyKey,
}: Pick<Route, 'principal' | 'limit' | 'params' | 'query' | 'body'> & {
  needsIdempotencyKey: boolean;
}): ErrorCode[] => [
  ...(Object.keys(params).length > 0 ? (['invalid_request'] as const) : []), // a path that can't be decoded
  ...Object.values(query).map(({ code }) => code),
  ...(needsIdempotencyKey ? (['idempotency_key_required', 'invalid_idempotency_key'] as const) : []),
  ...bodyErrors(body),
  ...(isKeyed(principal) || isOfSession(principal) ? (['unauthorized'] as const) : []),
  ...(principal === 'session' || principal === 'operator' ? (['role_required'] as const) : []),
  ...(principal === 'operator' ? (['second_factor_enrolment_required'] as const) : []),
  ...(principal === 'testKey' ? (['mode_not_allowed'] as const) : []),
  ...(limit === 'unlimited' ? [] : (['rate_limited'] as const)),
  'internal_error',
  'service_unavailable',
];

const bodyErrors = (body: BodyRule): readonly ErrorCode[] => {
  if (body.kind === 'none') return [];
  if (body.kind === 'stream')
    return body.contentTypes === null
      ? ['payload_too_large', 'invalid_request']
      : ['payload_too_large', 'unsupported_media_type', 'invalid_request'];
  const codes = [...Object.values(body.codes), ...Object.values(body.missing)];
  return ['invalid_request', 'invalid_json', 'payload_too_large', 'unsupported_media_type', ...codes];
};

/** Returns what makes routes whose handlers call these services: `routeCalling<AppServices & MoreUseCases>()`. */
export const routeCalling =
  <Called extends AppServices>() =>
  <
    Who extends Principal,
    const Responses extends ResponseRules,
    Params extends ParamRules = NonNullable<unknown>,
    Query extends QueryRules = NonNullable<unknown>,
    Body extends BodyRule = NoBody,
  >(
    declared: Declaration<Who, Params, Query, Body, Responses, Called>,
  ): Route => {
    const { principal, refusalOf = () => null, params = {}, query = {}, handle, errors, ...others } = declared;
    const { needsIdempotencyKey = false, ...named } = others;
    const limit = declared.limit ?? (isKeyed(principal) ? 'key' : isOfSession(principal) ? 'user' : 'pages');
    const body: BodyRule = declared.body ?? { kind: 'none' };
    return {
      refusesUnknownQuery: false,
      reads: [],
      ...named,
      limit,
      principal,
      refusalOf: refusalOf as Route['refusalOf'],
      params,
      query,
      headers: needsIdempotencyKey ? { 'Idempotency-Key': IDEMPOTENCY_KEY } : {},
      body,
      errors: [
        ...new Set([...impliedErrors({ principal, limit, params, query, body, needsIdempotencyKey }), ...errors]),
      ],
      handle: handle as Route['handle'],
    };
  };
export const route = routeCalling<AppServices>();

/** Who asks, and by which request: what commands record as their cause. */
export const actorOf = ({
  caller,
  requestId,
}: {
  readonly caller: Pick<Caller, 'actor'>;
  readonly requestId: string;
}): Actor => ({
  actor: caller.actor,
  requestId,
});

/** The answer to a creation under an idempotency key: 201, the first time and every time it is repeated; a repeat says so (rule K3). */
export const created = <Body>(body: Body, replayed: boolean) => ({
  status: 201 as const,
  body,
  ...(replayed && { headers: { 'Idempotent-Replayed': 'true' } }),
});
