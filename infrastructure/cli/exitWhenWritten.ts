// The end of the command line's process.
import type { Writable } from 'node:stream';

/** Ends the process when the streams have passed everything on: `process.exit` drops the part that a pipe has not taken yet. */
export const exitWhenWritten = async (code: number, streams: readonly Writable[]): Promise<never> => {
  const written = (stream: Writable): Promise<void> =>
    new Promise((resolve) => {
      // The reader may have left, such as `head`.
      stream.once('error', () => resolve());
      stream.write('', () => resolve());
    });
  await Promise.all(streams.map(written));
  process.exit(code);
};
