// From bodies and queries to values or to all that is wrong with them (decisions E1, E2, I12, I14).
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { CodedProblem } from '../domain/charge/request.ts';
import type { ErrorCode, Rejection } from '../domain/kernel/rejection.ts';
import { reject } from '../domain/kernel/rejection.ts';
import type { BodyJudge, BodyRule, QueryRule } from './route.ts';

const ajv = new Ajv({
  allErrors: true,
  allowUnionTypes: true,
  strict: true,
  strictRequired: false,
  strictTypes: false,
});

/** Prototype keys in a body are data of nobody: ajv reads own properties only. */
const ownProperties = new Ajv({ allErrors: true, allowUnionTypes: true, strictTypes: false, ownProperties: true });

export const compileResponse = (schema: object): ValidateFunction => ajv.compile(schema);

const pathOf = ({ instancePath, keyword, params }: ErrorObject): string => {
  const parent = instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  // A value that a list does not take is a fault of the list.
  if (keyword === 'enum') return parent.replace(/\.\d+$/, '');
  if (keyword !== 'required') return parent;
  const missing = (params as { missingProperty: string }).missingProperty;
  return parent === '' ? missing : `${parent}.${missing}`;
};

const messageOf = ({ keyword, message, params }: ErrorObject): string => {
  if (keyword === 'required') return 'is required';
  if (keyword === 'uniqueItems') return 'must not name anything twice';
  if (keyword === 'enum') return `must be one of ${(params as { allowedValues: string[] }).allowedValues.join(', ')}`;
  return message ?? 'is invalid';
};

/** A body may name a field `constructor`: only the tables' own codes count. */
const codeIn = (codes: BodyRule['codes'] | undefined, field: string): ErrorCode | undefined =>
  codes && Object.hasOwn(codes, field) ? codes[field] : undefined;
const codeOf = ({ codes, missing }: BodyRule, param: string, isMissing = false): ErrorCode =>
  (isMissing ? codeIn(missing, param) : undefined) ?? codeIn(codes, param.split('.')[0] as string) ?? 'invalid_request';

/** One problem: its own code and param. Several: `invalid_request`, and `details` lists them all (E2). */
export const rejectionOf = (problems: readonly CodedProblem[]): Rejection => {
  const details = problems.map(({ param, message }) => ({ param, message }));
  const [only, ...others] = problems;
  if (only === undefined) throw new Error('no problem to tell');
  if (others.length > 0)
    return reject(
      'invalid_request',
      `${problems.length} fields are invalid: ${problems.map(({ param }) => param).join(', ')}.`,
      { details },
    );
  if (only.param === '') return reject(only.code, `The body ${only.message}.`, { details });
  return reject(only.code, `${only.param} ${only.message}.`, { param: only.param, details });
};

/** One problem a field: what is told of a part of it is not told again of the whole. */
const firstOfEachParam = (problems: readonly CodedProblem[]): CodedProblem[] =>
  problems.filter(({ param }, i) => {
    const earlier = problems.slice(0, i);
    return !earlier.some((one) => one.param === param || one.param.startsWith(`${param}.`));
  });

export type BodyValidator = (
  body: unknown,
  mayHoldBadStrings: boolean,
  judge: BodyJudge,
) => { readonly body: unknown } | Rejection;

export const bodyValidator = (rule: BodyRule): BodyValidator => {
  const validate = ownProperties.compile(rule.schema);
  return (sent, mayHoldBadStrings, judge) => {
    const isObject = typeof sent === 'object' && sent !== null && !Array.isArray(sent);
    const body = rule.fill && isObject ? rule.fill(sent as Record<string, unknown>) : sent;
    const problems: CodedProblem[] = mayHoldBadStrings
      ? badStrings(body).map((param) => ({
          param,
          message: 'holds a NUL or an unpaired surrogate',
          code: codeOf(rule, param),
        }))
      : [];
    if (!validate(body))
      for (const error of validate.errors ?? []) {
        const param = pathOf(error);
        problems.push({ param, message: messageOf(error), code: codeOf(rule, param, error.keyword === 'required') });
      }
    if (rule.refine && isObject) problems.push(...beyondSchema(rule, body as Fields, problems, judge));
    return problems.length > 0 ? rejectionOf(firstOfEachParam(problems)) : { body };
  };
};

