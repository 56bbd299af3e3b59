// The one shape of every aggregate: a fold and decisions over it. architecture §3.
import type { Rejection } from './rejection.ts';

/**
 * How a stream's events become a state.
 * `evolve` is total: it never throws, never mutates, never validates, whatever history it is given.
 */
export interface Decider<State, Event> {
  readonly initial: State;
  evolve(state: State, event: Event): State;
}

/** What a decision wants appended, and what it answers once that is stored. Without events it was so already. */
export interface Decided<Event, Reply> {
  readonly events: readonly Event[];
  readonly reply: Reply;
}

/**
 * A decision: a function of its arguments (curried away) and the state, nothing else.
 * Expected outcomes are values; a broken invariant throws. Repeating a decision already in effect gives no events.
 */
export type Decision<State, Event, Reply> = (state: State) => Decided<Event, Reply> | Rejection;

/** Folds the events over `from`, or over the decider's initial state. */
export const fold = <State, Event>(decider: Decider<State, Event>, events: Iterable<Event>, from?: State): State => {
  let state = from ?? decider.initial;
  for (const event of events) state = decider.evolve(state, event);
  return state;
};

/** For the end of every exhaustive switch in an `evolve`: the compiler proves it unreachable, old readers stay total. */
export const ignore = <State>(state: State, _event: never): State => state;

/** For the end of every other exhaustive switch: reaching it is a broken invariant. */
export const unreachable = (value: never): never => {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
};
