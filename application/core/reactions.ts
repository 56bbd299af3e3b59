// Defines process managers by their reactions to events. A new event type does not compile until every process that reads its group has a
// reaction to it.

import { type Category, type EventOf, isOfAccount } from '../../domain/aggregates.ts';
import type { Fact } from '../../domain/kernel/decider.ts';
import {
  type GroupName,
  type Groups,
  type Partition,
  type Reading,
  type TypesOf,
  typesOf,
} from '../../domain/kernel/eventGroups.ts';
import type { Mode, PaymentId } from '../../domain/kernel/ids.ts';
import type { JobKind, JobPayload } from '../ports/jobs.ts';
import type { LoggedEvent } from '../ports/loggedEvent.ts';
import type { EffectHandler, ProcessManager, Reaction } from '../ports/processManager.ts';
import type { Sql } from '../ports/sql.ts';
import { type TimedKind, type Timer, timerKey, timerOf } from '../ports/timers.ts';

interface Typed {
  readonly type: string;
}
type ReactTo<E> = (logged: LoggedEvent<E>) => readonly Reaction[];
type ReactionsTo<E extends Typed, Type extends E['type']> = {
  readonly [T in Type]: ReactTo<Extract<E, { readonly type: T }>>;
};

declare const isTotal: unique symbol;
/** Reactions to all events of an aggregate. Only `reacting` makes them. */
type TotalReactions<E> = ReactTo<E> & { readonly [isTotal]: true };

/** The reaction to an event type that a process ignores, in a group that it reads. */
export const nothing = (): readonly Reaction[] => [];

/** Returns the same reaction to all events that a domain rule reads. */
export const following = <E extends Typed, Read extends E['type'], Silent extends E['type']>(
  { types, silent }: Reading<E, Read, Silent>,
  react: ReactTo<Extract<E, { readonly type: Read }>>,
): ReactionsTo<E, Read | Silent> =>
  Object.fromEntries([...types.map((type) => [type, react]), ...silent.map((type) => [type, nothing])]);

/** Returns the reactions of a process to an aggregate's events: none for ignored groups, one for each event type of the other groups. */
export const reacting = <E extends Typed, G extends Groups, Ignored extends GroupName<G> = never>(
  { groups }: Partition<E, G>,
  process: {
    readonly reads: ReactionsTo<E, Exclude<E['type'], TypesOf<G, Ignored>>>;
    /** Default: none. */
    readonly ignores?: readonly Ignored[];
  },
): TotalReactions<E> => {
  const byType = new Map<string, unknown>([
    ...typesOf(groups, process.ignores ?? []).map((type) => [type, nothing] as const),
    ...Object.entries(process.reads),
  ]);
  const react: ReactTo<E & Typed> = (logged) => (byType.get(logged.event.type) as ReactTo<E>)(logged);
  return react as TotalReactions<E>;
};

/** Reactions by category. Categories of the domain require reactions to their own events. */
type ByCategory<R> = { readonly [C in keyof R]: C extends Category ? TotalReactions<EventOf[C]> : R[C] };

export const processManager = <R extends { readonly [category: string]: TotalReactions<never> }>(
  description: Pick<ProcessManager, 'name' | 'movesMoney' | 'from'> & {
    readonly reactions: R & ByCategory<R>;
  },
): ProcessManager => {
  const { name, movesMoney, from } = description;
  const reactions: { readonly [category: string]: unknown } = description.reactions;
  const categories = Object.keys(reactions);
  return {
    name,
    movesMoney,
    from,
    remembers: null,
    categories,
    isByAccount: categories.every(isOfAccount),
    react: (logged) => (reactions[logged.category] as ReactTo<Fact<string, unknown>> | undefined)?.(logged) ?? [],
  };
};

/** Returns the payment of an event in a payment's stream. */
export const paymentOf = ({ subject }: { readonly subject: string }): PaymentId => subject as PaymentId;

export const enqueue = <Payload extends JobPayload>(
  { name: queue }: JobKind<Payload>,
  payload: Payload,
  target?: string,
): Reaction => ({ kind: 'job', job: { queue, payload, ...(target !== undefined && { target }) } });

/** Returns a reaction that sets a timer. `dueAt`: in account time. `group`: timers of a group can be fired together; default: none. */
export const setTimer = <Payload extends JobPayload>(
  kind: TimedKind<Payload>,
  payload: Payload,
  { account, mode }: Pick<LoggedEvent, 'account' | 'mode'>,
  dueAt: Timer['dueAt'],
  group: string | null = null,
): Reaction & { readonly kind: 'timer' } => ({
  kind: 'timer',
  timer: timerOf(kind, payload, { account, mode, group, dueAt }),
});

export const clearTimer = <Payload extends JobPayload>(kind: TimedKind<Payload>, payload: Payload): Reaction => ({
  kind: 'clearTimer',
  timer: timerKey(kind, payload),
});

export const fireNow = ({ name: kind }: Pick<JobKind, 'name'>, group: string, mode?: Mode): Reaction => ({
  kind: 'fireNow',
  timers: { kind, group, ...(mode && { mode }) },
});

/** An effect that a capability carries out in the transaction of a reaction. */
interface Effect<About> {
  /** Returns a reaction that requests the effect. */
  readonly ask: (about: About) => Reaction;
  /** Returns the capability's declaration of the effect's handler. */
  readonly by: <Parts>(make: (parts: Parts) => (asked: readonly About[], tx: Sql) => Promise<void>) => {
    readonly [name: string]: (parts: Parts) => EffectHandler;
  };
}
/** The handler of an effect. */
export type Doing<Kind> =
  Kind extends Effect<infer About> ? (asked: readonly About[], tx: Sql) => Promise<void> : never;

export const effect = <About>(name: string): Effect<About> => ({
  ask: (about) => ({ kind: 'effect', effect: name, about }),
  // Only `ask` makes reactions of this name.
  by: (make) => ({ [name]: (parts) => make(parts) as EffectHandler }),
});
