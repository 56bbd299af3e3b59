// The stored format of events: explicit in both directions, versioned, and upcast when read (architecture §3).
// A shape writes exactly its fields and rejects other data when reading, so that poison events are found and never guessed at.
import type { Fact } from './decider.ts';
import type { Json } from './json.ts';
import { type Minor, toMinor } from './money.ts';
import { isTimestamp, type Timestamp } from './time.ts';

export interface Shape<T> {
  encode(value: T): Json;
  decode(value: unknown, path: string): T;
  /** The stored value in place of erased personal data. Undefined for values that are never personal, such as money and times. */
  readonly erased?: Json | undefined;
  /** The shapes of a record's fields. A union has the fields of all its records. */
  readonly fields?: { readonly [name: string]: Shape<never> };
}

/** The text in place of erased personal data. */
export const ERASED = 'erased';

export class MalformedEvent extends Error {
  override name = 'MalformedEvent';
}
const refuse = (path: string, expected: string): never => {
  throw new MalformedEvent(`${path}: expected ${expected}`);
};

/** Returns the shape of a string of any brand. */
export const text = <T extends string = string>(): Shape<T> => ({
  encode: (value) => value,
  decode: (value, path) => (typeof value === 'string' ? (value as T) : refuse(path, 'a string')),
  erased: ERASED,
});
export const oneOf = <const T extends string>(...values: readonly T[]): Shape<T> => ({
  encode: (value) => value,
  decode: (value, path) => (values.includes(value as T) ? (value as T) : refuse(path, values.join(' | '))),
});
export const time: Shape<Timestamp> = {
  encode: (value) => value,
  decode: (value, path) => (isTimestamp(value) ? value : refuse(path, 'a timestamp')),
};
export const integer: Shape<number> = {
  encode: (value) => value,
  decode: (value, path) => (Number.isSafeInteger(value) ? (value as number) : refuse(path, 'an integer')),
};
export const money: Shape<Minor> = {
  encode: (value) => value,
  decode: (value, path) => (Number.isSafeInteger(value) ? toMinor(value as number) : refuse(path, 'minor units')),
};
export const flag: Shape<boolean> = {
  encode: (value) => value,
  decode: (value, path) => (typeof value === 'boolean' ? value : refuse(path, 'a boolean')),
};
/** Returns the shape of JSON that is stored unchanged, such as a merchant's metadata. */
export const freeForm = <T>(): Shape<T> => ({
  encode: (value) => value as Json,
  decode: (value, path) => (value === undefined ? refuse(path, 'a value') : (value as T)),
  erased: Object.freeze({}),
});
export const nullable = <T>(inner: Shape<T>): Shape<T | null> => ({
  encode: (value) => (value === null ? null : inner.encode(value)),
  decode: (value, path) => (value === null || value === undefined ? null : inner.decode(value, path)),
  erased: null,
});
export const listOf = <T>(inner: Shape<T>): Shape<readonly T[]> => ({
  encode: (values) => values.map(inner.encode),
  decode: (value, path) =>
    Array.isArray(value) ? value.map((item, i) => inner.decode(item, `${path}[${i}]`)) : refuse(path, 'a list'),
  erased: Object.freeze([]),
});
/** Returns undefined if any of the fields can't be erased. */
const erasedRecord = (fields: { readonly [name: string]: Pick<Shape<never>, 'erased'> }): Json | undefined => {
  const values = Object.entries(fields).map(([name, { erased }]) => [name, erased] as const);
  return values.some(([, erased]) => erased === undefined)
    ? undefined
    : Object.freeze(Object.fromEntries(values) as { [name: string]: Json });
};
export const record = <T extends object>(fields: { readonly [K in keyof T]-?: Shape<T[K]> }): Shape<T> => {
  const names = Object.keys(fields) as (keyof T & string)[];
  return {
    encode: (value) => {
      const out: Record<string, Json> = {};
      for (const name of names) out[name] = fields[name].encode(value[name]);
      return out;
    },
    decode: (value, path) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(path, 'an object');
      const out: Partial<T> = {};
      for (const name of names)
        out[name] = fields[name].decode((value as Record<string, unknown>)[name], `${path}.${name}`);
      return out as T;
    },
    erased: erasedRecord(fields),
    fields: fields as Shape<never>['fields'] & object,
  };
};

/** Returns the shape of a union of records, distinguished by the text in their common field `tag`. */
export const taggedBy = <Tag extends string, T extends { readonly [K in Tag]: string }>(
  tag: Tag,
  shapes: { readonly [Value in T[Tag]]: Shape<Extract<T, { readonly [K in Tag]: Value }>> },
): Shape<T> => {
  const shapeOf = (value: unknown, path: string): Shape<T> => {
    const name = (value as { readonly [K in Tag]?: unknown } | null)?.[tag];
    return (typeof name === 'string' && Object.hasOwn(shapes, name)
      ? shapes[name as T[Tag]]
      : refuse(path, `${tag}: ${Object.keys(shapes).join(' | ')}`)) as unknown as Shape<T>;
  };
  return {
    encode: (value) => shapeOf(value, tag).encode(value),
    decode: (value, path) => shapeOf(value, path).decode(value, path),
    fields: Object.assign({}, ...(Object.values(shapes) as Shape<never>[]).map(({ fields }) => fields)),
  };
};

