// A project under /root or in a fresh mktemp folder is closed to the user that PostgreSQL runs as. Then the executables
// (60 MB, half a second, once) are copied to where everybody can read them.
import { createHash } from 'node:crypto';
import { chmod, constants, cp, lstat, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { codeOf, EmbeddedPostgresError } from './error.ts';

/** The copy of `nativeDir`, complete and ours. Named by source and version, so that neither can be mistaken. */
export const copyForEverybody = async (nativeDir: string, version: string): Promise<string> => {
  const hash = createHash('sha256').update(`${nativeDir}\n${version}`).digest('hex').slice(0, 16);
  const place = join(tmpdir(), `quita-postgres-${version}-${hash}`);
  if (await isComplete(nativeDir, place)) return place;
  const draft = await mkdtemp(`${place}.`); // 0700 until it is whole
  try {
    const copy = join(draft, 'native');
    await cp(nativeDir, copy, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
    await openToAll(copy);
    await publish(nativeDir, copy, place, draft);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return place;
};

const publish = async (nativeDir: string, copy: string, place: string, draft: string): Promise<void> => {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    try {
      await rename(copy, place);
      return;
    } catch (error) {
      if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
    }
    if (await isComplete(nativeDir, place)) return; // another program was faster
    await rename(place, join(draft, `incomplete${attempt}`)).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
    });
  }
  throw new EmbeddedPostgresError('binaries_unusable', `${place} is changed by somebody else all the time: remove it.`);
};

/** False when absent or when cleaners of the temporary folder have eaten parts. @throws when it isn't ours alone. */
const isComplete = async (nativeDir: string, place: string): Promise<boolean> => {
  const info = await lstat(place).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (info === null) return false;
  if (!info.isDirectory() || info.uid !== process.getuid?.() || (info.mode & 0o022) !== 0)
    throw new EmbeddedPostgresError(
      'binaries_unusable',
      `${place} was not made by Quita for this user: remove it, or set TMPDIR to another folder.`,
    );
  return (await listing(nativeDir)) === (await listing(place));
};

/** One line a file: where, what, how long. */
const listing = async (root: string): Promise<string> => {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const lines = await Promise.all(
    entries.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      const size = entry.isFile() ? (await lstat(path)).size : entry.isSymbolicLink() ? 'link' : 'folder';
      return `${relative(root, path)} ${size}`;
    }),
  );
  return lines.sort().join('\n');
};

/** Whatever the umask of the installation was. */
const openToAll = async (root: string): Promise<void> => {
  await chmod(root, 0o755);
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  await Promise.all(
    entries.map(async (entry) => {
      if (entry.isSymbolicLink()) return;
      const path = join(entry.parentPath, entry.name);
      const mayRun = entry.isDirectory() || ((await lstat(path)).mode & 0o100) !== 0;
      await chmod(path, mayRun ? 0o755 : 0o644);
    }),
  );
};
