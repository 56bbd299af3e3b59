// Given/when/then for deciders: exact, ordered, deep equality of events and reply (architecture §11).
import { expect } from 'chai';
import { type Decided, type Decider, type Decision, fold } from '../../domain/kernel/decider.ts';
import { type ErrorCode, isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { deepFreeze } from './deepFreeze.ts';

export interface Given<State, Event> {
  readonly state: State;
  when<Reply>(decision: Decision<State, Event, Reply>): When<State, Event, Reply>;
}
export interface When<State, Event, Reply> {
  /** Expects exactly these events in order, then the reply. */
  then(...expected: readonly [...Event[], Reply]): Then<State, Event, Reply>;
  /** Expects a rejection with this code and `param` (none if omitted), and no events. */
  rejected(code: ErrorCode, param?: string): void;
  /** Expects the decision to throw with this message: a broken invariant. */
  throws(message: RegExp): void;
}
export interface Then<State, Event, Reply> {
  /** Repeats the decision on its own result. Expects no events and this reply. */
  again(reply: Reply): Then<State, Event, Reply>;
  /** Continues from the decision's result. */
  and(): Given<State, Event>;
}

/** Returns the state after `events`. All input of a decision is frozen, so that mutations throw. */
export const given = <State, Event>(decider: Decider<State, Event>, ...events: NoInfer<Event>[]): Given<State, Event> =>
  from(decider, deepFreeze(fold(decider, deepFreeze(events))));

const from = <State, Event>(decider: Decider<State, Event>, state: State): Given<State, Event> => ({
  state,
  when: (decision) => whenOf(decider, state, decision),
});

const whenOf = <State, Event, Reply>(
  decider: Decider<State, Event>,
  state: State,
  decision: Decision<State, Event, Reply>,
): When<State, Event, Reply> => ({
  // biome-ignore lint/suspicious/noThenProperty: given, when, then are the words; nobody awaits a When
  then: (...expected) => {
    const decided = accepted(decision(state));
    expect({ events: decided.events, reply: decided.reply }).to.deep.equal({
      events: expected.slice(0, -1),
      reply: expected.at(-1),
    });
    return thenOf(decider, deepFreeze(fold(decider, deepFreeze(decided.events), state)), decision);
  },
  rejected: (code, param) => {
    const decided = decision(state);
    if (!isRejection(decided)) throw new Error(`expected ${code}, but it was accepted: ${JSON.stringify(decided)}`);
    expect({ code: decided.code, param: decided.param }).to.deep.equal({ code, param });
  },
  throws: (message) => {
    expect(() => decision(state)).to.throw(Error, message);
  },
});

const thenOf = <State, Event, Reply>(
  decider: Decider<State, Event>,
  state: State,
  decision: Decision<State, Event, Reply>,
): Then<State, Event, Reply> => ({
  again: (reply) => {
    const decided = accepted(decision(state));
    expect({ events: decided.events, reply: decided.reply }).to.deep.equal({ events: [], reply });
    return thenOf(decider, state, decision);
  },
  and: () => from(decider, state),
});

const accepted = <Event, Reply>(decided: Decided<Event, Reply> | Rejection): Decided<Event, Reply> => {
  if (isRejection(decided)) throw new Error(`unexpectedly rejected: ${decided.code}: ${decided.message}`);
  return decided;
};
