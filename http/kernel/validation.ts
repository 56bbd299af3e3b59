// Validates bodies, queries and the Idempotency-Key. Reports all problems at once (rules E1, E2, I12, I14, K6).
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { Request } from 'express';
import type { TSchema } from 'typebox';
import type { CodedProblem } from '../../domain/charge/request.ts';
import { type ErrorCode, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { type JsonSchema, open } from './jsonSchema.ts';
import type { JsonBody, Route, ValidationContext } from './route.ts';

/** Reads own properties only, so that keys of the prototype never count as fields of a body. */
const ownProperties = new Ajv({ allErrors: true, allowUnionTypes: true, strictTypes: false, ownProperties: true });

const pathOf = ({ instancePath, keyword, params }: ErrorObject): string => {
  const parent = instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  if (keyword !== 'required') return parent;
  const { missingProperty: named } = params as { missingProperty: string };
  return shown(parent === '' ? named : `${parent}.${named}`);
};

/** The maximum number of problems reported, which keeps responses readable and no larger than the request. */
const PROBLEMS_MAX = 50;
/** The number of fields that the message names. */
const PROBLEMS_NAMED = 10;
/** The reported length of a param, which is a path of keys and may be as long as the body. */
const PARAM_LENGTH_MAX = 128;

const mustBeOneOf = (values: readonly unknown[]): string => `must be one of ${values.join(', ')}`;

/** Returns a type's name with its article. */
const withArticle = (type: string): string => (type === 'null' ? type : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`);
const sized = (bound: 'least' | 'most', limit: number, unit: string): string =>
  `must have at ${bound} ${limit} ${unit}${limit === 1 ? '' : 's'}`;

interface Params {
  readonly limit: number;
  readonly type: string | readonly string[];
  readonly allowedValues: readonly unknown[];
  readonly allowedValue: unknown;
}

/** Messages by ajv's keyword. Other keywords use ajv's own message. */
const MESSAGES: { readonly [keyword: string]: (params: Params) => string } = {
  required: () => 'is required',
  uniqueItems: () => 'must not contain duplicates',
  enum: ({ allowedValues }) => mustBeOneOf(allowedValues),
  const: ({ allowedValue }) => `must be ${String(allowedValue)}`,
  type: ({ type }) => `must be ${[type].flat().map(withArticle).join(' or ')}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  minLength: ({ limit }) => sized('least', limit, 'character'),
  maxLength: ({ limit }) => sized('most', limit, 'character'),
  minItems: ({ limit }) => sized('least', limit, 'item'),
  maxItems: ({ limit }) => sized('most', limit, 'item'),
};

const messageOf = ({ keyword, message, params }: ErrorObject): string =>
  MESSAGES[keyword]?.(params as Params) ?? message ?? 'is invalid';

/** Reads own properties only, because a body may have a field named `constructor`. */
const codeIn = (codes: JsonBody['codes'], field: string): ErrorCode | undefined =>
  Object.hasOwn(codes, field) ? codes[field] : undefined;
const codeOf = ({ codes, missing }: JsonBody<never>, param: string, isMissing = false): ErrorCode =>
  (isMissing ? codeIn(missing, param) : undefined) ?? codeIn(codes, param.split('.')[0] as string) ?? 'invalid_request';

/** Returns the rejection: one problem gives its own code and param; several give `invalid_request`, and `details` lists them all (E2). */
const rejectionOf = (problems: readonly CodedProblem[], nameless = 'The body'): Rejection => {
  const details = problems.map(({ param, message }) => ({ param, message }));
  const [only, ...others] = problems;
  if (only === undefined) throw new Error('no problem to report');
  if (others.length > 0) {
    const named = problems.slice(0, PROBLEMS_NAMED).map(({ param }) => param);
    const more = problems.length > named.length ? `, and ${problems.length - named.length} more` : '';
    return reject('invalid_request', `${problems.length} fields are invalid: ${named.join(', ')}${more}.`, { details });
  }
  if (only.param === '') return reject(only.code, `${nameless} ${only.message}.`, { details });
  return reject(only.code, `${only.param} ${only.message}.`, { param: only.param, details });
};

/** Returns one problem per field. If a part of a field has a problem, later problems of the whole field are left out. */
const firstOfEachParam = (problems: readonly CodedProblem[]): CodedProblem[] => {
  const reported = new Set<string>();
  return problems.filter(({ param }) => {
    if (reported.has(param)) return false;
    reported.add(param);
    for (let dot = param.lastIndexOf('.'); dot > 0; dot = param.lastIndexOf('.', dot - 1))
      reported.add(param.slice(0, dot));
    return true;
  });
};

type BodyValidator = (
  body: unknown,
  mayHoldBadStrings: boolean,
  context: ValidationContext,
) => { readonly body: unknown } | Rejection;

/** Compiles the schema before the first body. */
export const prepareBody = ({ schema }: JsonBody<never>): void => void compiledFor(schema);

const COMPILED = new WeakMap<object, ValidateFunction>();
const compiledFor = (schema: TSchema): ValidateFunction => {
  const compiled = COMPILED.get(schema) ?? ownProperties.compile(open(schema));
  COMPILED.set(schema, compiled);
  return compiled;
};

export const bodyValidator = (rule: JsonBody<never>): BodyValidator => {
  const { properties = {} }: JsonSchema = rule.schema;
  const lists = Object.entries(properties).filter(([, { type }]) => type === 'array');
  return (sent, mayHoldBadStrings, context) => {
    // Compiled on first use or by prepareBody, so that the start doesn't wait for all schemas.
    const validate = compiledFor(rule.schema);
    const isObject = typeof sent === 'object' && sent !== null && !Array.isArray(sent);
    const body = rule.ignores.length > 0 && isObject ? leavingOut(sent as Fields, rule.ignores) : sent;
    const problems: CodedProblem[] = mayHoldBadStrings
      ? badStrings(body).map((param) => ({
          param,
          message: 'contains a NUL or an unpaired surrogate',
          code: codeOf(rule, param),
        }))
      : [];
    const wrongLists = new Map<string, string>();
    for (const [field, schema] of isObject ? lists : []) {
      const message = listProblem((body as Fields)[field], schema);
      if (message !== null) wrongLists.set(field, message);
    }
    // A list that is invalid as a whole is validated no further: null replaces it, and its own message is reported.
    const judged = wrongLists.size === 0 ? body : { ...(body as Fields), ...nulls(wrongLists.keys()) };
    if (!validate(judged))
      for (const error of validate.errors ?? []) {
        const param = pathOf(error);
        const message = wrongLists.get(param) ?? messageOf(error);
        problems.push({ param, message, code: codeOf(rule, param, error.keyword === 'required') });
      }
    for (const param of unknownFields(rule.schema, body, PROBLEMS_MAX))
      problems.push({ param: shown(param), message: 'is not a known field', code: 'invalid_request' });
    if (rule.refine && isObject) problems.push(...beyondSchema(rule, properties, body as Fields, problems, context));
    return problems.length > 0 ? rejectionOf(firstOfEachParam(problems).slice(0, PROBLEMS_MAX)) : { body };
  };
};

type Fields = Readonly<Record<string, unknown>>;
type Properties = { readonly [name: string]: JsonSchema };

const leavingOut = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

/** Returns the problem of a list as a whole, or null. This check is cheap; costlier rules run only on lists that pass it. */
const listProblem = (value: unknown, { maxItems, items }: JsonSchema): string | null => {
  if (!Array.isArray(value)) return null;
  if (maxItems !== undefined && value.length > maxItems) return sized('most', maxItems, 'item');
  const allowed = items?.enum;
  return allowed === undefined || value.every((item) => allowed.includes(item as string)) ? null : mustBeOneOf(allowed);
};
const nulls = (fields: Iterable<string>): Fields => Object.fromEntries([...fields].map((field) => [field, null]));

/** Returns the problems by rules beyond the schema, applied to the valid fields only, so that all problems are reported at once (E2). */
const beyondSchema = (
  { refine }: JsonBody<never>,
  properties: Properties,
  body: Fields,
  known: readonly CodedProblem[],
  context: ValidationContext,
): readonly CodedProblem[] => {
  if (refine === undefined) return [];
  if (known.length === 0) return refine(body as never, context);
  // In an object with declared fields only the invalid part is removed; any other field is removed as a whole.
  const wrong = new Set(
    known.map(({ param }) => {
      const [field = '', part] = param.split('.', 2);
      return part !== undefined && properties[field]?.properties ? `${field}.${part}` : field;
    }),
  );
  const isWrong = (param: string) => {
    const [field = '', part] = param.split('.', 2);
    return wrong.has(field) || (part !== undefined && wrong.has(`${field}.${part}`));
  };
  return refine(without(body, properties, isWrong) as never, context).filter(({ param }) => !isWrong(param));
};

/** Returns the known fields that are valid; of objects with declared fields, only their valid parts. */
const without = (body: Fields, properties: Properties, isWrong: (param: string) => boolean): Fields => {
  const kept: Record<string, unknown> = {};
  for (const [field, schema] of Object.entries(properties)) {
    if (!Object.hasOwn(body, field) || isWrong(field)) continue;
    const value = body[field];
    const parts = typeof value === 'object' && value !== null ? Object.keys(schema.properties ?? {}) : [];
    kept[field] =
      parts.length === 0
        ? value
        : partsOf(
            value as Fields,
            parts.filter((part) => !isWrong(`${field}.${part}`)),
          );
  }
  return kept;
};

const partsOf = (value: Fields, parts: readonly string[]): Fields =>
  Object.fromEntries(parts.filter((part) => Object.hasOwn(value, part)).map((part) => [part, value[part]]));

const NUL = String.fromCharCode(0);
/** Returns whether databases reject a text for a NUL or an unpaired surrogate (I14). */
export const isBadString = (text: string): boolean => text.includes(NUL) || !text.isWellFormed();

/** Returns a param for the response: shortened, without NUL and unpaired surrogates. */
const shown = (param: string): string => {
  const cut = param.length > PARAM_LENGTH_MAX ? `${param.slice(0, PARAM_LENGTH_MAX - 1)}…` : param;
  return cut.replaceAll(NUL, '').toWellFormed();
};

/** Returns the paths of the first strings and keys that databases reject (I14). Not recursive: a body may be nested arbitrarily deep. */
const badStrings = (root: unknown): string[] => {
  const found: string[] = [];
  const stack: { value: unknown; path: string }[] = [{ value: root, path: '' }];
  for (let next = stack.pop(); next && found.length < PROBLEMS_MAX; next = stack.pop()) {
    const { value, path } = next;
    if (typeof value === 'string' && isBadString(value)) found.push(shown(path));
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      // Paths stop growing beyond the reported length.
      const at = path === '' ? key : path.length > PARAM_LENGTH_MAX ? path : `${path}.${key}`;
      if (!isBadString(key)) stack.push({ value: inner, path: at });
      else if (found.push(shown(at)) === PROBLEMS_MAX) break;
    }
  }
  return found;
};

