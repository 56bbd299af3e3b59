// Starting and stopping the program as an operator does (rules S1–S6).

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { pollUntil } from '../../world/pollUntil.ts';
import { emptyDatabase } from '../../world/postgres.ts';
import { cli, freePort, newDataDir, Program, removeDataDir } from '../../world/program.ts';
import { watchBackends } from '../postgres/backends.ts';

const NOBODY = 65_534;

/** A program that loads this module first gets a signal as soon as it begins to load its own modules. */
const SIGNAL_ITSELF = `import { registerHooks } from 'node:module';
  registerHooks({ resolve(name, context, next) {
    if (name === './main.ts') process.kill(process.pid, 'SIGTERM');
    return next(name, context);
  } });`;

describe('npm start', function suite() {
  let dataDir: string;
  let port: number;
  let running: Program[] = [];
  const start = (options: Partial<ConstructorParameters<typeof Program>[0]> = {}): Program => {
    const program = new Program({ dataDir, port, ...options });
    running.push(program);
    return program;
  };

  beforeEach(async () => {
    dataDir = await newDataDir();
    port = await freePort();
    running = [];
  });
  afterEach(async () => {
    for (const program of running) await program.kill9();
    await removeDataDir(dataDir);
  });

  it('prints base URL, demo.json and a curl, creates private files, and exits with code 0 after SIGTERM to npm (S2, S5)', async () => {
    const program = await start({ viaNpm: true }).ready();
    expect(program.output).to.contain(`Quita is ready at ${program.baseUrl}\n`);
    expect(program.output).to.contain(`The demo account's keys are in ${join(dataDir, 'demo.json')}\n`);
    expect(program.output).to.contain(`curl -s ${program.baseUrl}/v1/charges`);
    expect(program.output).to.match(
      /The dashboard is at http:\/\/127\.0\.0\.1:\d+\/dashboard \(demo@quita\.example, password \S+\)/,
    );
    expect((await stat(join(dataDir, 'demo.json'))).mode & 0o777).to.equal(0o600);
    expect((await stat(join(dataDir, 'secrets.key'))).mode & 0o777).to.equal(0o600);
    expect((await fetch(`${program.baseUrl}/health/ready`)).status).to.equal(200);
    const metrics = await fetch(`${program.baseUrl}/metrics`);
    expect(await metrics.text())
      .to.contain('quita_subscription_faults{group="projector"} 0')
      .and.contain('quita_subscription_leading{group="projector",consumer="payments"} 1')
      .and.contain('quita_subscription_leading{group="reactor",consumer="schedule"} 1')
      .and.not.match(/quita_subscription_leading\{.*\} 0/);
    const proxied = await fetch(`${program.baseUrl}/metrics`, { headers: { 'x-forwarded-for': '203.0.113.7' } });
    expect(proxied.status).to.equal(404);
    program.signal('SIGTERM');
    expect(await program.exited).to.deep.equal({ code: 0, signal: null });
  });

  const twice = (program: Program) => {
    program.signalGroup('SIGTERM');
    program.signalGroup('SIGTERM');
  };
  for (const [what, send] of [
    ['SIGINT to the whole group', (program: Program) => program.signalGroup('SIGINT')],
    ['SIGTERM to the whole group, twice', twice],
  ] as const)
    it(`exits with code 0 after ${what} (S5)`, async () => {
      const program = await start({ viaNpm: true }).ready();
      send(program);
      expect(await program.exited).to.deep.equal({ code: 0, signal: null });
    });

  it('exits with code 0 if SIGTERM arrives while it starts', async () => {
    const program = start({ env: { LOG_LEVEL: 'info' } });
    await new Promise<void>((resolve) => program.process.stderr?.once('data', () => resolve())); // it is creating the database
    program.signal('SIGTERM');
    expect(await program.exited).to.deep.equal({ code: 0, signal: null });
  });

  it('exits with code 0 if SIGTERM arrives while it loads its modules (S5)', async () => {
    const program = start({
      env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(SIGNAL_ITSELF)}` },
    });
    expect(await program.exited).to.deep.equal({ code: 0, signal: null });
    expect(program.output).to.equal('');
  });

  it('exits with code 0 if SIGTERM arrives while an API process waits for a projector (S5)', async () => {
    const database = await emptyDatabase();
    const env = { DATABASE_URL: database.connectionString, SECRETS_KEY: randomBytes(32).toString('base64') };
    const program = start({ role: 'api', env });
    await listens(program);
    program.signal('SIGTERM');
    expect(await program.exited).to.deep.equal({ code: 0, signal: null });
    expect(program.output).to.equal('');
    await database.drop();
  });

  it('exits with code 0 if SIGTERM arrives while it waits for the migrations of another process (S5)', async () => {
    const database = await emptyDatabase();
    const other = new pg.Client(database.connectionString);
    await other.connect();
    await other.query('SELECT pg_advisory_lock(1903520116, 1)');
    const env = { DATABASE_URL: database.connectionString, SECRETS_KEY: randomBytes(32).toString('base64') };
    const program = start({ role: 'api', env });
    const backends = await watchBackends(database.connectionString);
    await backends.until(async () => (await backends.of('quita migrate')).length > 0);
    program.signal('SIGTERM');
    expect(await program.exited).to.deep.equal({ code: 0, signal: null });
    expect(program.output).to.equal('');
    await backends.close();
    await other.end();
    await database.drop();
  });

  it('reports a read model that followed another log, in one line, and exits with code 2 (S4)', async () => {
    const database = await emptyDatabase();
    const env = { DATABASE_URL: database.connectionString, SECRETS_KEY: randomBytes(32).toString('base64') };
    expect(await (await start({ env }).ready()).stop()).to.deep.equal({ code: 0, signal: null });
    await cli(dataDir, ['account', 'create', '--name', 'Loja', '--email', 'loja@example.com'], env);
    const client = new pg.Client(database.connectionString);
    await client.connect();
    await client.query(
      "UPDATE subscriptions.checkpoints SET store_id = 'another', position = NULL WHERE name = 'payments'",
    );
    await client.end();
    const program = start({ env: { ...env, LOG_LEVEL: 'fatal' } });
    expect(await program.exited).to.deep.equal({ code: 2, signal: null });
    expect(program.output).to.match(/^quita: payments has followed event store another, [^\n]+\n$/);
    await database.drop();
  });

  it('reports that the port is in use, in one line, exits with code 2, and changes nothing (S4)', async () => {
    const server = createServer().listen(port, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const program = start();
    expect(await program.exited).to.deep.equal({ code: 2, signal: null });
    expect(program.output).to.equal(
      `quita: PORT ${(server.address() as AddressInfo).port} on 127.0.0.1 is in use by another program: stop that program, or set PORT to a free port\n`,
    );
    expect(await readdir(join(dataDir, '..'))).to.deep.equal([]);
    await new Promise((resolve) => server.close(resolve));
  });

  it('reports that the data directory is in use, without disturbing the owner (S4)', async () => {
    const owner = await start().ready();
    const second = start({ port: await freePort() });
    expect(await second.exited).to.deep.equal({ code: 2, signal: null });
    expect(second.output).to.match(/^quita: The data directory .* is in use by another running program. [^\n]*\n$/);
    expect((await fetch(`${owner.baseUrl}/health/ready`)).status).to.equal(200);
  });

  for (const [name, value] of [
    ['PORT', '99999'],
    ['EVENTSTORE_URL', 'http://x'],
  ] as const)
    it(`names an invalid ${name} in one line and exits with code 2 (S1)`, async () => {
      const program = start({ env: { [name]: value } });
      expect(await program.exited).to.deep.equal({ code: 2, signal: null });
      expect(program.output).to.match(new RegExp(`^quita: ${name} [^\\n]+\\n$`));
    });

  it('requires SECRETS_KEY in production (S6)', async () => {
    const program = start({ env: { NODE_ENV: 'production' } });
    expect(await program.exited).to.deep.equal({ code: 2, signal: null });
    expect(program.output).to.match(/^quita: SECRETS_KEY must be set in production/);
  });

  it('runs on an external database without a demo account; the CLI creates an account (S2)', async () => {
    const database = await emptyDatabase();
    const secretsKey = randomBytes(32).toString('base64');
    const program = await start({ env: { DATABASE_URL: database.connectionString, SECRETS_KEY: secretsKey } }).ready();
    expect(program.output).to.contain('npm run cli -- account create');
    const env = { DATABASE_URL: database.connectionString };
    const account = (await cli(
      dataDir,
      ['account', 'create', '--name', 'Loja', '--email', 'loja@example.com'],
      env,
    )) as Record<string, string>;
    expect(Object.keys(account)).to.deep.equal([
      ...['accountId', 'userId', 'email', 'password', 'testApiKey', 'liveApiKey'],
    ]);
    expect(await loginOf(program.baseUrl, account)).to.deep.equal([200, 'OWNER', 'Loja']);
    const wallets = await fetch(`${program.baseUrl}/v1/wallets`, {
      headers: { apikey: account['testApiKey'] as string },
    });
    expect(wallets.status).to.equal(200);
    expect(await program.stop()).to.deep.equal({ code: 0, signal: null });
    await database.drop();
  });

  it('starts after a kill -9 at any stage of the first start', async () => {
    // Each stage of the first start creates a file; the test kills the program when the file appears.
    for (const stage of ['postgres.json', 'postgres.log', 'postgres', 'secrets.key', 'demo.json']) {
      const victim = start();
      await appears(dataDir, stage);
      await victim.kill9();
    }
    const program = await start().ready();
    expect((await fetch(`${program.baseUrl}/health/ready`)).status).to.equal(200);
    const demo = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')) as Record<string, string>;
    expect(await loginOf(program.baseUrl, demo)).to.deep.equal([200, 'OWNER', 'Loja Demo']);
  });

  if (process.getuid?.() === 0)
    it('runs as an ordinary user without any locale', async () => {
      const { chown, mkdir } = await import('node:fs/promises');
      await mkdir(dataDir);
      await chown(dataDir, NOBODY, NOBODY);
      const program = await start({ uid: NOBODY, env: { LANG: '', LC_ALL: '', HOME: '/' } }).ready();
      expect((await fetch(`${program.baseUrl}/health/ready`)).status).to.equal(200);
      expect(await program.stop()).to.deep.equal({ code: 0, signal: null });
    });
});

/** Logs in and returns the status, the role and the account's name. */
const loginOf = async (baseUrl: string, { email, password }: Record<string, string>): Promise<readonly unknown[]> => {
  const reply = await fetch(`${baseUrl}/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  const { user, account } = (await reply.json()) as { user?: { role: string }; account?: { name: string } };
  return [reply.status, user?.role, account?.name];
};

/** Resolves when the program accepts connections, which shows that it has begun to start. */
const listens = async (program: Program): Promise<void> => {
  const isLive = () =>
    fetch(`${program.baseUrl}/health/live`).then(
      ({ ok }) => ok || null,
      () => null,
    );
  expect(await pollUntil({ onMove: () => () => undefined }, 30_000, isLive)).to.equal(true);
};

/** Resolves as soon as the directory has an entry with that name. The directory itself may be created meanwhile. */
const appears = async (dir: string, name: string): Promise<void> => {
  if (!existsSync(dir)) await appears(dirname(dir), basename(dir));
  const changes = watch(dir);
  try {
    while (!existsSync(join(dir, name))) await once(changes, 'change');
  } finally {
    changes.close();
  }
};
