// The program as an operator runs it: in its own process, with a free port and its own data directory.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DemoAccount } from '../../infrastructure/demo/demoAccount.ts';

const ROOT = join(import.meta.dirname, '../..');
export type RoleName = 'start' | 'api' | 'projector' | 'worker';
const READY_MS = 60_000;

/** Below the range of ephemeral ports in Linux, because another process may take one of those before the program listens. */
const [PORT_MIN, PORT_MAX] = [10_000, 32_767] as const;

export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(PORT_MIN, PORT_MAX + 1);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) =>
      server.once('error', () => resolve(false)).listen(port, () => resolve(true)),
    );
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
};

export const newDataDir = async (): Promise<string> => {
  const dir = await mkdtemp(join(tmpdir(), 'quita-program-'));
  await chmod(dir, 0o755);
  return join(dir, 'data');
};

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

interface StartOptions {
  readonly dataDir: string;
  readonly port: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Starts with npm, as in the README, instead of node. */
  readonly viaNpm?: boolean;
  readonly uid?: number;
  /** Default: all roles in one process. */
  readonly role?: RoleName;
  /** Root of the checkout to run. Default: this one. */
  readonly root?: string;
}

export class Program {
  readonly process: ChildProcess;
  readonly dataDir: string;
  readonly baseUrl: string;
  readonly exited: Promise<Exit>;
  output = '';

  constructor({ dataDir, port, env = {}, viaNpm = false, uid, role = 'start', root = ROOT }: StartOptions) {
    this.dataDir = dataDir;
    this.baseUrl = `http://127.0.0.1:${port}`;
    const [command, args] = viaNpm
      ? ['npm', ['run', '-s', role]]
      : [process.execPath, [join(root, 'infrastructure/boot/start.ts'), ...(role === 'start' ? [] : [role])]];
    const clean = {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '/',
      LOG_LEVEL: 'warn',
      RATE_LIMIT_PER_MINUTE: '1000000000',
    };
    this.process = spawn(command as string, args as string[], {
      cwd: root,
      detached: true, // a new process group, so that it can be killed as a whole
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...clean, DATA_DIR: dataDir, PORT: String(port), ...env },
      ...(uid !== undefined && { uid, gid: uid }),
    });
    for (const stream of [this.process.stdout, this.process.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    this.exited = new Promise((resolve) => this.process.once('exit', (code, signal) => resolve({ code, signal })));
  }

  /** Resolves when the program has printed that it is ready. Rejects if it ends first or after 60 s. */
  ready(): Promise<this> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`not ready within ${READY_MS} ms: ${this.output}`)), READY_MS);
      const look = () => {
        if (!/Quita (is|\w+ is) ready/.test(this.output)) return;
        clearTimeout(timer);
        resolve(this);
      };
      this.process.stdout?.on('data', look);
      void this.exited.then(({ code }) => {
        clearTimeout(timer);
        reject(new Error(`ended with ${code} before it was ready: ${this.output}`));
      });
      look();
    });
  }

  async demo(): Promise<DemoAccount> {
    return JSON.parse(await readFile(join(this.dataDir, 'demo.json'), 'utf8')) as DemoAccount;
  }

  signal(name: NodeJS.Signals): void {
    process.kill(this.process.pid as number, name);
  }

  signalGroup(name: NodeJS.Signals): void {
    process.kill(-(this.process.pid as number), name);
  }

  async kill9(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) this.signalGroup('SIGKILL');
    await this.exited;
  }

  async stop(): Promise<Exit> {
    if (this.process.exitCode === null && this.process.signalCode === null) this.signal('SIGTERM');
    return this.exited;
  }
}

export const removeDataDir = (dataDir: string): Promise<void> =>
  rm(join(dataDir, '..'), { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });

/**
 * Runs a CLI command on the data directory and returns its JSON output. Rejects unless it exits with 0. `signal` kills it. `root` is the
 * checkout to run, by default this one.
 */
export const cli = (
  dataDir: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
  root = ROOT,
): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const options = {
      cwd: root,
      env: { PATH: process.env['PATH'] ?? '', DATA_DIR: dataDir, ...env },
      ...(signal && { signal, killSignal: 'SIGKILL' as const }),
    };
    execFile(
      process.execPath,
      [join(root, 'infrastructure/boot/cli.ts'), ...args, '--json'],
      options,
      (error, stdout, stderr) => {
        if (error) reject(new Error(`${args.join(' ')}: ${stderr}${stdout}`));
        else resolve(JSON.parse(stdout));
      },
    );
  });
