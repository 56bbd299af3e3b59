// A decoded event of the log: the fact, its place in stream and log, and its tenant.
import type { Aggregate } from '../../domain/kernel/aggregate.ts';
import type { Fact, StreamName } from '../../domain/kernel/event.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { Position } from './eventStore.ts';

/** Known beside every event: whose it is, who caused it, and because of what. */
export interface EventMetadata {
  readonly account: AccountId;
  readonly mode: Mode;
  /** `key:<fingerprint, 16 hex>` for an API key, `user:usr_…`, `process:<name>`, or `operator:<name>`. */
  readonly actor: string;
  /** The X-Request-Id that led here; null for what happens by itself. */
  readonly requestId: string | null;
  /** The payment, or the root id of what is not about a payment. */
  readonly correlationId: string;
  /** The event or request that caused it. */
  readonly causationId: string;
}

/** `isOf` narrows the event. */
export interface LoggedEvent<Event = Fact<string, unknown>> {
  readonly category: string;
  readonly stream: StreamName;
  /** The part of the stream name after the category. */
  readonly subject: string;
  readonly id: string;
  readonly revision: number;
  /** Revision of the event before it that its reader takes; default: one less. Events that an operator had skipped may lie between. */
  readonly previousRevision?: number;
  readonly position: Position;
  readonly account: AccountId;
  readonly mode: Mode;
  readonly correlationId: string;
  readonly recordedAt: string;
  readonly event: Event;
}

/** Returns whether it is an event of the aggregate. */
export const isOf = <Logged extends Pick<LoggedEvent, 'category' | 'event'>, Event extends Fact<string, unknown>>(
  logged: Logged,
  { category }: Pick<Aggregate<never, Event>, 'category' | 'serde'>,
): logged is Logged & { readonly event: Event } => logged.category === category;
