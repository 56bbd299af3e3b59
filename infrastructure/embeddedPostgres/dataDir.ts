// The files of the data directory, atomic writes of files there, and postgres.json.
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, open, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { codeOf, dataDirUnreachable, EmbeddedPostgresError } from './error.ts';

export interface Layout {
  /** Absolute, symbolic links resolved. */
  readonly dataDir: string;
  /** PostgreSQL's own directory: absent or complete, never partial. */
  readonly clusterDir: string;
  /** Password, guard: 0600. */
  readonly settingsFile: string;
  readonly logFile: string;
  /** The process that holds the operating system lock on this file owns the data directory. */
  readonly lockFile: string;
}

/** Prefix of unfinished files and folders. The owner of the directory may remove all of them. */
const UNFINISHED = 'postgres.unfinished-';

/**
 * Creates the data directory if it is missing, with mode 0755 so that PostgreSQL's user can enter it. An empty folder owned by root
 * (`DATA_DIR=$(mktemp -d)`) is treated as created for Quita; a folder with contents keeps its permissions.
 */
export const openDataDir = async (path: string): Promise<Layout> => {
  const wanted = resolve(path);
  try {
    const firstMade = await mkdir(wanted, { recursive: true });
    // Set explicitly, because the umask restricts mkdir's mode.
    for (let made = wanted; firstMade !== undefined; made = dirname(made)) {
      await chmod(made, 0o755);
      if (made === firstMade) break;
    }
    const dataDir = await realpath(wanted);
    if (firstMade === undefined && (await isEmptyOfRoot(dataDir))) await chmod(dataDir, 0o755);
    return {
      dataDir,
      clusterDir: join(dataDir, 'postgres'),
      settingsFile: join(dataDir, 'postgres.json'),
      logFile: join(dataDir, 'postgres.log'),
      lockFile: join(dataDir, 'postgres.lock'),
    };
  } catch (error) {
    throw dataDirUnreachable(wanted, `it can't be created (${codeOf(error)})`, error);
  }
};

const isEmptyOfRoot = async (path: string): Promise<boolean> =>
  process.getuid?.() === 0 && (await stat(path)).uid === 0 && (await readdir(path)).length === 0;

export const unfinishedPath = (layout: Layout): string =>
  join(layout.dataDir, UNFINISHED + randomBytes(6).toString('hex'));

/**
 * Removes unfinished files of a killed program. Returns the paths that could not be removed: an initdb that outlived its
 * program may still write there for a second. The next start removes them.
 */
export const removeUnfinished = async (layout: Layout): Promise<string[]> => {
  const kept: string[] = [];
  for (const name of await readdir(layout.dataDir)) {
    if (!name.startsWith(UNFINISHED)) continue;
    const path = join(layout.dataDir, name);
    await rm(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 }).catch(() => kept.push(path));
  }
  return kept;
};

/** If root runs the program, gives `path` to the directory's owner, so that the owner can start the program too. */
export const giveToOwner = async (layout: Layout, path: string): Promise<void> => {
  if (process.getuid?.() !== 0) return;
  const owner = await stat(layout.dataDir);
  await chown(path, owner.uid, owner.gid);
};

const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, 'r');
  await directory.sync().finally(() => directory.close());
};

/** Renames a file or folder. The rename survives a power cut once the promise resolves. */
export const renameDurably = async (from: string, to: string): Promise<void> => {
  await rename(from, to);
  await syncDirectory(dirname(to));
};

/** Replaces the file atomically, with mode 0600. */
const writePrivateFile = async (layout: Layout, path: string, content: string): Promise<void> => {
  const unfinished = unfinishedPath(layout);
  const file = await open(unfinished, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await giveToOwner(layout, unfinished);
  await renameDurably(unfinished, path);
};

// postgres.json: the database's password, and facts about the previous start.

/** The program's role, and the database that it owns. No other role can log in, and no other database accepts logins. */
export const ROLE = 'quita';
export const DATABASE = 'quita';

export interface Settings {
  /** Password of the program's role: 256 random bits, hex. */
  readonly password: string;
  /** Absolute path of the last socket folder created outside the data directory, or null. */
  readonly socketDir: string | null;
  /** Process id of the last guard, or null before the first. */
  readonly guardPid: number | null;
}

export const storeSettings = (layout: Layout, settings: Settings): Promise<void> =>
  writePrivateFile(layout, layout.settingsFile, `${JSON.stringify(settings, null, 2)}\n`);

/** Reads postgres.json. Creates it durably if neither the file nor a database exists. */
export const loadSettings = async (layout: Layout): Promise<Settings> => {
  let content: string;
  try {
    content = await readFile(layout.settingsFile, 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT')
      throw dataDirUnreachable(layout.dataDir, `${layout.settingsFile} can't be read (${codeOf(error)})`, error);
    if (await exists(layout.clusterDir)) throw unusable(layout, "is missing, and it holds the database's password");
    const settings: Settings = {
      password: randomBytes(32).toString('hex'),
      socketDir: null,
      guardPid: null,
    };
    await storeSettings(layout, settings);
    return settings;
  }
  return parse(layout, content) ?? unusableNow(layout);
};

const parse = (layout: Layout, content: string): Settings | null => {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { port, password, socketDir, guardPid } = value as Record<string, unknown>;
  if (port !== undefined) throw madeBeforeSockets(layout);
  if (typeof password !== 'string' || !/^[0-9a-f]{64}$/.test(password)) return null;
  return {
    password,
    socketDir: typeof socketDir === 'string' && isAbsolute(socketDir) ? socketDir : null,
    guardPid: isPid(guardPid) ? guardPid : null,
  };
};
const isPid = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 2 ** 31;

/** In such a database the program's role is a superuser, which can't be revoked. */
const madeBeforeSockets = ({ dataDir }: Layout): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    'settings_unusable',
    `The data directory ${dataDir} was created by a version before the first release, whose database every user of this machine could reach. Remove it, or set DATA_DIR to another folder.`,
  );

const unusable = (layout: Layout, what: string): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    'settings_unusable',
    `${layout.settingsFile} ${what}. Restore it from a backup of ${layout.dataDir}, or set DATA_DIR to another folder.`,
  );
const unusableNow = (layout: Layout): never => {
  throw unusable(layout, 'is damaged: Quita did not write it in this form');
};
export const wrongPassword = (layout: Layout): EmbeddedPostgresError =>
  unusable(layout, 'holds the password of another database');

export const exists = async (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    },
  );