/** Returns whether raw JSON has escapes of NUL or surrogates, so that `badStrings` must look. */
export const mayHoldBadStrings = (raw: string): boolean =>
  raw.includes('\\u') && /\\u(?:0000|[dD][89a-fA-F])/.test(raw);

/** No parameter may contain U+0000, because PostgreSQL can't even compare it. */
const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0');

/** Returns the query's values or a rejection. Repeated and invalid parameters are problems; unknown ones only on some routes (I12). */
export const readQuery = (
  { query: rules, refusesUnknownQuery }: Pick<Route, 'query' | 'refusesUnknownQuery'>,
  query: Record<string, unknown>,
): { query: Record<string, unknown> } | Rejection => {
  const values: Record<string, unknown> = {};
  const problems: CodedProblem[] = [];
  for (const [param, rule] of Object.entries(rules)) {
    const text = Object.hasOwn(query, param) ? query[param] : undefined;
    const value = text === undefined ? rule.fallback : isText(text) ? rule.parse(text) : undefined;
    if (value !== undefined) values[param] = value;
    else if (text !== undefined && rule.refusal) return rule.refusal;
    else if (text !== undefined) problems.push({ param, message: `must be ${rule.expects}`, code: rule.code });
  }
  if (refusesUnknownQuery)
    for (const name of Object.keys(query))
      if (!Object.hasOwn(rules, name))
        problems.push({ param: shown(name), message: 'is not a known parameter', code: 'invalid_filter' });
  if (problems.length === 0) return { query: values };
  const code = new Set(problems.map((problem) => problem.code)).size === 1 ? problems[0]?.code : undefined;
  const rejection = rejectionOf(firstOfEachParam(problems).slice(0, PROBLEMS_MAX), 'A parameter without a name');
  return code ? { ...rejection, code } : rejection;
};

