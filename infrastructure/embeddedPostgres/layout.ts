// What lies in the data directory, and how files there are written whole or not at all.
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { codeOf, dataDirUnreachable } from './error.ts';

export interface Layout {
  /** Absolute, symbolic links resolved. */
  readonly dataDir: string;
  /** PostgreSQL's own directory: absent or complete, never half made. */
  readonly clusterDir: string;
  /** Password, guard: 0600. */
  readonly settingsFile: string;
  readonly logFile: string;
  /** Its operating system lock is the ownership of the data directory. */
  readonly lockFile: string;
}

/** Unfinished work carries this prefix; whoever owns the directory may remove all of it. */
const UNFINISHED = 'postgres.unfinished-';

/**
 * Makes the data directory when missing, 0755 so that the user PostgreSQL runs as can pass. An empty folder of root's
 * (`DATA_DIR=$(mktemp -d)`) is taken as made for us; one that holds anything keeps its permissions.
 */
export const openDataDir = async (path: string): Promise<Layout> => {
  const wanted = resolve(path);
  try {
    const firstMade = await mkdir(wanted, { recursive: true });
    // Explicit, because the umask would take from mkdir's mode.
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
 * Removes what a killed predecessor left half made. Answers what could not be removed: an initdb that outlived its
 * program may still be writing for a second, under a name nobody uses; the next start takes that away.
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

/** Root writes on behalf of the directory's owner, so that this one can start the program too. */
export const giveToOwner = async (layout: Layout, path: string): Promise<void> => {
  if (process.getuid?.() !== 0) return;
  const owner = await stat(layout.dataDir);
  await chown(path, owner.uid, owner.gid);
};

const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, 'r');
  await directory.sync().finally(() => directory.close());
};

/** Durable when it resolves: a rename that a power cut can't take back. */
export const renameDurably = async (from: string, to: string): Promise<void> => {
  await rename(from, to);
  await syncDirectory(dirname(to));
};

/** Replaces the file at once, mode 0600. */
export const writePrivateFile = async (layout: Layout, path: string, content: string): Promise<void> => {
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