// --- Fields that stored data omits because their value is known or nearly always the same. Reading an event restores them ---

/** Facts known about an event without its data. */
export interface Surroundings {
  /** The stream name after the category. */
  readonly subject: string;
  readonly account: string;
  readonly mode: string;
  readonly correlationId: string;
}

type Plain = null | boolean | number | string;
/** `after` is the text that precedes the known value. Default: none. */
export type Unsaid = { readonly is: keyof Surroundings; readonly after?: string } | { readonly usually: Plain };
/** By path with dots between keys. Applies to all versions of an event. */
export type UnsaidFields = Readonly<Record<string, Unsaid>>;

/** The same as a tree of fields. */
type Rules = ReadonlyMap<string, Unsaid | Rules>;

const rulesOf = (fields: UnsaidFields): Rules => {
  const rules = new Map<string, Unsaid | Rules>();
  const inner = Map.groupBy(Object.entries(fields), ([path]) => path.split('.', 1)[0] as string);
  for (const [key, entries] of inner) {
    const below = entries.map(([path, unsaid]) => [path.slice(key.length + 1), unsaid] as const);
    const [[rest, own]] = below as [readonly [string, Unsaid]];
    rules.set(key, rest === '' ? own : rulesOf(Object.fromEntries(below)));
  }
  return rules;
};

const impliedValue = (unsaid: Unsaid, around: Surroundings): Plain => {
  if ('usually' in unsaid) return unsaid.usually;
  const { is, after } = unsaid;
  return after === undefined ? around[is] : after + around[is];
};

type Fields = { readonly [key: string]: Json };
const isObject = (data: Json | undefined): data is { [key: string]: Json } =>
  typeof data === 'object' && data !== null && !Array.isArray(data);

/** Returns the data without the fields that the rules omit, in its order. */
const leaveOut = (data: Json, rules: Rules, around: Surroundings): Json => {
  if (rules.size === 0 || !isObject(data)) return data;
  const stored: Record<string, Json> = {};
  for (const key of Object.keys(data)) {
    const value = data[key] as Json;
    const rule = rules.get(key);
    if (rule === undefined) stored[key] = value;
    else if (rule instanceof Map) stored[key] = leaveOut(value, rule, around);
    else if (value !== impliedValue(rule as Unsaid, around)) stored[key] = value;
  }
  return stored;
};

/** Returns the data with the fields that the rules omitted, in any order. */
const fillIn = (data: Json, rules: Rules, around: Surroundings): Json => {
  if (rules.size === 0 || !isObject(data)) return data;
  const whole: Record<string, Json> = { ...data };
  for (const [key, rule] of rules) {
    if (!(rule instanceof Map))
      whole[key] = Object.hasOwn(data, key) ? (data[key] as Json) : impliedValue(rule as Unsaid, around);
    else if (isObject(data[key])) whole[key] = fillIn(data[key], rule, around);
  }
  return whole;
};

// --- Personal fields, which the codec takes out of stored data to seal them, and puts back ---

/** Values of personal fields, by path. */
export type PersonalValues = Readonly<Record<string, Json>>;

interface PersonalField {
  readonly path: string;
  /** Keys of the path's records. */
  readonly owner: readonly string[];
  /** The last key of the path. */
  readonly name: string;
  /** Its value when it is erased. */
  readonly erased: Json;
}

/** Throws if a path leads to no field, or to a value that can't be erased. */
const personalFields = (
  type: string,
  { shape, personal }: Pick<EventSerde<unknown>, 'shape' | 'personal'>,
): readonly PersonalField[] =>
  personal.map((path) => {
    const keys = path.split('.');
    const inner = keys.reduce<Shape<never> | undefined>((outer, key) => outer?.fields?.[key], shape as Shape<never>);
    if (inner?.erased === undefined) throw new Error(`${type}: the personal field ${path} can't be erased`);
    return { path, owner: keys.slice(0, -1), name: keys.at(-1) as string, erased: inner.erased };
  });

/** Whether a value contains no data. Such values are not sealed. */
const isBlank = (value: Json): boolean =>
  value === null || (typeof value === 'object' && Object.values(value).every(isBlank));

/** Returns the innermost record of a path in the data, or null. */
const recordAt = (data: Json, keys: readonly string[]): Record<string, Json> | null => {
  let owner: Json | undefined = data;
  for (const key of keys) owner = isObject(owner) ? owner[key] : undefined;
  return isObject(owner) ? owner : null;
};

/** Returns a copy without the fields. `depth`: how many keys of their paths lead to `data`. */
const withoutFields = (data: Fields, fields: readonly PersonalField[], depth = 0): Fields => {
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(data)) {
    const below = fields.find(({ owner, name }) => (owner[depth] ?? name) === key);
    if (below === undefined) copy[key] = data[key] as Json;
    else if (below.owner.length > depth) {
      const inner = fields.filter(({ owner }) => owner[depth] === key);
      copy[key] = withoutFields(data[key] as Fields, inner, depth + 1);
    }
  }
  return copy;
};

