// Files that commands write. A file is complete or absent even if the command is killed, and one process at a time writes it.
import { rmSync } from 'node:fs';
import { access, constants, lstat, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { tryLockFile } from '../system/fileLock.ts';
import { UsageError } from './command.ts';

const lockOn = (path: string, lockFile: string): NonNullable<ReturnType<typeof tryLockFile>> => {
  let lock: ReturnType<typeof tryLockFile>;
  try {
    lock = tryLockFile(lockFile);
  } catch (error) {
    throw new UsageError(`${path} can't be written: ${lockFile} can't be locked (${(error as Error).message})`);
  }
  if (lock !== null) return lock;
  throw new UsageError(`another command is writing ${path}: wait until it ends, or choose another path`);
};

/**
 * Runs the work while no other process works under the same lock file. `path`: the file that the work writes. Throws UsageError if another
 * process holds the lock.
 */
export const writingAlone = async <T>(path: string, lockFile: string, work: () => Promise<T>): Promise<T> => {
  await access(dirname(lockFile), constants.W_OK).catch(({ code }: NodeJS.ErrnoException) => {
    throw new UsageError(`${path} can't be written (${code})`);
  });
  const lock = lockOn(path, lockFile);
  try {
    return await work();
  } finally {
    rmSync(lockFile, { force: true });
    lock.close();
  }
};

/**
 * Has `write` create a draft beside the file, and renames the draft when it is complete and on disk. Deletes the draft of a killed process.
 * A target that is not a regular file, such as `/dev/stdout`, is written directly. Throws UsageError if another process writes the file, or
 * the file can't be written. With `isNew`, also throws if the file exists.
 */
export const writeOutput = async <T>(
  file: string,
  write: (draft: string) => Promise<T>,
  { isNew = false } = {},
): Promise<T> => {
  const existing = await lstat(file).catch(() => null);
  if (existing?.isDirectory()) throw new UsageError(`${file} is a folder: name a file`);
  if (existing?.isFile() === false) return write(file);
  if (existing !== null && isNew) throw new UsageError(`${file} can't be written (EEXIST)`);
  return writingAlone(file, `${file}.lock`, async () => {
    const draft = `${file}.part`;
    await rm(draft, { force: true });
    try {
      const result = await write(draft);
      const written = await open(draft, 'r+');
      await written.sync().finally(() => written.close());
      await rename(draft, file);
      return result;
    } finally {
      await rm(draft, { force: true });
    }
  });
};
