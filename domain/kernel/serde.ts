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
/** By path with dots between keys. */
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
  { shape, personal }: Pick<StoredVersion<never>, 'shape' | 'personal'>,
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

/** Personal fields by the keys that lead to them. */
type PersonalTree = ReadonlyMap<string, PersonalTree | PersonalField>;

const treeOf = (fields: readonly PersonalField[], depth = 0): PersonalTree =>
  new Map(
    [...Map.groupBy(fields, ({ owner, name }) => owner[depth] ?? name)].map(([key, own]) => {
      const leaf = own.find(({ owner }) => owner.length === depth);
      if (leaf !== undefined && own.length > 1) throw new Error(`the personal field ${leaf.path} contains another one`);
      return [key, leaf ?? treeOf(own, depth + 1)];
    }),
  );

/** Returns a copy without the personal values that hold data, and adds these to `taken` by path. */
const takeFrom = (data: Fields, tree: PersonalTree, taken: Record<string, Json>): Fields => {
  const rest: Record<string, Json> = {};
  for (const key of Object.keys(data)) {
    const value = data[key] as Json;
    const below = tree.get(key);
    if (below === undefined) rest[key] = value;
    else if (!('path' in below)) rest[key] = isObject(value) ? takeFrom(value, below, taken) : value;
    else if (isBlank(value)) rest[key] = value;
    else taken[below.path] = value;
  }
  return rest;
};

const putAt = (data: Json, keys: readonly string[], name: string, value: Json): void => {
  const owner = recordAt(data, keys);
  if (owner !== null && !Object.hasOwn(owner, name)) owner[name] = value;
};

// --- Event types ---

/** The stored format of one version of an event type. */
interface StoredVersion<Data> {
  readonly shape: Shape<Data>;
  /**
   * Paths of personal fields, with dots between keys. If the aggregate holds payers' data, they are sealed, and can be erased (ADR 0017).
   * Money and times are never personal.
   */
  readonly personal: readonly string[];
  /** Fields that stored data omits. Default: none. */
  readonly unsaid?: UnsaidFields;
}

/** A version before the newest: its format as it was, and the way to the next version. */
interface FormerVersion<Data> extends StoredVersion<Data> {
  /** Turns the data into data of the next version. Erased personal fields have their erased values. */
  upcast(data: Data): Json;
  /** The inverse, for all data that this program writes. Needed while `writes` names this version or an older one. */
  downcast?(data: Json): Json;
}

/** Returns a former version of an event type, and checks that its upcast fits its shape. */
export const formerVersion = <Data>(version: FormerVersion<Data>): FormerVersion<unknown> => version;

/** The stored format of one event type: the newest version, and those before it, whose events are upcast when they are read. */
export interface EventSerde<Data> extends StoredVersion<Data> {
  readonly version: number;
  /** By version, from 1 to the one before the newest. Default: none. */
  readonly former?: Readonly<Record<number, FormerVersion<unknown>>>;
  /** The version to write in the release that first reads `version`, because its predecessor can't read it. Default: `version`. */
  readonly writes?: number;
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
  /** Returns the data of a complete form in the newest version. */
  newest(form: StoredForm): Json;
  /** Returns the stored data of a complete form in these surroundings. */
  storedData(form: StoredForm, around: Surroundings): Json;
  /** Whether events of the type have personal fields, in any version. */
  hasPersonal(type: string): boolean;
  /** Returns stored data without its personal values, and these. They are null if the data contains none. */
  takePersonal(stored: StoredForm): { readonly rest: Json; readonly personal: PersonalValues | null };
  /** Puts the personal values back into the stored data; null: puts the erased values there. Changes the data. */
  putPersonal(stored: StoredForm, personal: PersonalValues | null): void;
  /**
   * Decodes a stored event of this version or an older one. Default for `around`: the data is complete.
   * Throws MalformedEvent for an unknown type, a newer version, or data of another shape.
   */
  decode(stored: { type: string; version: number; data: unknown }, around?: Surroundings): E;
}

/** A version's format, prepared for use. */
class Format {
  readonly shape: Shape<unknown>;
  readonly rules: Rules;
  /** Null for the newest version. */
  readonly former: FormerVersion<unknown> | null;
  readonly #type: string;
  readonly #paths: readonly string[];
  #personal: readonly PersonalField[] | null = null;
  #personalTree: PersonalTree | null = null;

