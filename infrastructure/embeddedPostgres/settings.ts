// postgres.json: the password of the database, and what a start must know of the one before it.
import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { codeOf, dataDirUnreachable, EmbeddedPostgresError } from './error.ts';
import { type Layout, writePrivateFile } from './layout.ts';
import { SOCKET_NUMBER } from './socketDir.ts';

/** The program's role and its database, which it owns. Nobody can log in as any other role, or to any other database. */
export const ROLE = 'quita';
export const DATABASE = 'quita';

export interface Settings {
  /** Of the program's role: 256 random bits, hex. */
  readonly password: string;
  /** The folder outside the data directory that was made for the socket last, absolute; null: none. */
  readonly socketDir: string | null;
  /** The guard spawned last; null before the first. */
  readonly guardPid: number | null;
}

export const connectionStringOf = ({ password }: Settings, socketDir: string): string =>
  `postgres://${ROLE}:${password}@${encodeURIComponent(socketDir)}:${SOCKET_NUMBER}/${DATABASE}`;

export const storeSettings = (layout: Layout, settings: Settings): Promise<void> =>
  writePrivateFile(layout, layout.settingsFile, `${JSON.stringify(settings, null, 2)}\n`);

/** Reads postgres.json; makes it, durably, when neither it nor a database exists. */
export const loadSettings = async (layout: Layout): Promise<Settings> => {
  let content: string;
  try {
    content = await readFile(layout.settingsFile, 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT')
      throw dataDirUnreachable(layout.dataDir, `${layout.settingsFile} can't be read (${codeOf(error)})`, error);
    if (await exists(layout.clusterDir)) throw unusable(layout, 'is missing, and with it the password of the database');
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

/** In its database the program is the superuser, which can't be taken back. */
const madeBeforeSockets = ({ dataDir }: Layout): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    'settings_unusable',
    `The data directory ${dataDir} was made by a version before the first release, whose database every user of this machine could reach: remove it, or set DATA_DIR to another folder.`,
  );

const unusable = (layout: Layout, what: string): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    'settings_unusable',
    `${layout.settingsFile} ${what}: restore it from a backup of ${layout.dataDir}, or set DATA_DIR to another folder.`,
  );
const unusableNow = (layout: Layout): never => {
  throw unusable(layout, 'is not what Quita wrote');
};
export const wrongPassword = (layout: Layout): EmbeddedPostgresError =>
  unusable(layout, 'does not have the password of the database beside it');

export const exists = async (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    },
  );
