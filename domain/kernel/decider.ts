// The common form of all aggregates: a fold, and decisions over its state (architecture §3).
import type { Rejection } from './rejection.ts';

/** An event. `type` is in the past tense and contains the aggregate's name. `data` is JSON-safe and must not be mutated. */
export interface Fact<Type extends string, Data> {
  readonly type: Type;
  readonly data: Data;
}

/**
 * Folds a stream's events into a state.
 * `evolve` is total: it never throws, mutates or validates, whatever the history.
 */
export interface Decider<State, Event> {
  readonly initial: State;
  evolve(state: State, event: Event): State;
}

/** The events to append, and the reply once they are stored. No events means that nothing changes. */
export interface Decided<Event, Reply> {
  readonly events: readonly Event[];
  readonly reply: Reply;
}

/**
 * A decision: a pure function of its curried arguments and the state.
 * Expected outcomes are values; a broken invariant throws. Repeating a decision that is in effect yields no events.
 */
export type Decision<State, Event, Reply> = (state: State) => Decided<Event, Reply> | Rejection;

/** Folds the events over `from`, or over the decider's initial state. */
export const fold = <State, Event>(decider: Decider<State, Event>, events: Iterable<Event>, from?: State): State => {
  let state = from ?? decider.initial;
  for (const event of events) state = decider.evolve(state, event);
  return state;
};

/** Ends an exhaustive switch in `evolve`. The compiler proves it unreachable, and old readers ignore new events. */
export const ignore = <State>(state: State, _event: never): State => state;

/** Ends any other exhaustive switch. Throws, because reaching it is a broken invariant. */
export const unreachable = (value: never): never => {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
};