const putAt = (data: Json, keys: readonly string[], name: string, value: Json): void => {
  const owner = recordAt(data, keys);
  if (owner !== null && !Object.hasOwn(owner, name)) owner[name] = value;
};

// --- Event types ---

/** The stored format of one event type. */
export interface EventSerde<Data> {
  /** Version that is written. `upcasts` lift older versions when they are read. */
  readonly version: number;
  readonly shape: Shape<Data>;
  /** `upcasts[v]` turns stored data of version v into version v + 1. */
  readonly upcasts?: Readonly<Record<number, (data: Json) => Json>>;
  /**
   * Paths of personal fields, with dots between keys. If the aggregate holds payers' data, they are sealed, and can be erased (ADR 0017).
   * Money and times are never personal. Upcasts find an erased value in place of an erased field.
   */
  readonly personal: readonly string[];
  /** Fields that stored data omits. Default: none. */
  readonly unsaid?: UnsaidFields;
}

// biome-ignore lint/suspicious/noExplicitAny: a table over a union needs the widest member type
type AnyFact = Fact<string, any>;
export type SerdeTable<E extends AnyFact> = { readonly [T in E['type']]: EventSerde<Extract<E, { type: T }>['data']> };

interface StoredForm {
  readonly type: string;
  readonly version: number;
  readonly data: Json;
}

export interface Serde<E extends AnyFact> {
  readonly types: readonly string[];
  readonly table: SerdeTable<E>;
  /** Returns the complete form, including fields that stored data may omit. */
  encode(event: E): StoredForm;
  /** Returns the stored data of a complete form in these surroundings. */
  storedData(form: StoredForm, around: Surroundings): Json;
  /** Returns stored data without its personal values, and these. They are null if the data contains none. */
  takePersonal(type: string, stored: Json): { readonly rest: Json; readonly personal: PersonalValues | null };
  /** Puts the personal values back into the stored data; null: puts the erased values there. Changes the data. */
  putPersonal(type: string, stored: Json, personal: PersonalValues | null): void;
  /**
   * Decodes a stored event of this version or an older one. Default for `around`: the data is complete.
   * Throws MalformedEvent for an unknown type, a newer version, or data of another shape.
   */
  decode(stored: { type: string; version: number; data: unknown }, around?: Surroundings): E;
}

export const serdeOf = <E extends AnyFact>(table: SerdeTable<E>): Serde<E> => {
  const entry = (type: string): EventSerde<E['data']> =>
    (Object.hasOwn(table, type) ? table[type as E['type']] : refuse(type, 'a known event type')) as EventSerde<
      E['data']
    >;
  const rules = new Map(Object.keys(table).map((type) => [type, rulesOf(entry(type).unsaid ?? {})]));
  const rulesFor = (type: string) => rules.get(type) as ReturnType<typeof rulesOf>;
  const known = new Map<string, readonly PersonalField[]>();
  const personalOf = (type: string): readonly PersonalField[] =>
    known.get(type) ?? known.set(type, personalFields(type, entry(type))).get(type)!;
  return {
    types: Object.keys(table),
    table,
    storedData: ({ type, data }, around) => leaveOut(data, rulesFor(type), around),
    takePersonal: (type, stored) => {
      const personal: Record<string, Json> = {};
      const taken = personalOf(type).filter(({ path, owner, name }) => {
        const value = recordAt(stored, owner)?.[name];
        if (value === undefined || isBlank(value)) return false;
        personal[path] = value;
        return true;
      });
      return taken.length === 0
        ? { rest: stored, personal: null }
        : { rest: withoutFields(stored as Fields, taken), personal };
    },
    putPersonal: (type, stored, personal) => {
      if (personal === null) {
        for (const { owner, name, erased } of personalOf(type)) putAt(stored, owner, name, erased);
        return;
      }
      // By its own paths, because an older version may have had others.
      for (const path of Object.keys(personal)) {
        const keys = path.split('.');
        putAt(stored, keys.slice(0, -1), keys.at(-1) as string, personal[path] as Json);
      }
    },
    encode: (event) => {
      const { version, shape } = entry(event.type);
      return { type: event.type, version, data: shape.encode(event.data) };
    },
    decode: ({ type, version, data }, around) => {
      const serde = entry(type);
      if (!(Number.isInteger(version) && version >= 1 && version <= serde.version))
        refuse(type, `a version from 1 to ${serde.version}, not ${version}`);
      let lifted = around === undefined ? (data as Json) : fillIn(data as Json, rulesFor(type), around);
      for (let v = version; v < serde.version; v++)
        lifted = (serde.upcasts?.[v] ?? refuse(type, `an upcast of version ${v}`))(lifted);
      return { type, data: serde.shape.decode(lifted, type) } as E;
    },
  };
};
