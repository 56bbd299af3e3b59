// How a process manager is defined: by its reaction to each type of event of the streams that it consumes. A new type of event does not
// compile until every process that consumes its streams has handled or ignored it.

import type { EventOf } from '../../domain/events.ts';
import type { Category } from '../../domain/kernel/event.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { JobKind, JobPayload } from '../ports/jobs.ts';
import type { LoggedEvent } from '../ports/loggedEvent.ts';
import type { EffectHandler, ProcessManager, Reaction, Subscriptions } from '../ports/processManager.ts';
import type { Sql } from '../ports/sql.ts';
import { type TimedKind, type Timer, timerKey, timerOf } from '../ports/timers.ts';

type TypeOf<C extends Category> = EventOf[C]['type'];
type Logged<C extends Category, T extends TypeOf<C>> = Omit<LoggedEvent<C>, 'event'> & {
  readonly event: Extract<EventOf[C], { readonly type: T }>;
};

type ReactTo<C extends Category, T extends TypeOf<C>> = (
  logged: Logged<C, T>,
  subscriptions: Subscriptions,
) => readonly Reaction[];

/** By type of event; one function where a total rule of the domain tells the types apart. */
type ReactionsTo<C extends Category> = { readonly [T in TypeOf<C>]: ReactTo<C, T> } | ReactTo<C, TypeOf<C>>;

const nothing = (): readonly Reaction[] => [];

/** The types of event that a process leaves alone. */
export const ignoring = <T extends string>(...types: readonly T[]): { readonly [K in T]: () => readonly Reaction[] } =>
  Object.fromEntries(types.map((type) => [type, nothing])) as { [K in T]: typeof nothing };

export const processManager = (
  description: Pick<ProcessManager, 'name' | 'movesMoney'> & {
    /** Default: the event alone. */
    readonly decidesOn?: ProcessManager['decidesOn'];
    readonly reactions: { readonly [C in Category]?: ReactionsTo<C> };
  },
): ProcessManager => {
  const { name, movesMoney, decidesOn = 'event', reactions } = description;
  return {
    name,
    movesMoney,
    decidesOn,
    categories: Object.keys(reactions) as Category[],
    react: (logged, subscriptions) => {
      const those = reactions[logged.category];
      if (those === undefined) return [];
      const react = typeof those === 'function' ? those : those[logged.event.type as keyof typeof those];
      return (react as ReactTo<Category, TypeOf<Category>>)(logged, subscriptions);
    },
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
export interface Effect<About> {
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
