// PostgreSQL refuses to run as root. If root starts Quita, PostgreSQL runs as another user, who needs access to its files.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Layout } from './dataDir.ts';
import { codeOf, dataDirUnreachable, EmbeddedPostgresError } from './error.ts';

export interface OsUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Independent of the system's locales, and without secrets from the program's environment. */
export const CHILD_ENV: NodeJS.ProcessEnv = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C', LC_ALL: 'C', TZ: 'UTC' };

/** Options for spawn(). libuv drops the supplementary groups together with root. */
export const spawnAs = (osUser: OsUser | null): { uid?: number; gid?: number } =>
  osUser === null ? {} : { uid: osUser.uid, gid: osUser.gid };

/** Returns the user that runs the server: null for the current user; for root, the database's owner, `postgres` or `nobody`. */
export const serverUser = async (layout: Layout): Promise<OsUser | null> => {
  if (process.getuid?.() !== 0) return null;
  const owner = await stat(layout.clusterDir).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  const users = await readUsers();
  if (owner !== null && owner.uid !== 0) {
    const name = users.find((osUser) => osUser.uid === owner.uid)?.name ?? `uid ${owner.uid}`;
    return { name, uid: owner.uid, gid: owner.gid };
  }
  for (const name of ['postgres', 'nobody']) {
    const osUser = users.find((candidate) => candidate.name === name && candidate.uid !== 0);
    if (osUser !== undefined) return osUser;
  }
  throw new EmbeddedPostgresError(
    'cannot_start',
    'PostgreSQL does not run as root, and /etc/passwd has neither "postgres" nor "nobody". Start as an ordinary user.',
  );
};

const readUsers = async (): Promise<OsUser[]> => {
  const content = await readFile('/etc/passwd', 'utf8').catch(() => '');
  return content.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    return name !== undefined && /^\d+$/.test(uid ?? '') && /^\d+$/.test(gid ?? '')
      ? [{ name, uid: Number(uid), gid: Number(gid) }]
      : [];
  });
};

/** Returns the folders from `/` down to `path` itself. */
export const withAncestors = (path: string): string[] => {
  const parent = dirname(path);
  return parent === path ? [path] : [...withAncestors(parent), path];
};

/** Returns the first absolute path that the user can't enter (folder) or execute (file), or null if there is none. */
export const firstUnreachable = async (osUser: OsUser, paths: readonly string[]): Promise<string | null> => {
  // Tested as that user, because mode bits alone miss access lists, mount options and security modules.
  const ask = 'for path do [ -x "$path" ] || { printf %s "$path"; exit 1; }; done';
  const child = spawn('/bin/sh', ['-c', ask, 'sh', ...paths], {
    ...spawnAs(osUser),
    env: CHILD_ENV,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let barred = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    barred += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0 ? null : barred;
};

/** Throws EmbeddedPostgresError data_dir_unreachable, with the first folder that the user can't enter. */
export const assertReachable = async (layout: Layout, osUser: OsUser | null): Promise<void> => {
  if (osUser === null) return;
  const barred = await firstUnreachable(osUser, withAncestors(layout.dataDir));
  if (barred === null) return;
  throw dataDirUnreachable(
    layout.dataDir,
    `when root starts Quita, PostgreSQL runs as the user ${osUser.name}, who can't enter ${barred}`,
  );
};
