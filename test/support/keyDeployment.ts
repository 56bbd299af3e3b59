// A deployment for key changes under load: a projector, a worker and two API processes. One API process receives no notifications from the
// database.
import { randomBytes } from 'node:crypto';
import { type DeafProxy, startDeafProxy } from '../world/deafProxy.ts';
import { cli, freePort, newDataDir, Program, type RoleName, removeDataDir } from '../world/program.ts';
import type { Frozen } from './keyRotations.ts';

const SECRETS_KEY = randomBytes(32).toString('base64');
const OWNER = { email: 'ana@example.com', password: 'uma senha muito boa' };

export interface KeyDeployment {
  readonly dataDir: string;
  /** Environment of the CLI. */
  readonly env: Readonly<Record<string, string>>;
  readonly hearing: Program;
  readonly deaf: Program;
  readonly proxy: DeafProxy;
  /** Token of an owner. */
  readonly authorization: string;
  /** Stops all processes, whatever their state. */
  stop(): Promise<void>;
}

export const frozenBy = ({ baseUrl, process }: Program): Frozen => ({
  baseUrl,
  freeze: () => void process.kill('SIGSTOP'),
  thaw: () => void process.kill('SIGCONT'),
});

/** Needs an empty database that allows 80 connections. */
export const startKeyDeployment = async (databaseUrl: string): Promise<KeyDeployment> => {
  const proxy = await startDeafProxy(databaseUrl);
  const dataDir = await newDataDir();
  const running: Program[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(running.map((program) => program.kill9()));
    await proxy.close();
    await removeDataDir(dataDir);
  };
  const start = async (role: RoleName, url = databaseUrl): Promise<Program> => {
    // A single public URL, so that a session is valid in both processes.
    const env = { DATABASE_URL: url, SECRETS_KEY, PUBLIC_URL: 'https://quita.example', TRUST_PROXY: '1' };
    const program = new Program({ dataDir, port: await freePort(), env, role });
    running.push(program);
    return program.ready();
  };
  try {
    await start('projector'); // The projector creates the tables.
    const [hearing, deaf] = await Promise.all([start('api'), start('api', proxy.connectionString), start('worker')]);
    const { email, password } = OWNER;
    const words = ['account', 'create', '--name', 'Loja', '--email', email, '--password', password];
    const env = { DATABASE_URL: databaseUrl, SECRETS_KEY };
    await cli(dataDir, words, env);
    const login = await fetch(`${hearing.baseUrl}/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(OWNER),
    });
    const { token } = (await login.json()) as { token: string };
    return { dataDir, env, hearing, deaf, proxy, authorization: `Bearer ${token}`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
