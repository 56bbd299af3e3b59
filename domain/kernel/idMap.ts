// An immutable map by id. Adding or removing an entry copies only the path to the entry, some dozens of references at any size. The fold
// of a long stream therefore takes time in proportion to its length.

interface Leaf<Value> {
  readonly id: string;
  readonly value: Value;
}
/**
 * A trie over the characters from the end of the id, with '' before the first one. Ids end almost randomly, which keeps the trie flat;
 * all ids of an account start alike.
 */
type Node<Value> = ReadonlyMap<string, Node<Value> | Leaf<Value>>;
export type IdMap<Value> = Node<Value>;

export const EMPTY_ID_MAP: IdMap<never> = new Map();

const characterAt = (id: string, depth: number): string => id.charAt(id.length - 1 - depth);

const isNode = <Value>(one: Node<Value> | Leaf<Value>): one is Node<Value> => one instanceof Map;

const replaced = <Value>(node: Node<Value>, at: string, by: Node<Value> | Leaf<Value>): Node<Value> =>
  new Map(node).set(at, by);

const put = <Value>(node: Node<Value>, leaf: Leaf<Value>, depth: number): Node<Value> => {
  const at = characterAt(leaf.id, depth);
  const there = node.get(at);
  if (there === undefined || (!isNode(there) && there.id === leaf.id)) return replaced(node, at, leaf);
  const below = isNode(there) ? there : put<Value>(new Map(), there, depth + 1);
  return replaced(node, at, put(below, leaf, depth + 1));
};

const drop = <Value>(node: Node<Value>, id: string, depth: number): Node<Value> => {
  const at = characterAt(id, depth);
  const there = node.get(at);
  if (there === undefined || (!isNode(there) && there.id !== id)) return node;
  if (isNode(there)) {
    const below = drop(there, id, depth + 1);
    if (below === there) return node;
    if (below.size > 0) return replaced(node, at, below);
  }
  const rest = new Map(node);
  rest.delete(at);
  return rest;
};

/** Returns the map with this entry, which replaces an entry of the same id. */
export const withEntry = <Value>(map: IdMap<Value>, id: string, value: Value): IdMap<Value> =>
  put(map, { id, value }, 0);

/** Returns the map without the entry of this id, or the same map if it has no such id. */
export const withoutEntry = <Value>(map: IdMap<Value>, id: string): IdMap<Value> => drop(map, id, 0);

export const entryOf = <Value>(map: IdMap<Value>, id: string): Value | undefined => {
  let there: Node<Value> | Leaf<Value> | undefined = map;
  for (let depth = 0; there !== undefined && isNode(there); depth++) there = there.get(characterAt(id, depth));
  return there?.id === id ? there.value : undefined;
};

/** Yields the values in no particular order. */
export function* valuesOf<Value>(map: IdMap<Value>): Iterable<Value> {
  for (const one of map.values())
    if (isNode(one)) yield* valuesOf(one);
    else yield one.value;
}
