// What a read model stores: its tables, and the shape of the states that its rows hold, found by folding the golden events of their
// category in every order that leads to something new.

import { readdirSync, readFileSync } from 'node:fs';
import { AGGREGATES } from '../../domain/aggregates.ts';
import type { AggregateRows, Projection } from '../../projections/engine/projection.ts';

/** Paths into the state (`[]`: the elements of a list), with what stands there. */
export type Shape = { readonly [path: string]: string };
export interface StoredShape {
  /** Statements that create the tables, in one line each. */
  readonly tables: readonly string[];
  /** By table. */
  readonly states: { readonly [table: string]: Shape };
}

const EVENTS = new URL('../domain/golden/', import.meta.url);
/** All of the same ids, so that each can follow each. */
const sameIds = (key: string, value: unknown): unknown => (/Id$/.test(key) && typeof value === 'string' ? 'id' : value);
const goldenEvents = (types: readonly string[]): readonly unknown[] =>
  readdirSync(EVENTS)
    .map((file) => JSON.parse(readFileSync(new URL(file, EVENTS), 'utf8'), sameIds) as { event: { type: string } })
    .map(({ event }) => event)
    .filter(({ type }) => types.includes(type));

/** Fields whose values tell the forms of a state apart. */
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
/** States that each show something new, by every event after every other. */
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
