// postgres.json: how to reach the database, and which guard watches it.
import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { codeOf, dataDirUnreachable, EmbeddedPostgresError } from './error.ts';
import { type Layout, writePrivateFile } from './layout.ts';

export const HOST = '127.0.0.1';
const MAX_PORT = 65_535;

export interface Settings {
  /** TCP port on loopback, 1 to 65,535; chosen once, and again only when somebody else has taken it. */
  readonly port: number;
  readonly user: string;
  /** 256 random bits, hex. */
  readonly password: string;
  /** The guard spawned last; null before the first. */
  readonly guardPid: number | null;
}

export const connectionStringOf = (settings: Settings): string =>
  `postgres://${settings.user}:${settings.password}@${HOST}:${settings.port}/postgres`;

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
      port: await freePort(),
      user: 'quita',
      password: randomBytes(32).toString('hex'),
      guardPid: null,
    };
    await storeSettings(layout, settings);
    return settings;
  }
  return parse(content) ?? unusableNow(layout);
};

const parse = (content: string): Settings | null => {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { port, user, password, guardPid } = value as Record<string, unknown>;
  if (!isWhole(port, MAX_PORT) || typeof user !== 'string' || typeof password !== 'string') return null;
  if (!/^[a-z]+$/.test(user) || !/^[0-9a-f]{64}$/.test(password)) return null;
  return { port, user, password, guardPid: isWhole(guardPid, 2 ** 31) ? guardPid : null };
};
const isWhole = (value: unknown, max: number): value is number =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max;

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

const listenOn = (port: number): Promise<number | null> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => (codeOf(error) === 'EADDRINUSE' ? resolve(null) : reject(error)));
    server.listen({ port, host: HOST, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : null));
    });
  });

export const isFree = async (port: number): Promise<boolean> => (await listenOn(port)) !== null;
/** A port that nobody has at this moment. */
export const freePort = async (): Promise<number> => {
  const port = await listenOn(0);
  if (port === null) throw new EmbeddedPostgresError('cannot_start', `No free TCP port on ${HOST}.`);
  return port;
};
