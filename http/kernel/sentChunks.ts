// An answer that is not in memory as a whole.
export interface SentChunks {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** In which all of them must be sent; otherwise the connection is cut. */
  readonly sendMs: number;
  /** Called in the end, whatever became of them. */
  readonly close: () => void;
}
