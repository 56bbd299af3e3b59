// Partitions an aggregate's event types into named groups, and lets consumers declare which groups they read or ignore. A group may
// have parts, for consumers that read only some of it. The compiler proves that each type is in exactly one group, and that a consumer
// reads or ignores every group. A new event therefore affects only the readers of its group.
import type { Fact } from './decider.ts';
import type { Serde } from './serde.ts';

interface Typed {
  readonly type: string;
}
/** Event types, or parts, by group name. */
export interface Groups<Type extends string = string> {
  readonly [name: string]: readonly Type[] | Groups<Type>;
}

type TypesIn<Node> = Node extends readonly (infer Type)[] ? Type : { [K in keyof Node]: TypesIn<Node[K]> }[keyof Node];

type NamesIn<Node> = Node extends readonly string[] ? never : { [K in keyof Node]: K | NamesIn<Node[K]> }[keyof Node];
/** The names of groups and their parts. */
export type GroupName<G> = NamesIn<G> & string;

/** The event types in the groups and parts of these names. */
export type TypesOf<Node, Name> = Node extends readonly string[]
  ? never
  : { [K in keyof Node]: K extends Name ? TypesIn<Node[K]> : TypesOf<Node[K], Name> }[keyof Node];

type RepeatedIn<List> = List extends readonly [infer First, ...infer Rest]
  ? Extract<First, Rest[number]> | RepeatedIn<Rest>
  : never;
type TwiceIn<Node> = Node extends readonly string[]
  ? RepeatedIn<Node>
  : { [K in keyof Node]: TwiceIn<Node[K]> | Extract<TypesIn<Node[K]>, TypesIn<Omit<Node, K>>> }[keyof Node];

/** Requires nothing if no type is at fault. Otherwise requires an impossible property, so the compiler's message names the types. */
type None<Fault extends string, Types> = [Types] extends [never] ? unknown : { readonly [F in Fault]: Types };

/** `E` is the union of an aggregate's events, or a part of it. */
export interface Partition<E extends Typed, G extends Groups> {
  readonly groups: G;
  readonly has: (event: Typed) => event is E;
}

const partitionOf = <E extends Typed, G extends Groups>(groups: G): Partition<E, G> => {
  const types: ReadonlySet<string> = new Set(typesIn(groups));
  return { groups, has: (event): event is E => types.has(event.type) };
};

/** Returns a partition of events in which each type is in exactly one group. */
export const partition =
  <E extends Typed>() =>
  <const G extends Groups<E['type']>>(
    groups: G &
      None<'these types are in no group', Exclude<E['type'], TypesIn<G>>> &
      None<'these types are in two groups', TwiceIn<G>>,
  ): Partition<E, G> =>
    partitionOf(groups);

/** Returns a partition with a single group, for aggregates with few event types or consumers that read nearly all of them. */
export const oneGroup = <E extends Fact<string, unknown>>({
  types,
}: Serde<E>): Partition<E, { readonly all: readonly E['type'][] }> => partitionOf({ all: types });

const isList = (node: readonly string[] | Groups): node is readonly string[] => Array.isArray(node);
const typesIn = (node: readonly string[] | Groups): readonly string[] =>
  isList(node) ? node : Object.values(node).flatMap(typesIn);

/** Returns the event types in the groups and parts of these names. */
export const typesOf = (groups: Groups, names: readonly string[]): readonly string[] =>
  Object.entries(groups).flatMap(([name, node]) => {
    if (names.includes(name)) return typesIn(node);
    return isList(node) ? [] : typesOf(node, names);
  });

/** The events that a consumer reads. `Silent` lists types in the groups that it reads but ignores. */
export interface Reading<E extends Typed, Read extends E['type'], Silent extends E['type']> {
  (event: E): event is Extract<E, { readonly type: Read }>;
  readonly isRead: (type: E['type']) => type is Read;
  readonly types: readonly Read[];
  readonly silent: readonly Silent[];
  /** All other types of the partition, including the silent ones. */
  readonly unread: readonly string[];
}

/**
 * Returns a guard for the events that a consumer reads: those of the named groups, except their silent types. A switch over the guarded
 * type is exhaustive.
 */
export const reading = <
  E extends Typed,
  G extends Groups,
  Read extends GroupName<G>,
  Ignored extends GroupName<G>,
  Silent extends TypesOf<G, Read> & string = never,
>(
  { groups }: Partition<E, G>,
  consumer: {
    readonly reads: readonly Read[];
    readonly nothing?: readonly Silent[];
    readonly ignores: readonly Ignored[];
  } & None<'these types are neither read nor ignored', Exclude<TypesIn<G>, TypesOf<G, Read | Ignored>>> &
    None<'these types are both read and ignored', TypesOf<G, Read> & TypesOf<G, Ignored>>,
): Reading<E, Exclude<TypesOf<G, Read> & string, Silent>, Silent> => {
  type ReadType = Exclude<TypesOf<G, Read> & string, Silent>;
  const { reads, nothing: silent = [] } = consumer;
  const ignored: readonly string[] = silent;
  const types = typesOf(groups, reads).filter((type): type is ReadType => !ignored.includes(type));
  const read: ReadonlySet<string> = new Set(types);
  const isRead = (type: E['type']): type is ReadType => read.has(type);
  const guard = (event: E): event is Extract<E, { readonly type: ReadType }> => read.has(event.type);
  const unread = typesIn(groups).filter((type) => !read.has(type));
  return Object.assign(guard, { isRead, types, silent, unread });
};