type Fields = Readonly<Record<string, unknown>>;

/** What rules beyond the schema say of the rest of a body whose fields are partly wrong already: all problems are told at once (E2). */
const beyondSchema = (
  { refine, schema }: BodyRule,
  body: Fields,
  known: readonly CodedProblem[],
  judge: BodyJudge,
): readonly CodedProblem[] => {
  if (refine === undefined) return [];
  if (known.length === 0) return refine(body as never, judge);
  // A part of an object with fields of its own goes alone; anything else goes as a whole.
  const wrong = known.map(({ param }) => {
    const [field = '', part] = param.split('.');
    return part !== undefined && schema.properties?.[field]?.properties ? `${field}.${part}` : field;
  });
  const isWrong = (path: string) => wrong.some((one) => path === one || path.startsWith(`${one}.`));
  return refine(without(body, isWrong) as never, judge).filter(({ param }) => !isWrong(param));
};

const without = (body: Fields, isWrong: (path: string) => boolean): Fields => {
  const kept = Object.entries(body).filter(([field]) => !isWrong(field));
  return Object.fromEntries(
    kept.map(([field, value]) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return [field, value];
      return [field, Object.fromEntries(Object.entries(value).filter(([part]) => !isWrong(`${field}.${part}`)))];
    }),
  );
};

const NUL = String.fromCharCode(0);
const isBad = (text: string): boolean => text.includes(NUL) || !text.isWellFormed();

/** A param is shown in the answer: what is wrong with a key must not break the answer too. */
const shown = (key: string): string => key.replaceAll(NUL, '').toWellFormed();

/** Paths of strings and keys that databases refuse (I14). No recursion: a body may be nested as deep as it is long. */
const badStrings = (root: unknown): string[] => {
  const found: string[] = [];
  const stack: { value: unknown; path: string }[] = [{ value: root, path: '' }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { value, path } = next;
    if (typeof value === 'string' && isBad(value)) found.push(path);
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      const at = path === '' ? shown(key) : `${path}.${shown(key)}`;
      if (isBad(key)) found.push(at);
      else stack.push({ value: inner, path: at });
    }
  }
  return found;
};

/** What raw bytes must hold for `badStrings` to be worth looking: escapes of NUL or of surrogates. */
export const mayHoldBadStrings = (raw: string): boolean =>
  raw.includes('\\u') && /\\u(?:0000|[dD][89a-fA-F])/.test(raw);

/** Unknown parameters are ignored (I12); a known one twice, or one that does not parse, is told. */
export const readQuery = (
  rules: { readonly [name: string]: QueryRule },
  query: Record<string, unknown>,
): { query: Record<string, unknown> } | Rejection => {
  const values: Record<string, unknown> = {};
  const problems: CodedProblem[] = [];
  for (const [param, rule] of Object.entries(rules)) {
    const text = Object.hasOwn(query, param) ? query[param] : undefined;
    const value = text === undefined ? rule.fallback : typeof text === 'string' ? rule.parse(text) : undefined;
    if (value !== undefined) values[param] = value;
    else if (text !== undefined)
      problems.push({ param, message: `must be ${rule.description}`, code: rule.code ?? 'invalid_filter' });
  }
  if (problems.length === 0) return { query: values };
  const code = new Set(problems.map((problem) => problem.code)).size === 1 ? problems[0]?.code : undefined;
  const rejection = rejectionOf(problems);
  return code && problems.length > 1 ? { ...rejection, code } : rejection;
};
