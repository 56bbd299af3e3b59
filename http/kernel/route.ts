// Routes as data: Express, the tests and the OpenAPI document derive from the same table.
import type { Static, TSchema } from 'typebox';
import type { Actor } from '../../application/core/eventMetadata.ts';
import type { ReadModelName } from '../../application/ports/readModels/progress.ts';
import type { CodedProblem } from '../../domain/charge/request.ts';
import type { Mode } from '../../domain/kernel/ids.ts';
import { type ErrorCode, isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { EventSink, Refusal, SentChunks } from './answers.ts';
import {
  type Caller,
  type Callers,
  isKeyed,
  isOfBrowser,
  isOfOperators,
  isOfSession,
  type Principal,
} from './callers.ts';
import type { FileForm } from './fileForm.ts';
import type { Form } from './forms.ts';
import { closed, type JsonSchema } from './jsonSchema.ts';
import type { AppServices, GatewayServices } from './serverContext.ts';

/** A chapter of the reference. Chapters are ordered by their first routes. */
export interface Tag {
  readonly name: string;
  readonly description: string;
}

/** The limits that a request counts against (rule E8); http/kernel/admission.ts defines them. */
export type LimitClass =
  /** The key's requests per minute and its account's places. */
  | 'key'
  /** Like `key`, but exempt from the limit that a sandbox can set, because the route changes that limit. */
  | 'keyApartFromSandbox'
  /** The user's requests per minute and the places of its account. */
  | 'user'
  /** Like `user`, but never rejected: a thief of the token must not keep its owner from ending the session. */
  | 'logOut'
  /** The address's requests per minute. All pages together share the places of one account. */
  | 'pages'
  | 'catalogue'
  /** The address's logins per minute. All logins together share the places of one account. */
  | 'login'
  /** The connection's requests per minute and its places. Failed attempts count by address. */
  | 'callbacks'
  /** Auditors: not limited with a token. Failed attempts, and callers without a token, count by address. */
  | 'auditors'
  /** The address's requests per minute. Answered however busy the process is. */
  | 'readiness'
  | 'unlimited';

/** A parameter of the path. */
export interface ParamRule<Value = unknown> {
  readonly description: string;
  readonly schema: JsonSchema;
  /** Returns the value, or the rejection of an invalid text. */
  readonly parse: (text: string) => Value | Rejection;
}

/** Returns the rule of a parameter that `parse` reads from its text, or rejects. */
export const pathParam = <Parsed>(
  description: string,
  parse: (text: string) => Parsed,
): ParamRule<Exclude<Parsed, Rejection>> => ({
  description,
  schema: { type: 'string' },
  parse: parse as ParamRule<Exclude<Parsed, Rejection>>['parse'],
});

/** A query parameter. All are optional: if missing, the value is the fallback or undefined. */
export interface QueryRule<Value = unknown, Fallback extends Value | undefined = Value | undefined> {
  readonly description: string;
  /** Completes the message "must be …". */
  readonly expects: string;
  readonly schema: JsonSchema;
  /** Returns the value, or undefined if the text is invalid. */
  readonly parse: (text: string) => Value | undefined;
  readonly fallback: Fallback;
  /** The answer to an invalid value, if it must not be reported as a problem of the parameter. */
  readonly refusal?: Rejection;
  /** The error code of an invalid value. */
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

/** A JSON value, read-only at every depth. */
export type Frozen<Value> = Value extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
    : Value;

/** Context for validation rules beyond the schema. */
export interface ValidationContext {
  readonly mode: Mode;
  readonly services: GatewayServices;
}

/** A JSON body of at most 64 kB. `jsonBody` makes one. */
export interface JsonBody<Body = unknown> {
  readonly kind: 'json';
  readonly schema: TSchema;
  /** Error codes by the first part of the problem's path; the default is `invalid_request`. */
  readonly codes: { readonly [field: string]: ErrorCode };
  /** Error codes of missing fields, if they differ from those in `codes`. */
  readonly missing: { readonly [field: string]: ErrorCode };
  /** Fields that the route sets itself. Values that a caller sends in them are ignored. */
  readonly ignores: readonly string[];
  /** True where charges or payments are created, because old clients send extra fields. Other routes reject them (rule I12). */
  readonly ignoresUnknownFields: boolean;
  /** Rules beyond the schema, reported together with its problems. Fields that violate the schema are absent, even required ones. */
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
  /** null: the handler checks type and size itself, because they depend on the URL. */
  readonly contentTypes: readonly string[] | null;
  readonly bytesMax: number;
}
/** Chunks as they arrive. Iterating throws PayloadTooLarge beyond `bytesMax`, and BodyCutOff if the connection ends early. */
export interface ArrivingBody extends AsyncIterable<Buffer> {
  /** Type and size that the request declares, or null. */
  readonly contentType: string | null;
  readonly size: number | null;
}
/** The fields of a form of the dashboard, at most 64 kB. The handler reads them, because it shows the form again with the problems. */
export interface FormBody {
  readonly kind: 'form';
}
export const FORM: FormBody = { kind: 'form' };
/** A form of the dashboard with files, `multipart/form-data`, of at most `bytesMax` in all. Its token comes before the first file. */
export interface FilesBody {
  readonly kind: 'files';
  readonly bytesMax: number;
}
export interface NoBody {
  readonly kind: 'none';
}
// `never`, because each rule's `refine` accepts only the body of its own schema.
export type BodyRule = JsonBody<never> | StreamBody | FormBody | FilesBody | NoBody;
type BodyOf<Rule> =
  Rule extends JsonBody<infer Body>
    ? Body
    : Rule extends StreamBody
      ? ArrivingBody
      : Rule extends FormBody
        ? Form
        : Rule extends FilesBody
          ? FileForm
          : undefined;

/** A response of a route other than an error body. */
export type ResponseRule<Schema extends TSchema = TSchema> =
  | { readonly kind: 'json'; readonly description: string; readonly schema: Schema }
  | { readonly kind: 'bytes'; readonly description: string; readonly contentTypes: readonly string[] }
  | { readonly kind: 'page'; readonly description: string }
  /** `schema` describes the data of each event. */
  | { readonly kind: 'eventStream'; readonly description: string; readonly schema: Schema }
  | { readonly kind: 'empty'; readonly description: string };
type ResponseRules = { readonly [status: number]: ResponseRule };

/** Returns the rule of a response with a JSON body. */
export const json = <Schema extends TSchema>(description: string, schema: Schema) =>
  ({ kind: 'json', description, schema }) as const;

interface Headers {
  readonly [name: string]: string;
}

interface Contents<Body> {
  readonly json: { readonly body: Body };
  readonly bytes: { readonly contentType: string } & ({ readonly bytes: Uint8Array | string } | SentChunks);
  readonly page: { readonly page: string };
  /** If it fails before the stream ends, the connection is cut and the fault reported. */
  readonly eventStream: { readonly open: (sink: EventSink) => void | Promise<void> };
  readonly empty: unknown;
}
type ResultOf<Status, Rule> = Rule extends ResponseRule
  ? { readonly status: Status; readonly headers?: Headers } & Contents<SchemaOf<Rule>>[Rule['kind']]
  : never;
type SchemaOf<Rule> = Rule extends { readonly schema: infer Schema extends TSchema } ? Frozen<Static<Schema>> : never;

/** The result of a route, of the shape that its responses declare. */
export type RouteResult<Responses extends ResponseRules = ResponseRules> = {
  [Status in keyof Responses & number]: ResultOf<Status, Responses[Status]>;
}[keyof Responses & number];

/** Content negotiation: each method returns the client's preferred option, or null if it accepts none (RFC 9110, 12.5). */
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
  /** Empty unless the route requires one. */
  readonly idempotencyKey: string;
  readonly requestId: string;
  /** The client's address that limits count by. */
  readonly address: string;
  readonly prefers: Preferences;
  /** Returns a cookie's value, or null. */
  readonly cookie: (name: string) => string | null;
  /** `pause` waits for a time, `apart` for a promise. Meanwhile the request doesn't count as in progress. */
  readonly pause: (ms: number) => Promise<void>;
  readonly apart: <T>(turn: Promise<T>) => Promise<T>;
  readonly services: Called;
}
/** The context that all routes for API keys share, for functions that several of them call. */
export type KeyContext<Params extends ParamRules = ParamRules> = Omit<RouteContext<'apiKey', Params>, 'query' | 'body'>;

interface Named {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** OpenAPI style: `/v1/charges/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** Details for the reference. Every operation of the OpenAPI document has a description. */
  readonly description?: string;
  readonly tag: Tag;
  /** Warms caches before the first request. */
  readonly prepare?: () => void;
}

/** The declaration of a route; `route` fills in the defaults. */
interface Declaration<
  Who extends Principal,
  Params extends ParamRules,
  Query extends QueryRules,
  Body extends BodyRule,
  Responses extends ResponseRules,
  Called,
> extends Omit<Named, 'method' | 'path'> {
  readonly principal: Who;
  /** Returns a rejection if the caller's role may not use the route, or null. Runs before validation. By default every role may. */
  readonly refusalOf?: (caller: Callers[Who]) => Rejection | null;
  /** Admits operators who have not enrolled a second factor, because this is the page where they do. */
  readonly isBeforeSecondFactor?: true;
  /** Default: `key` for API keys, `user` for sessions, otherwise `pages`. */
  readonly limit?: LimitClass;
  /** One rule for each `{name}` of the path. */
  readonly params?: Params;
  readonly query?: Query;
  /** For lists and statistics, where a mistyped filter must not return everything. Other routes ignore unknown parameters (rule I12). */
  readonly refusesUnknownQuery?: true;
  /** Requires the Idempotency-Key header (contract.md Charges, rule 1). */
  readonly needsIdempotencyKey?: true;
  readonly body?: Body;
  /** Read models that must catch up with the events this process knows of. If they don't within a second: 503 (architecture §6). */
  readonly reads?: readonly ReadModelName[];
  readonly responses: Responses;
  /** Error codes beyond those that the rest of the declaration implies, such as `not_found` of a route with parameters. */
  readonly errors?: readonly ErrorCode[];
  readonly handle: (
    context: RouteContext<Who, Params, Query, Body, Called>,
  ) => Promise<RouteResult<NoInfer<Responses>> | Refusal>;
}

/** A required header. */
export interface HeaderRule {
  readonly description: string;
  readonly schema: JsonSchema;
}

/** A route of the table, without the types of its parameters and results. */
export interface Route extends Named {
  readonly principal: Principal;
  readonly refusalOf: (caller: Callers[Principal]) => Rejection | null;
  readonly isBeforeSecondFactor: boolean;
  readonly limit: LimitClass;
  readonly params: ParamRules;
  readonly query: QueryRules;
  readonly refusesUnknownQuery: boolean;
  /** Required headers, except credentials. */
  readonly headers: { readonly [name: string]: HeaderRule };
  readonly body: BodyRule;
  readonly reads: readonly ReadModelName[];
  readonly responses: ResponseRules;
  /** Every code that it can answer. */
  readonly errors: readonly ErrorCode[];
  readonly handle: (context: RouteContext) => Promise<RouteResult | Refusal>;
}

const IDEMPOTENCY_KEY: HeaderRule = {
  description: 'Identifies this request. A repeat with the same key and body returns the first response again.',
  schema: { type: 'string', minLength: 8, maxLength: 128, pattern: '^[\\x20-\\x7e]*$' },
};

/** Returns the error codes that a declaration implies: by principal, parameters and body, and those of an overloaded or faulty process. */
const impliedErrors = ({
  principal,
  limit,
  params,
  query,
  body,
  responses,
  needsIdempotencyKey,
}: Pick<Route, 'principal' | 'limit' | 'params' | 'query' | 'body' | 'responses'> & {
  needsIdempotencyKey: boolean;
}): ErrorCode[] => [
  ...(Object.keys(params).length > 0 ? (['invalid_request'] as const) : []), // a path that can't be decoded
  ...(Object.keys(params).length > 0 && responses[404] === undefined ? (['not_found'] as const) : []),
  ...Object.values(query).map(({ code }) => code),
  ...(needsIdempotencyKey ? (['idempotency_key_required', 'invalid_idempotency_key'] as const) : []),
  ...bodyErrors(body),
  ...(isKeyed(principal) || isOfSession(principal) || principal === 'auditor' ? (['unauthorized'] as const) : []),
  ...(principal === 'session' || principal === 'member' || isOfOperators(principal)
    ? (['role_required'] as const)
    : []),
  ...(isOfOperators(principal) ? (['second_factor_enrolment_required'] as const) : []),
  ...(principal === 'testKey' ? (['mode_not_allowed'] as const) : []),
  ...(limit === 'unlimited' ? [] : (['rate_limited'] as const)),
  'internal_error',
  'service_unavailable',
];

const bodyErrors = (body: BodyRule): readonly ErrorCode[] => {
  if (body.kind === 'none') return [];
  if (body.kind === 'form' || body.kind === 'files')
    return ['csrf_rejected', 'payload_too_large', 'unsupported_media_type', 'invalid_request'];
  if (body.kind === 'stream')
    return body.contentTypes === null
      ? ['payload_too_large', 'invalid_request']
      : ['payload_too_large', 'unsupported_media_type', 'invalid_request'];
  const codes = [...Object.values(body.codes), ...Object.values(body.missing)];
  return ['invalid_request', 'invalid_json', 'payload_too_large', 'unsupported_media_type', ...codes];
};

/** The limits of routes that declare none; otherwise `pages`. */
const LIMITS: { readonly [Who in Principal]?: LimitClass } = {
  apiKey: 'key',
  testKey: 'key',
  anySession: 'user',
  session: 'user',
  member: 'user',
  platformMember: 'user',
  anyMember: 'user',
  operator: 'user',
  auditor: 'auditors',
};

/** The response of a page to a browser without a session. */
const SIGN_IN_FIRST = { 303: { kind: 'empty', description: 'Leads to the page to sign in.' } } as const;

/** Returns the function that declares routes whose handlers call these services: `routeCalling<AppServices & MoreUseCases>()`. */
export const routeCalling =
  <Called extends AppServices>() =>
  <
    Who extends Principal,
    const Responses extends ResponseRules,
    Params extends ParamRules = NonNullable<unknown>,
    Query extends QueryRules = NonNullable<unknown>,
    Body extends BodyRule = NoBody,
  >(
    method: Named['method'],
    path: string,
    declared: Declaration<Who, Params, Query, Body, Responses, Called>,
  ): Route => {
    const { principal, refusalOf = () => null, params = {}, query = {}, handle, errors = [], ...others } = declared;
    const { needsIdempotencyKey = false, ...named } = others;
    const isPage = isOfBrowser(principal) && method === 'GET';
    const responses: ResponseRules = isPage ? { ...SIGN_IN_FIRST, ...declared.responses } : declared.responses;
    const limit = declared.limit ?? LIMITS[principal] ?? 'pages';
    const body: BodyRule = declared.body ?? { kind: 'none' };
    return {
      method,
      path,
      isBeforeSecondFactor: false,
      refusesUnknownQuery: false,
      reads: [],
      ...named,
      responses,
      limit,
      principal,
      refusalOf: refusalOf as Route['refusalOf'],
      params,
      query,
      headers: needsIdempotencyKey ? { 'Idempotency-Key': IDEMPOTENCY_KEY } : {},
      body,
      errors: [
        ...new Set([
          ...impliedErrors({ principal, limit, params, query, body, responses, needsIdempotencyKey }),
          ...errors,
        ]),
      ],
      handle: handle as Route['handle'],
    };
  };
export const route = routeCalling<AppServices>();

/** Returns the actor and request id that commands record as their cause. */
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

/** Returns a rejection unchanged, or a 200 with the body that `view` returns for the reply. */
export const ok = <Done, Body = Exclude<Done, Rejection>>(
  done: Done,
  view: (reply: Exclude<Done, Rejection>) => Body = (reply) => reply as unknown as Body,
) => (isRejection(done) ? done : { status: 200 as const, body: view(done as Exclude<Done, Rejection>) });

/** Returns the 201 of a creation with an idempotency key. Repeats also get 201, with the header `Idempotent-Replayed` (rule K3). */
export const created = <Body>(body: Body, replayed: boolean) => ({
  status: 201 as const,
  body,
  ...(replayed && { headers: { 'Idempotent-Replayed': 'true' } }),
});
