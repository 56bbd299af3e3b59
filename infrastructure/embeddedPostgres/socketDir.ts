// The server listens on a Unix socket in a folder that only its user and root can enter. No other user can connect to it, or
// replace it while it is stopped.
import { chown, lstat, mkdtemp, realpath, rm, rmdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DATABASE, type Layout, ROLE, type Settings } from './dataDir.ts';
import { codeOf, dataDirUnreachable } from './error.ts';
import { firstUnreachable, type OsUser, withAncestors } from './osUser.ts';

/** Only a part of the socket's name; the server listens on no TCP port. */
export const SOCKET_NUMBER = 5432;
const SOCKET_FILE = `.s.PGSQL.${SOCKET_NUMBER}`;
/** Size of `sun_path` without its final NUL. */
const PATH_BYTES_MAX = process.platform === 'linux' ? 107 : 103;

const fits = (folder: string): boolean => Buffer.byteLength(join(folder, SOCKET_FILE)) <= PATH_BYTES_MAX;

/** Whether the path is a folder, not a link, that belongs to the user and is closed to all others. */
const isOwn = async (folder: string, uid: number): Promise<boolean> => {
  const info = await lstat(folder).catch(() => null);
  return info?.isDirectory() === true && info.uid === uid && (info.mode & 0o077) === 0;
};

/** Whether only the database's owner can have put a socket into the folder. */
export const isSafe = async (layout: Layout, folder: string): Promise<boolean> =>
  isOwn(folder, (await stat(layout.clusterDir)).uid);

/**
 * Returns the socket's folder for a new server; no other server may be running on this database. That is the database's own
 * folder or, if its path is too long for a socket, a new folder under TMPDIR. `former`: the folder under TMPDIR that the last
 * start created; it is removed. Throws EmbeddedPostgresError data_dir_unreachable if there is no safe place.
 */
export const openSocketDir = async (layout: Layout, osUser: OsUser | null, former: string | null): Promise<string> => {
  if (former !== null) await removeSocketDir(layout, former);
  if (!fits(layout.clusterDir)) return makeShortDir(layout, osUser);
  await removeSocket(layout.clusterDir); // its lock file may name a pid that another process has now
  return layout.clusterDir;
};

/** Removes a folder created under TMPDIR, once the server has ended. A folder that now belongs to another user is left alone. */
export const removeSocketDir = async (layout: Layout, folder: string): Promise<void> => {
  if (folder === layout.clusterDir || !(await isSafe(layout, folder))) return;
  await removeSocket(folder);
  await rmdir(folder).catch(() => undefined); // not empty: other programs' files are kept
};

const removeSocket = async (folder: string): Promise<void> => {
  for (const name of [SOCKET_FILE, `${SOCKET_FILE}.lock`]) await rm(join(folder, name), { force: true });
};

export const connectionStringOf = ({ password }: Settings, socketDir: string): string =>
  `postgres://${ROLE}:${password}@${encodeURIComponent(socketDir)}:${SOCKET_NUMBER}/${DATABASE}`;

/** Creates a folder with an unpredictable name, in a folder where no other user can rename it. */
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
    throw noPlace(layout, parent, `PostgreSQL runs as the user ${osUser.name}, who can't enter ${barred}`);
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
    if ((uid !== 0 && uid !== process.getuid?.()) || mayOthersRename) return `other users can change ${folder}`;
  }
  return null;
};

const noPlace = ({ dataDir }: Layout, parent: string, why: string) =>
  dataDirUnreachable(
    dataDir,
    `its path is too long for PostgreSQL's socket (at most ${PATH_BYTES_MAX} bytes), and ${parent} (TMPDIR) can't hold the socket: ${why}`,
  );
