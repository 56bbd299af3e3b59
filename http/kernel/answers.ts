// Answers of routes other than a body in memory: refusals, events and chunks.
import type { Rejection } from '../../domain/kernel/rejection.ts';

/** An error response with additional headers. */
export interface Refusal extends Rejection {
  readonly headers?: { readonly [name: string]: string };
  /** The users that may use the route, if the caller is of the other kind. */
  readonly isFor?: 'members' | 'operators';
}

/** Server-sent events to one client. */
export interface EventSink {
  send(event: string, data: unknown): void;
  end(): void;
  /** Resolves when the client can take more data or has disconnected, or on the signal. */
  drained(signal: AbortSignal): Promise<void>;
  onClose(listener: () => void): void;
}

/** A response that is sent in chunks instead of being held in memory. */
export interface SentChunks {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Milliseconds in which all chunks must be sent; after that the connection is cut. */
  readonly sendMs: number;
  /** Called at the end, whether or not all chunks were sent. */
  readonly close: () => void;
}
