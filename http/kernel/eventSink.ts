// Server-sent events to one client, as routes that answer with a stream send them.
export interface EventSink {
  send(event: string, data: unknown): void;
  end(): void;
  /** Resolves when the client has room for more, or is gone. */
  drained(): Promise<void>;
  onClose(listener: () => void): void;
}
