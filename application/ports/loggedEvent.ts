// A decoded event of the log: the fact, its place in the stream and the log, and its tenant.

import type { Aggregate } from '../../domain/kernel/aggregate.ts';
import type { Fact } from '../../domain/kernel/decider.ts';
import type { AccountId, Mode, StreamName } from '../../domain/kernel/ids.ts';
import type { Position } from './eventStore.ts';

/** The metadata of an event: its tenant, actor and cause. */
export interface EventMetadata {
  readonly account: AccountId;
  readonly mode: Mode;
  /** `key:<fingerprint, 16 hex>` for an API key, `user:usr_…`, `process:<name>`, or `operator:<name>`. */
  readonly actor: string;
  /** The X-Request-Id of the causing request; null if no request caused it. */
  readonly requestId: string | null;
  /** The id of the payment, or of the root entity if the event is not about a payment. */
  readonly correlationId: string;
  /** The id of the event or request that caused it. */
  readonly causationId: string;
}

/** A decoded event. `isOf` narrows its type. */
export interface LoggedEvent<Event = Fact<string, unknown>> {
  readonly category: string;
  readonly stream: StreamName;
  /** The part of the stream name after the category. */
  readonly subject: string;
  readonly id: string;
  readonly revision: number;
  /** Revision of the previous event that the reader applies; default: one less. It differs if an operator skipped events in between. */
  readonly previousRevision?: number;
  readonly position: Position;
  readonly account: AccountId;
  readonly mode: Mode;
  readonly correlationId: string;
  readonly recordedAt: string;
  readonly event: Event;
}

/** Returns whether the event belongs to the aggregate. */
export const isOf = <Logged extends Pick<LoggedEvent, 'category' | 'event'>, Event extends Fact<string, unknown>>(
  logged: Logged,
  { category }: Pick<Aggregate<never, Event>, 'category' | 'serde'>,
): logged is Logged & { readonly event: Event } => logged.category === category;
