// Folders of audit exports on disk.
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ExportFolder, LineFile } from '../../application/ports/exportFolder.ts';

/** Length of the file's end that is searched for the last line. */
const TAIL_BYTES = 1 << 21;
const NEWLINE = 0x0a;
/** The name of a file that is being written. */
const UNFINISHED = '.unfinished';
/** The name of the file that is locked while an export is written. */
export const LOCK = '.lock';

const orNull = async <Value>(found: Promise<Value>): Promise<Value | null> => {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

const openLines = async (path: string): Promise<LineFile> => {
  const file = await open(path, 'a+');
  const { size } = await file.stat();
  const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
  await file.read(tail, 0, tail.length, size - tail.length);
  const end = tail.lastIndexOf(NEWLINE);
  if (end + 1 < tail.length) await file.truncate(size - tail.length + end + 1);
  const start = end < 1 ? 0 : tail.lastIndexOf(NEWLINE, end - 1) + 1;
  return {
    last: end < 0 ? null : tail.toString('utf8', start, end),
    append: async (lines) => {
      await file.appendFile(lines);
    },
    close: () => file.close(),
  };
};

export const exportFolder = (root: string): ExportFolder => {
  const at = async (path: string): Promise<string> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    return join(root, path);
  };
  return {
    read: (path) => orNull(readFile(join(root, path), 'utf8')),
    lengthOf: async (path) => (await orNull(stat(join(root, path))))?.size ?? null,
    write: async (path, content) => {
      const name = await at(path);
      await writeFile(`${root}/${UNFINISHED}`, content);
      await rename(`${root}/${UNFINISHED}`, name);
    },
    open: async (path) => await openLines(await at(path)),
    names: async () => ((await orNull(readdir(root))) ?? []).filter((name) => name !== UNFINISHED && name !== LOCK),
    remove: (path) => rm(join(root, path), { recursive: true, force: true }),
  };
};
