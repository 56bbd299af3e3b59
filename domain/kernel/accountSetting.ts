// A setting that accounts keep for a capability. It is declared once, in the capability's folder: the account's stream holds its value
// under its name, and the API, the operators' routes and the command line derive from the declaration.
import type { Json } from './json.ts';
import { type Problem, type Rejection, reject } from './rejection.ts';
import { flag, nullable, type Shape } from './serde.ts';

/** Values by the names of their declarations, which alone know their types. */
export interface StoredValues {
  readonly [name: string]: unknown;
}

/** JSON Schema, with a description. */
export interface ValueSchema {
  readonly [keyword: string]: Json;
}

/** Both included. */
export type Bounds = readonly [min: number, max: number];

/** An option of `account settings`. */
interface SettingOption {
  readonly description: string;
  /** Returns what the text sets the setting to, or, of a group, its part. The rejection says what the text must be. */
  readonly read: (text: string) => unknown;
}

export interface AccountSetting<T = unknown> {
  /** In events, in the API, and as the param of a rejection. It never changes. */
  readonly name: string;
  readonly initial: T;
  /** The value in the API. If it has `properties`, it is a group whose parts are changed one by one. */
  readonly schema: ValueSchema;
  /** Whether an OWNER changes it, too. The operator changes every setting. */
  readonly isOwners: boolean;
  /** By name. */
  readonly options: { readonly [option: string]: SettingOption };
  /** The line that shows it at a terminal; null: another setting's line shows it. */
  readonly line: ((settings: StoredValues) => readonly [label: string, text: string]) | null;
  /** Returns the value; the initial one if the account has never stored any. */
  readonly of: (settings: StoredValues) => T;
  /** Returns the value after a change. */
  readonly after: (settings: StoredValues, sent: unknown) => T;
  readonly problemsOf: (settings: StoredValues) => readonly Problem[];
}

type Line<T> = (value: T, settings: StoredValues) => readonly [label: string, text: string];

interface Declared<T> extends Pick<AccountSetting<T>, 'name' | 'initial' | 'schema' | 'options'> {
  /** As events hold it. No setting of a capability holds personal data. */
  readonly shape: Shape<T>;
  readonly isOwners?: true;
  /** Returns what is wrong with a value of the shape. */
  readonly problems?: (value: T) => readonly Problem[];
  readonly line?: Line<T>;
}

/** Returns the value of a name, or the initial one if none is stored. */
export const storedValue =
  <T>({ name, initial, shape }: { readonly name: string; readonly initial: T; readonly shape: Shape<T> }) =>
  (values: StoredValues): T =>
    values[name] === undefined ? initial : shape.decode(values[name], name);

export const accountSetting = <T>({ shape, problems, line, ...declared }: Declared<T>): AccountSetting<T> => {
  const { name, initial, schema } = declared;
  const of = storedValue({ name, initial, shape });
  return {
    isOwners: false,
    ...declared,
    of,
    line: line === undefined ? null : (settings) => line(of(settings), settings),
    after: (settings, sent) =>
      shape.decode(schema['properties'] === undefined ? sent : Object.assign({}, of(settings), sent), name),
    problemsOf: (settings) => problems?.(of(settings)) ?? [],
  };
};

/** Returns the values with those that are not stored yet, in the order of the declarations. Unknown names stay. */
export const completed = (
  values: StoredValues,
  declared: readonly { readonly name: string; readonly of: (values: StoredValues) => unknown }[],
): StoredValues => ({ ...Object.fromEntries(declared.map(({ name, of }) => [name, of(values)])), ...values });

// --- Usual values ---

const mustBe = ([min, max]: Bounds) => `must be a whole number from ${min} to ${max}`;

export const outside = (param: string, value: number, bounds: Bounds): readonly Problem[] => {
  const [min, max] = bounds;
  return Number.isInteger(value) && value >= min && value <= max ? [] : [{ param, message: mustBe(bounds) }];
};

export const wholeNumberIn =
  (bounds: Bounds) =>
  (text: string): number | Rejection => {
    const value = /^\d{1,11}$/.test(text) ? Number(text) : Number.NaN;
    return outside('', value, bounds).length === 0 ? value : reject('invalid_request', mustBe(bounds));
  };

/** Reads a whole number, or one of the words. */
export const wholeNumberOr = (words: { readonly [word: string]: number | null }, bounds: Bounds) => {
  const read = wholeNumberIn(bounds);
  return (text: string): number | null | Rejection => {
    const word = words[text];
    return word === undefined ? read(text) : word;
  };
};

export const onOrOff = (text: string): boolean | Rejection =>
  text === 'on' || text === 'off' ? text === 'on' : reject('invalid_request', 'must be on or off');

/** The schema of a whole number or null. */
export const limitSchema = ([minimum, maximum]: Bounds, description: string): ValueSchema => ({
  type: ['integer', 'null'],
  minimum,
  maximum,
  description,
});

interface Named<T> extends Pick<Declared<T>, 'name' | 'isOwners' | 'line'> {
  readonly description: string;
  readonly option: readonly [name: string, description: string];
}

/** Declares a number that limits something; null, at first: nothing does. `unlimited`: what an operator types for null. */
export const limitSetting = <T extends number>({
  description,
  option: [option, meaning],
  shape,
  bounds,
  unlimited,
  ...named
}: Named<T | null> & { readonly shape: Shape<T>; readonly bounds: Bounds; readonly unlimited: string }) =>
  accountSetting<T | null>({
    ...named,
    initial: null,
    shape: nullable(shape),
    schema: limitSchema(bounds, description),
    problems: (value) => outside(named.name, value ?? 0, bounds),
    options: { [option]: { description: meaning, read: wholeNumberOr({ [unlimited]: null }, bounds) } },
  });

/** Declares a flag that is on at first. */
export const flagSetting = ({ description, option: [option, meaning], ...named }: Named<boolean>) =>
  accountSetting<boolean>({
    ...named,
    initial: true,
    shape: flag,
    schema: { type: 'boolean', description },
    options: { [option]: { description: meaning, read: onOrOff } },
  });
