// A stored file as a stream.
import type { Readable } from 'node:stream';
import type { OpenedFile } from '../../application/ports/evidenceStorage.ts';

export const openedFile = (size: number, content: Readable): OpenedFile => {
  // The iteration throws the error. Before that, an unhandled error event would end the process.
  content.on('error', () => undefined);
  return { size, chunks: content as AsyncIterable<Buffer>, close: () => void content.destroy() };
};
