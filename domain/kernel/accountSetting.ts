// An account setting, declared once: in a capability's folder, or in domain/account if every account has it. The account's stream stores
// its value under its name. The API, the operators' routes and the command line derive from the declaration.
import type { Json } from './json.ts';
import { type Problem, type Rejection, reject } from './rejection.ts';
import { flag, nullable, type Shape } from './serde.ts';

/** Values by the names of their declarations, which know their types. */
export interface StoredValues {
  readonly [name: string]: unknown;
}

/** JSON Schema, with a description. */
export interface ValueSchema {
  readonly [keyword: string]: Json;
}

/** Inclusive bounds. */
export type Bounds = readonly [min: number, max: number];

type Line = readonly [label: string, text: string];

/** The public part of a setting's declaration. */
interface Shown {
  /** Name in events, in the API, and as the param of a rejection. It never changes. */
  readonly name: string;
  /** Schema of the value in the API. A schema with `properties` is a group whose parts can change separately. */
  readonly schema: ValueSchema;
  /** Whether an account's OWNER may change it, too. The operator may change every setting. */
  readonly isOwners?: true;
  /** Whether its OWNER and ADMINs may change it. */
  readonly isManagers?: true;
  /** Whether an upload changes it, with a route of its own. */
  readonly isUploaded?: true;
  /** Options of `account settings`. `part` names the part of a group that the option sets. `read` rejects invalid text. */
  readonly options: {
    readonly [name: string]: {
      readonly description: string;
      readonly part?: string;
      readonly read: (text: string) => unknown;
    };
  };
}

export interface AccountSetting<T = unknown> extends Shown {
  readonly initial: T;
  readonly shape: Shape<T>;
  /** Returns the stored value, or the initial one if the account has never stored any. */
  readonly of: (settings: StoredValues) => T;
  /** Returns the value after a change. It may have problems. Parts of a group that are not sent keep their values. */
  readonly after: (settings: StoredValues, sent: unknown) => unknown;
  readonly problemsOf: (settings: StoredValues) => readonly Problem[];
  /** Returns its line at a terminal, or null if another setting's line shows it. */
  readonly lineOf: (settings: StoredValues) => Line | null;
}

/** `shape` is the format in events. A setting with personal data is also named in PERSONAL_SETTINGS (domain/account). */
interface Declared<T> extends Shown {
  readonly initial: T;
  readonly shape: Shape<T>;
  /** Converts the sent value. Default: unchanged. */
  readonly sent?: (value: unknown) => unknown;
  readonly problems?: (value: T) => readonly Problem[];
  readonly line?: (value: T, settings: StoredValues) => Line;
}

const isGroup = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the value after a change; parts of a group are merged. */
const merged = (schema: Json | undefined, before: unknown, sent: unknown): unknown => {
  const { properties } = Object(schema) as { readonly properties?: { readonly [part: string]: Json } };
  if (properties === undefined || !isGroup(sent)) return sent;
  const parts = Object.entries(sent).map(([part, value]) => [
    part,
    merged(properties[part], Object(before)[part], value),
  ]);
  return { ...Object(before), ...Object.fromEntries(parts) };
};

export const accountSetting = <T>({ problems, line, sent, ...shown }: Declared<T>): AccountSetting<T> => {
  const { name, initial, shape, schema } = shown;
  const of = storedValue(name, initial, shape);
  return {
    ...shown,
    of,
    after: (settings, change) => merged(schema, of(settings), sent === undefined ? change : sent(change)),
    problemsOf: (settings) => problems?.((settings[name] ?? initial) as T) ?? [],
    lineOf: (settings) => line?.(of(settings), settings) ?? null,
  };
};

/** Returns a reader of the stored value, which returns the initial value if none is stored. */
const storedValue =
  <T>(name: string, initial: T, shape: Shape<T>) =>
  (values: StoredValues): T =>
    values[name] === undefined ? initial : shape.decode(values[name], name);

/** Returns the values with initial values for those not stored yet, in declaration order. Unknown names are kept. */
export const completed = (
  values: StoredValues,
  declared: readonly { readonly name: string; readonly of: (values: StoredValues) => unknown }[],
): StoredValues => {
  const known = Object.fromEntries(declared.map(({ name, of }) => [name, of(values)]));
  return { ...known, ...values, ...known };
};

