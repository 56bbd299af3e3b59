// The end of the command line's process.
import type { Writable } from 'node:stream';

/** Ends the process when the streams are flushed, because `process.exit` drops data that a pipe has not accepted yet. */
export const exitWhenWritten = async (code: number, streams: readonly Writable[]): Promise<never> => {
  const written = (stream: Writable): Promise<void> =>
    new Promise((resolve) => {
      // The reader, such as `head`, may have exited.
      stream.once('error', () => resolve());
      stream.write('', () => resolve());
    });
  await Promise.all(streams.map(written));
  process.exit(code);
};
