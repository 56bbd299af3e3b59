// Helpers for tests of the embedded database: data directories, owner processes that can be killed, and access to its internals.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { appendFile, chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresError,
  startEmbeddedPostgres,
} from '../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import { becomesTrue, inspectProcess } from '../../infrastructure/embeddedPostgres/postmaster.ts';

export const OWNER_SCRIPT = fileURLToPath(new URL('embeddedPostgresOwner.ts', import.meta.url));
const run = promisify(execFile);

interface OwnerLine {
  log?: string;
  ready?: { connectionString: string; adopted: boolean };
  failed?: { code: string; message: string };
  signal?: string;
}
export interface Owner {
  readonly child: ChildProcess;
  /** Resolves with the first line, past or future, that has `key` and matches. */
  said<K extends keyof OwnerLine>(key: K, pattern?: RegExp): Promise<NonNullable<OwnerLine[K]>>;
  /** Sends SIGKILL and resolves when the process has ended. */
  kill(): Promise<void>;
}

/** Runs the owner script in a new process group, as the user `identity` if given. */
const spawnOwner = (dataDir: string, identity: { uid?: number; gid?: number } = {}): Owner => {
  const child = spawn(process.execPath, [OWNER_SCRIPT, dataDir], {
    ...identity,
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines: OwnerLine[] = [];
  const heard = new EventEmitter();
  const output = createInterface({ input: child.stdout! });
  output.on('line', (line) => {
    lines.push(JSON.parse(line) as OwnerLine);
    heard.emit('line');
  });
  output.on('close', () => heard.emit('line'));
  let closed = false;
  output.on('close', () => {
    closed = true;
  });
  return {
    child,
    said: async (key, pattern = /(?:)/) => {
      for (;;) {
        const found = lines.find((line) => line[key] !== undefined && pattern.test(JSON.stringify(line[key])));
        if (found !== undefined) return found[key]!;
        if (closed) throw new Error(`the owner ended without "${key}" ${pattern}: ${JSON.stringify(lines)}`);
        await once(heard, 'line');
      }
    },
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
};

/** Makes a folder that every user can enter. */
const makeFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'quita-test-'));
  await chmod(folder, 0o755);
  return folder;
};
const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
/** Copies a folder with owners and modes, which PostgreSQL checks. */
const copyFolder = async (from: string, to: string): Promise<void> => {
  await run('cp', ['-a', from, to]);
};

export const query = async (connectionString: string, text: string): Promise<Record<string, unknown>[]> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(text)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
};

/**
 * Connects as a superuser to a running embedded database. Only tests can, because the program's role is not a superuser. Also lets the
 * program's role into every database, by its password or by `trust`, which saves 2 to 4 ms of CPU per connection, and analysts by
 * their passwords.
 */
export const openToSuperuser = async (
  dataDir: string,
  method: 'scram-sha-256' | 'trust' = 'scram-sha-256',
): Promise<pg.Client> => {
  const cluster = join(dataDir, 'postgres');
  await appendFile(
    join(cluster, 'pg_hba.conf'),
    `local all postgres trust\nlocal all quita ${method}\nlocal all all scram-sha-256\n`,
  );
  process.kill(await postmasterPidIn(dataDir), 'SIGHUP');
  let client: pg.Client | undefined;
  const isIn = async (): Promise<boolean> => {
    client = new pg.Client({ host: cluster, user: 'postgres', database: 'postgres' });
    client.on('error', () => undefined);
    return client.connect().then(
      () => true,
      () => false,
    );
  };
  if (!(await becomesTrue(isIn, 5_000))) throw new Error('the superuser is not let in');
  return client!;
};

export const isRoot = process.getuid?.() === 0;
/** All files of a data directory without unfinished work. */
export const COMPLETE = ['postgres', 'postgres.json', 'postgres.lock', 'postgres.log'];

export const isLive = async (pid: number): Promise<boolean> => (await inspectProcess(pid)).state === 'live';
export const isOver = (pid: number): Promise<boolean> => becomesTrue(async () => !(await isLive(pid)), 10_000);

/** Returns the error of a start. Throws if the start succeeds. */
export const refusal = async (dataDir: string): Promise<{ code: string; message: string }> => {
  try {
    await (await startEmbeddedPostgres({ dataDir })).stop();
  } catch (error) {
    const { code, message } = error as EmbeddedPostgresError;
    return { code, message };
  }
  throw new Error(`${dataDir} was started`);
};
export const inUse = (dataDir: string): { code: string; message: string } => ({
  code: 'data_dir_in_use',
  message: `The data directory ${dataDir} is in use by another running program. Stop that program, or set DATA_DIR to another folder.`,
});

export const pidFileIn = (dataDir: string): Promise<string> =>
  readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
export const guardPidIn = async (dataDir: string): Promise<number> =>
  (JSON.parse(await readFile(join(dataDir, 'postgres.json'), 'utf8')) as { guardPid: number }).guardPid;
export const postmasterPidIn = async (dataDir: string): Promise<number> =>
  Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);

interface EmbeddedPostgresTests {
  /** Contains all data directories of the suite. */
  folder: string;
  /** The test's data directory: a stopped database with the row 'kept' in table note. */
  dataDir: string;
  /** The test's number, from 1. */
  count: number;
  readonly running: EmbeddedPostgres[];
  readonly owners: Owner[];
  /** Starts the database from this process; it is stopped after the test. */
  start(log?: (line: string) => void): Promise<EmbeddedPostgres>;
  /** Starts an owner in another process; it is killed after the test. */
  own(identity?: { uid: number; gid: number }): Owner;
}

/** Adds hooks that give each test its own data directory, copied from one that initdb created once. */
export const useEmbeddedPostgres = (): EmbeddedPostgresTests => {
  const t: EmbeddedPostgresTests = {
    folder: '',
    dataDir: '',
    count: 0,
    running: [],
    owners: [],
    start: async (log) => {
      const database = await startEmbeddedPostgres(
        log === undefined ? { dataDir: t.dataDir } : { dataDir: t.dataDir, log },
      );
      t.running.push(database);
      return database;
    },
    own: (identity) => {
      const owner = spawnOwner(t.dataDir, identity);
      t.owners.push(owner);
      return owner;
    },
  };
  before(async () => {
    t.folder = await makeFolder();
    t.dataDir = join(t.folder, 'template');
    const first = await t.start();
    await query(first.connectionString, "CREATE TABLE note AS SELECT 'kept' AS text");
    await first.stop();
  });
  beforeEach(async () => {
    t.count += 1;
    t.dataDir = join(t.folder, `data${t.count}`);
    await copyFolder(join(t.folder, 'template'), t.dataDir);
  });
  afterEach(async () => {
    await Promise.all(t.owners.splice(0).map((owner) => owner.kill()));
    await Promise.all(t.running.splice(0).map((database) => database.stop()));
  });
  after(() => removeFolder(t.folder));
  return t;
};

/** Kills the guard and then the owner, so that the server keeps running. Returns the guard's pid. */
export const leaveOrphan = async (t: EmbeddedPostgresTests): Promise<number> => {
  const owner = t.own();
  await owner.said('ready');
  const guard = await guardPidIn(t.dataDir);
  process.kill(guard, 'SIGKILL');
  await isOver(guard);
  await owner.kill();
  return guard;
};
