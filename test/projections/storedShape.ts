// Returns the tables of a read model and the shape of the states in its rows. The states come from folding the golden events of their
// category in every order that leads to something new.

import { readdirSync, readFileSync } from 'node:fs';
import { AGGREGATES } from '../../domain/aggregates.ts';
import type { AggregateRows, Projection } from '../../projections/engine/projection.ts';

/** Maps paths into the state (`[]` for the elements of a list) to the types or values found there. */
export type Shape = { readonly [path: string]: string };
export interface StoredShape {
  /** The statements that create the tables, one per line. */
  readonly tables: readonly string[];
  /** Shapes by table. */
  readonly states: { readonly [table: string]: Shape };
}

const EVENTS = new URL('../domain/golden/', import.meta.url);
/** Gives all events the same ids, so that each can follow each. */
const sameIds = (key: string, value: unknown): unknown => (/Id$/.test(key) && typeof value === 'string' ? 'id' : value);
const goldenEvents = (types: readonly string[]): readonly unknown[] =>
  readdirSync(EVENTS)
    .map((file) => JSON.parse(readFileSync(new URL(file, EVENTS), 'utf8'), sameIds) as { event: { type: string } })
    .map(({ event }) => event)
    .filter(({ type }) => types.includes(type));

/** Fields whose values distinguish the variants of a state. */
const DISCRIMINATORS = ['status', 'outcome', 'kind', 'method'];

const kindsOf = (value: unknown, path: string, into: Map<string, Set<string>>): void => {
  const add = (kind: string) => into.set(path, (into.get(path) ?? new Set()).add(kind));
  if (Array.isArray(value)) {
    add('list');
    for (const one of value) kindsOf(one, `${path}[]`, into);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, one] of Object.entries(value)) kindsOf(one, path === '' ? key : `${path}.${key}`, into);
  } else if (typeof value === 'string' && DISCRIMINATORS.includes(path.split('.').at(-1) as string)) add(`"${value}"`);
  else add(value === null ? 'null' : typeof value);
};
/** Yields states that each show something new, by applying every event after every other. */
export function* statesOf({ category, decider }: AggregateRows): Generator<unknown> {
  const events = goldenEvents(AGGREGATES.find((one) => one.category === category)?.serde.types ?? []);
  const kinds = new Map<string, Set<string>>();
  const size = () => [...kinds.values()].reduce((sum, set) => sum + set.size, 0);
  for (let fresh: readonly unknown[] = [decider.initial]; fresh.length > 0; ) {
    yield* fresh;
    fresh = fresh
      .flatMap((state) => events.map((event) => decider.evolve(state, event)))
      .filter((state) => {
        const before = size();
        kindsOf(JSON.parse(JSON.stringify(state)), '', kinds);
        return size() > before;
      });
  }
}
const statesShape = (rows: AggregateRows): Shape => {
  const kinds = new Map<string, Set<string>>();
  const [, ...states] = statesOf(rows);
  for (const state of states) kindsOf(JSON.parse(JSON.stringify(state)), '', kinds);
  return Object.fromEntries(
    [...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([path, set]) => [path, [...set].sort().join(' | ')]),
  );
};

export const storedShape = ({ ddl, aggregates = [] }: Projection): StoredShape => ({
  tables: ddl('rm')
    .split(';')
    .map((statement) => statement.replaceAll(/\s+/g, ' ').trim())
    .filter((statement) => statement !== ''),
  states: Object.fromEntries(aggregates.map((rows) => [rows.table, statesShape(rows)])),
});
