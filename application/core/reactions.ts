// How a process manager is defined: by its reactions to the events of the streams that it consumes. A new type of event does not compile
// until every process that reads its group has said what it means to it.

import type { Category, EventOf } from '../../domain/aggregates.ts';
import type { Fact } from '../../domain/kernel/event.ts';
import {
  type GroupName,
  type Groups,
  type Partition,
  type Reading,
  type TypesOf,
  typesOf,
} from '../../domain/kernel/eventGroups.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
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
/** Reactions to all events of an aggregate, which only `reacting` makes. */
type TotalReactions<E> = ReactTo<E> & { readonly [isTotal]: true };

/** The reaction to a single type that means nothing to a process, in a group that it reads. */
export const nothing = (): readonly Reaction[] => [];

/** Returns the same reaction to all events that a rule of the domain reads. */
export const following = <E extends Typed, Read extends E['type'], Silent extends E['type']>(
  { types, silent }: Reading<E, Read, Silent>,
  react: ReactTo<Extract<E, { readonly type: Read }>>,
): ReactionsTo<E, Read | Silent> =>
  Object.fromEntries([...types.map((type) => [type, react]), ...silent.map((type) => [type, nothing])]);

/** Returns the reactions of a process: it ignores whole groups, and says for each type of the others what follows from it. */
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

/** Reactions by category. Those to a category of the domain are to its events. */
type ByCategory<R> = { readonly [C in keyof R]: C extends Category ? TotalReactions<EventOf[C]> : R[C] };

export const processManager = <R extends { readonly [category: string]: TotalReactions<never> }>(
  description: Pick<ProcessManager, 'name' | 'movesMoney'> & {
    readonly reactions: R & ByCategory<R>;
  },
): ProcessManager => {
  const { name, movesMoney } = description;
  const reactions: { readonly [category: string]: unknown } = description.reactions;
  return {
    name,
    movesMoney,
    remembers: null,
    categories: Object.keys(reactions),
    react: (logged) => (reactions[logged.category] as ReactTo<Fact<string, unknown>> | undefined)?.(logged) ?? [],
  };
};

/** Returns the payment that an event of a payment's stream is about. */
export const paymentOf = ({ subject }: { readonly subject: string }): PaymentId => subject as PaymentId;

export const enqueue = <Payload extends JobPayload>(
  { name: queue }: JobKind<Payload>,
  payload: Payload,
  target?: string,
): Reaction => ({ kind: 'job', job: { queue, payload, ...(target !== undefined && { target }) } });

/** `dueAt`: in account time. `group`: of those that are fired together; default: none. */
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

export const fireNow = ({ name: kind }: Pick<JobKind, 'name'>, group: string): Reaction => ({
  kind: 'fireNow',
  timers: { kind, group },
});

/** Something that a capability declares itself able to do in the transaction of a reaction. */
interface Effect<About> {
  /** Has it done. */
  readonly ask: (about: About) => Reaction;
  /** Returns the capability's declaration of what is then done. */
  readonly by: <Parts>(make: (parts: Parts) => (asked: readonly About[], tx: Sql) => Promise<void>) => {
    readonly [name: string]: (parts: Parts) => EffectHandler;
  };
}
/** What is done of an effect. */
export type Doing<Kind> =
  Kind extends Effect<infer About> ? (asked: readonly About[], tx: Sql) => Promise<void> : never;

export const effect = <About>(name: string): Effect<About> => ({
  ask: (about) => ({ kind: 'effect', effect: name, about }),
  // Only `ask` makes reactions of this name.
  by: (make) => ({ [name]: (parts) => make(parts) as EffectHandler }),
});
