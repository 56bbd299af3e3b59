// The serde of each category, and the events of all.
import { AGGREGATES, type Category, type EventOf } from '../../domain/aggregates.ts';

type Listed = (typeof AGGREGATES)[number];

export type AnyEvent = EventOf[Category];

export const SERDE = Object.fromEntries(AGGREGATES.map(({ category, serde }) => [category, serde])) as {
  readonly [A in Listed as A['category']]: A['serde'];
};