  constructor(type: string, { shape, personal, unsaid = {} }: StoredVersion<unknown>, former: Format['former']) {
    this.shape = shape;
    this.rules = rulesOf(unsaid);
    this.former = former;
    this.#type = type;
    this.#paths = personal;
  }
  get hasPersonal(): boolean {
    return this.#paths.length > 0;
  }
  /** Throws if a field can't be erased. Only sealed aggregates ask. */
  get personal(): readonly PersonalField[] {
    this.#personal ??= personalFields(this.#type, { shape: this.shape as Shape<never>, personal: this.#paths });
    return this.#personal;
  }
  get personalTree(): PersonalTree {
    this.#personalTree ??= treeOf(this.personal);
    return this.#personalTree;
  }
}

/** Returns the formats of all versions of a type; the first one is of version 1. */
const formatsOf = (type: string, serde: EventSerde<unknown>): readonly Format[] =>
  Array.from({ length: serde.version }, (_, index) => {
    if (index + 1 === serde.version) return new Format(type, serde, null);
    const former = serde.former?.[index + 1];
    if (former === undefined) throw new Error(`${type}: version ${index + 1} has no format`);
    return new Format(type, former, former);
  });

const upcast = (type: string, formats: readonly Format[], version: number, data: Json): Json => {
  let lifted = data;
  for (let v = version; v < formats.length; v++) {
    const { shape, former } = formats[v - 1] as Format;
    lifted = former!.upcast(shape.decode(lifted, type));
  }
  return lifted;
};

const downcast = (type: string, formats: readonly Format[], version: number, data: Json): Json => {
  let lowered = data;
  for (let v = formats.length - 1; v >= version; v--) {
    const down = formats[v - 1]?.former?.downcast;
    if (down === undefined) throw new Error(`${type}: version ${v} has no downcast`);
    lowered = down(lowered);
  }
  return lowered;
};

export const serdeOf = <E extends AnyFact>(table: SerdeTable<E>): Serde<E> => {
  const entry = (type: string): EventSerde<E['data']> =>
    (Object.hasOwn(table, type) ? table[type as E['type']] : refuse(type, 'a known event type')) as EventSerde<
      E['data']
    >;
  const known = new Map<string, readonly Format[]>();
  const formats = (type: string): readonly Format[] =>
    known.get(type) ?? known.set(type, formatsOf(type, entry(type) as EventSerde<unknown>)).get(type)!;
  const format = ({ type, version }: Pick<StoredForm, 'type' | 'version'>): Format => {
    const all = formats(type);
    return all[version - 1] ?? refuse(type, `a version from 1 to ${all.length}, not ${version}`);
  };
  return {
    types: Object.keys(table),
    table,
    encode: (event) => {
      const { version: newest, writes: version = newest, shape } = entry(event.type);
      const data = shape.encode(event.data);
      return { type: event.type, version, data: downcast(event.type, formats(event.type), version, data) };
    },
    newest: ({ type, version, data }) => upcast(type, formats(type), version, data),
    storedData: (form, around) => leaveOut(form.data, format(form).rules, around),
    hasPersonal: (type) => formats(type).some(({ hasPersonal }) => hasPersonal),
    takePersonal: (form) => {
      const { personalTree } = format(form);
      if (personalTree.size === 0 || !isObject(form.data)) return { rest: form.data, personal: null };
      const personal: Record<string, Json> = {};
      const rest = takeFrom(form.data, personalTree, personal);
      return Object.keys(personal).length === 0 ? { rest: form.data, personal: null } : { rest, personal };
    },
    putPersonal: (form, personal) => {
      if (personal === null) {
        for (const { owner, name, erased } of format(form).personal) putAt(form.data, owner, name, erased);
        return;
      }
      for (const path of Object.keys(personal)) {
        const keys = path.split('.');
        putAt(form.data, keys.slice(0, -1), keys.at(-1) as string, personal[path] as Json);
      }
    },
    decode: (stored, around) => {
      const { type, version } = stored;
      const { rules } = format(stored);
      const data = around === undefined ? (stored.data as Json) : fillIn(stored.data as Json, rules, around);
      return { type, data: entry(type).shape.decode(upcast(type, formats(type), version, data), type) } as E;
    },
  };
};
