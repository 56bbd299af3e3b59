// How far the read models and the processes are, as this process knows it (design §6 "read your writes").

/** What must be counted or read exactly could not be in time. A repeat may succeed. */
export class ReadModelsBehind extends Error {
  override name = 'ReadModelsBehind';
}

export interface Progress {
  /**
   * Resolves when what this process knew to be in the log at the call has been passed, or after `timeoutMs`.
   * Holds no connection. True: passed.
   */
  caughtUp(timeoutMs: number): Promise<boolean>;
  /** Called whenever it moved. Returns the undo. */
  onMove(listener: () => void): () => void;
}