const mustBe = ([min, max]: Bounds) => `must be a whole number from ${min} to ${max}`;

/** Rejects a text that an operator typed for a setting. */
export const notLike = (example: string, typed: string): Rejection =>
  reject('invalid_request', `must be like ${example}, not "${typed}"`);

export const outside = (param: string, value: number, bounds: Bounds): readonly Problem[] =>
  Number.isInteger(value) && value >= bounds[0] && value <= bounds[1] ? [] : [{ param, message: mustBe(bounds) }];

/** Returns a parser of a whole number or one of the words. */
export const wholeNumber =
  <Word extends number | null = never>(bounds: Bounds, words: { readonly [word: string]: Word } = {}) =>
  (text: string): number | Word | Rejection => {
    if (Object.hasOwn(words, text)) return words[text] as Word;
    const value = /^\d{1,11}$/.test(text) ? Number(text) : Number.NaN;
    return outside('', value, bounds).length === 0
      ? value
      : reject('invalid_request', `${mustBe(bounds)}, not "${text}"`);
  };

/** Returns the schema of a whole number or null. */
export const limitSchema = ([minimum, maximum]: Bounds, description: string): ValueSchema => ({
  type: ['integer', 'null'],
  minimum,
  maximum,
  description,
});

/** Declares a numeric limit that is null (no limit) at first. `unlimited` is the word that an operator types for null. */
export const limitSetting = <T extends number>({
  description,
  option: [option, meaning],
  shape,
  bounds,
  unlimited,
  ...named
}: Pick<Declared<T | null>, 'name' | 'isOwners' | 'line'> & {
  readonly description: string;
  readonly option: readonly [name: string, description: string];
  readonly shape: Shape<T>;
  readonly bounds: Bounds;
  readonly unlimited: string;
}) =>
  accountSetting<T | null>({
    ...named,
    initial: null,
    shape: nullable(shape),
    schema: limitSchema(bounds, description),
    problems: (value) => (value === null ? [] : outside(named.name, value, bounds)),
    options: { [option]: { description: meaning, read: wholeNumber(bounds, { [unlimited]: null }) } },
  });

// --- Sandbox switches, declared in the same way (rule X3) ---

interface ShownSwitch {
  /** Name in events. It never changes. */
  readonly name: string;
  /** Name in the API, which the schemas describe. */
  readonly apiName: string;
  readonly schema: ValueSchema;
  /** Schema of responses. Default: the schema of requests. */
  readonly shownSchema?: ValueSchema;
  /** Whether events omit the initial value, because the oldest ones were written before the switch existed. */
  readonly isUnsaid?: true;
}

export interface SandboxSwitch<T = unknown> extends ShownSwitch {
  readonly initial: T;
  /** Returns the stored value, or the initial one if the account has never stored any. */
  readonly of: (sandbox: StoredValues) => T;
  /** Returns the value to store for a value sent to the API. */
  readonly sent: (value: unknown) => T;
  /** Returns the value that the API responds with. */
  readonly shown: (sandbox: StoredValues) => Json;
}

interface DeclaredSwitch<T> extends ShownSwitch {
  readonly initial: T;
  readonly shape: Shape<T>;
  /** Converts the API's value to the stored one. Default: they are equal. */
  readonly sent?: (value: unknown) => unknown;
  readonly shown?: (value: T) => Json;
}

export const sandboxSwitch = <T extends Json>(declared: DeclaredSwitch<T>): SandboxSwitch<T> => {
  const { shape, sent = (value) => value, shown = (value) => value, ...rest } = declared;
  const of = storedValue(rest.name, rest.initial, shape);
  return { ...rest, of, sent: (value) => shape.decode(sent(value), rest.name), shown: (sandbox) => shown(of(sandbox)) };
};

/** Declares a switch that is initially on. */
export const onSwitch = (named: Pick<DeclaredSwitch<boolean>, 'name' | 'apiName' | 'isUnsaid'>, description: string) =>
  sandboxSwitch<boolean>({ ...named, initial: true, shape: flag, schema: { type: 'boolean', description } });

/** The account settings that every account has and that capabilities declare, and capabilities' sandbox switches. */
export interface DeclaredSettings {
  readonly settings: readonly AccountSetting[];
  readonly switches: readonly SandboxSwitch[];
}
