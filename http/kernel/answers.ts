// What routes answer besides a body that is in memory: refusals, events and chunks.
import type { Rejection } from '../../domain/kernel/rejection.ts';

/** An error answer, with headers of its own. */
export interface Refusal extends Rejection {
  readonly headers?: { readonly [name: string]: string };
}

/** Server-sent events to one client. */
export interface EventSink {
  send(event: string, data: unknown): void;
  end(): void;
  /** Resolves when the client has room for more, or is gone. */
  drained(): Promise<void>;
  onClose(listener: () => void): void;
}

/** An answer that is not in memory as a whole. */
export interface SentChunks {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** In which all of them must be sent; otherwise the connection is cut. */
  readonly sendMs: number;
  /** Called in the end, whatever became of them. */
  readonly close: () => void;
}
