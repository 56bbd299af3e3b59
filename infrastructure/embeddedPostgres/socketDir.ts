// Where the server listens: a Unix socket in a folder that nobody but its user (and root) can enter, so that nobody else can connect
// to it, or stand in its place while it is stopped.
import { chown, lstat, mkdtemp, realpath, rm, rmdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DATABASE, type Layout, ROLE, type Settings } from './dataDir.ts';
import { codeOf, dataDirUnreachable } from './error.ts';
import { firstUnreachable, type OsUser, withAncestors } from './osUser.ts';

/** Only a part of the socket's name: no port is listened on. */
export const SOCKET_NUMBER = 5432;
const SOCKET_FILE = `.s.PGSQL.${SOCKET_NUMBER}`;
/** What fits into `sun_path` beside its final NUL. */
const PATH_BYTES_MAX = process.platform === 'linux' ? 107 : 103;

const fits = (folder: string): boolean => Buffer.byteLength(join(folder, SOCKET_FILE)) <= PATH_BYTES_MAX;

/** A folder, no link to one, of that user and closed to all others. */
const isOwn = async (folder: string, uid: number): Promise<boolean> => {
  const info = await lstat(folder).catch(() => null);
  return info?.isDirectory() === true && info.uid === uid && (info.mode & 0o077) === 0;
};

/** Whether the socket of a running server stands where only the database's owner could have put it. */
export const isSafe = async (layout: Layout, folder: string): Promise<boolean> =>
  isOwn(folder, (await stat(layout.clusterDir)).uid);

/**
 * For a server to be launched; nobody else may be running on this database. The database's own folder, or, where its path is too
 * long for a socket, a new one under TMPDIR. `former`: the one under TMPDIR that the last start made; it is removed.
 * @throws EmbeddedPostgresError data_dir_unreachable: there is no safe place
 */
export const openSocketDir = async (layout: Layout, osUser: OsUser | null, former: string | null): Promise<string> => {
  if (former !== null) await removeSocketDir(layout, former);
  if (!fits(layout.clusterDir)) return makeShortDir(layout, osUser);
  await removeSocket(layout.clusterDir); // its lock file may name a pid that another process has by now
  return layout.clusterDir;
};

/** Removes a folder that was made under TMPDIR, once the server is gone. One that became somebody else's is left alone. */
export const removeSocketDir = async (layout: Layout, folder: string): Promise<void> => {
  if (folder === layout.clusterDir || !(await isSafe(layout, folder))) return;
  await removeSocket(folder);
  await rmdir(folder).catch(() => undefined); // not empty: it holds nothing of ours
};

const removeSocket = async (folder: string): Promise<void> => {
  for (const name of [SOCKET_FILE, `${SOCKET_FILE}.lock`]) await rm(join(folder, name), { force: true });
};

export const connectionStringOf = ({ password }: Settings, socketDir: string): string =>
  `postgres://${ROLE}:${password}@${encodeURIComponent(socketDir)}:${SOCKET_NUMBER}/${DATABASE}`;

/** With a name that nobody can foresee, in a folder in which nobody else can rename it. */
const makeShortDir = async (layout: Layout, osUser: OsUser | null): Promise<string> => {
  const parent = await realpath(tmpdir()).catch(() => tmpdir());
  const why = await unfitness(parent);
  if (why !== null) throw noPlace(layout, parent, why);
  try {
    const folder = await mkdtemp(join(parent, 'quita-'));
    if (osUser === null) return folder;
    await chown(folder, osUser.uid, osUser.gid);
    const barred = await firstUnreachable(osUser, withAncestors(folder));
    if (barred === null) return folder;
    await rmdir(folder);
    throw noPlace(layout, parent, `the user ${osUser.name}, as whom PostgreSQL runs, can't enter ${barred}`);
  } catch (error) {
    throw codeOf(error).startsWith('E') ? noPlace(layout, parent, `it can't be written (${codeOf(error)})`) : error;
  }
};

const SUFFIX_OF_MKDTEMP = 'quita-XXXXXX';

const unfitness = async (parent: string): Promise<string | null> => {
  if (!fits(join(parent, SUFFIX_OF_MKDTEMP))) return 'its path is too long as well';
  for (const folder of withAncestors(parent)) {
    const { uid, mode } = await stat(folder);
    const mayOthersRename = (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
    if ((uid !== 0 && uid !== process.getuid?.()) || mayOthersRename) return `${folder} is in the hands of other users`;
  }
  return null;
};

const noPlace = ({ dataDir }: Layout, parent: string, why: string) =>
  dataDirUnreachable(
    dataDir,
    `its path is too long for a socket of PostgreSQL (at most ${PATH_BYTES_MAX} bytes in all), and ${parent} (TMPDIR) can't hold one: ${why}`,
  );