const HEADER = { param: 'Idempotency-Key' };
/** 8 to 128 printable ASCII characters. */
const KEY = /^[\x20-\x7e]{8,128}$/;

export const idempotencyKeyOf = (req: Request): string | Rejection => {
  const [key = '', ...others] = req.headersDistinct['idempotency-key'] ?? [];
  if (key === '' && others.length === 0)
    return reject('idempotency_key_required', 'The Idempotency-Key header is required.', HEADER);
  if (others.length > 0)
    return reject('invalid_idempotency_key', 'The Idempotency-Key header must occur only once.', HEADER);
  if (!KEY.test(key))
    return reject(
      'invalid_idempotency_key',
      'The Idempotency-Key must be 8 to 128 printable ASCII characters.',
      HEADER,
    );
  return key;
};

/** Returns the paths of at most `max` fields that a closed schema doesn't list (rule I12). Ajv would create an object for each of them. */
const unknownFields = (schema: JsonSchema, body: unknown, max: number): readonly string[] => {
  const found: string[] = [];
  const collect = ({ properties = {}, additionalProperties }: JsonSchema, value: unknown, path: string): void => {
    if (additionalProperties !== false || typeof value !== 'object' || value === null || Array.isArray(value)) return;
    for (const name of Object.keys(value)) {
      if (found.length === max) return;
      const at = path === '' ? name : `${path}.${name}`;
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (known === undefined) found.push(at);
      else collect(known, (value as Readonly<Record<string, unknown>>)[name], at);
    }
  };
  collect(schema, body, '');
  return found;
};
