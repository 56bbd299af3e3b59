// Starting and stopping as an operator does (decisions S1–S6).

import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { emptyDatabase } from '../../support/postgres.ts';
import { cli, freePort, newDataDir, Program, removeDataDir } from '../../support/program.ts';

const NOBODY = 65_534;

describe('npm start', function suite() {
  this.timeout(60_000);
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

  it('prints the base URL, where demo.json is, and a curl that creates a charge; demo.json is private (S2)', async () => {
    const program = await start({ viaNpm: true }).ready();
    expect(program.output).to.contain(`Quita is ready at ${program.baseUrl}\n`);
    expect(program.output).to.contain(`The demo account is in ${join(dataDir, 'demo.json')}\n`);
    expect(program.output).to.contain(`curl -s ${program.baseUrl}/v1/charges`);
    expect((await stat(join(dataDir, 'demo.json'))).mode & 0o777).to.equal(0o600);
    expect((await stat(join(dataDir, 'secrets.key'))).mode & 0o777).to.equal(0o600);
    expect((await fetch(`${program.baseUrl}/health/ready`)).status).to.equal(200);
  });

  const twice = (program: Program) => {
    program.signalGroup('SIGTERM');
    program.signalGroup('SIGTERM');
  };
  for (const [what, send] of [
    ['SIGTERM to npm', (program: Program) => program.signal('SIGTERM')],
    ['SIGINT to the whole group', (program: Program) => program.signalGroup('SIGINT')],
    ['SIGTERM to the whole group, twice', twice],
  ] as const)
    it(`ends with exit code 0 after ${what} (S5)`, async () => {
      const program = await start({ viaNpm: true }).ready();
      send(program);
      expect(await program.exited).to.deep.equal({ code: 0, signal: null });
    });

  it('ends with exit code 0 when SIGTERM comes while it starts', async () => {
    const program = start({ env: { LOG_LEVEL: 'info' } });
    await new Promise<void>((resolve) => program.process.stderr?.once('data', () => resolve())); // the database is being made
    program.signal('SIGTERM');
    expect(await program.exited).to.deep.equal({ code: 0, signal: null });
  });

  it('keeps demo.json and the account over a restart, and completes a half-made account', async () => {
    const first = await start().ready();
    const demo = await first.demo();
    await first.stop();
    const second = await start().ready();
    expect(await second.demo()).to.deep.equal(demo);
    const wallets = await fetch(`${second.baseUrl}/v1/wallets`, { headers: { apikey: demo.testApiKey } });
    expect(await wallets.json()).to.deep.equal([
      { currency: 'BRL', walletType: 'OPERATIONAL', balance: 0, pendingBalance: 0 },
    ]);
  });

  it('starts after demo.json was written and the account was not (S2)', async () => {
    const draft = {
      baseUrl: `http://127.0.0.1:${port}`,
      email: 'demo@quita.example',
      password: 'x'.repeat(24),
      testApiKey: `ak_test_${'t'.repeat(32)}`,
      liveApiKey: `ak_live_${'l'.repeat(32)}`,
    };
    const first = await start().ready();
    await first.stop();
    await writeFile(join(dataDir, 'demo.json'), JSON.stringify(draft), { mode: 0o600 });
    const second = await start().ready();
    expect((await fetch(`${second.baseUrl}/v1/wallets`, { headers: { apikey: draft.testApiKey } })).status).to.equal(
      200,
    );
  });

  it('says that the port is in use, in one line with exit code 2, and changes nothing (S4)', async () => {
    const server = createServer().listen(port, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const program = start();
    expect(await program.exited).to.deep.equal({ code: 2, signal: null });
    expect(program.output).to.equal(
      `quita: PORT ${(server.address() as AddressInfo).port} on 127.0.0.1 is in use by another program: stop it, or set PORT to a free one\n`,
    );
    expect(await readdir(join(dataDir, '..'))).to.deep.equal([]);
    await new Promise((resolve) => server.close(resolve));
  });

  it('says that the data directory is in use, and the owner goes on undisturbed (S4)', async () => {
    const owner = await start().ready();
    const second = start({ port: await freePort() });
    expect(await second.exited).to.deep.equal({ code: 2, signal: null });
    expect(second.output).to.match(/^quita: The data directory .* is in use by another running program: [^\n]*\n$/);
    expect((await fetch(`${owner.baseUrl}/health/ready`)).status).to.equal(200);
  });

  it('says that the database is of a newer version, with exit code 2 (S4)', async () => {
    const first = await start().ready();
    const {
      port: pgPort,
      user,
      password,
    } = JSON.parse(await readFile(join(dataDir, 'postgres.json'), 'utf8')) as Record<string, string>;
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: `postgres://${user}:${password}@127.0.0.1:${pgPort}/postgres` });
    await client.connect();
    await client.query("INSERT INTO schema_migrations (name, batch, migration_time) VALUES ('9999_future', 99, now())");
    await client.end();
    await first.stop();
    const second = start();
    expect(await second.exited).to.deep.equal({ code: 2, signal: null });
    expect(second.output).to.equal(
      'quita: the database has the schema of a newer version (9999_future): start that version\n',
    );
  });

  for (const [name, value] of [
    ['PORT', '99999'],
    ['EVENTSTORE_URL', 'esdb://x'],
  ] as const)
    it(`names ${name} when it is wrong, in one line with exit code 2 (S1)`, async () => {
      const program = start({ env: { [name]: value } });
      expect(await program.exited).to.deep.equal({ code: 2, signal: null });
      expect(program.output).to.match(new RegExp(`^quita: ${name} [^\\n]+\\n$`));
    });

  it('refuses production without SECRETS_KEY (S6)', async () => {
    const program = start({ env: { NODE_ENV: 'production' } });
    expect(await program.exited).to.deep.equal({ code: 2, signal: null });
    expect(program.output).to.match(/^quita: SECRETS_KEY must be set in production/);
  });

  it('works on a database of one’s own, without a demo account; the command line makes one (S2)', async () => {
    const database = await emptyDatabase();
    const secretsKey = Buffer.from(Array.from({ length: 32 }, (_, i) => i * 7)).toString('base64');
    const program = await start({ env: { DATABASE_URL: database.connectionString, SECRETS_KEY: secretsKey } }).ready();
    expect(program.output).to.contain('npm run cli -- account create');
    const env = { DATABASE_URL: database.connectionString };
    const account = (await cli(
      dataDir,
      ['account', 'create', '--name', 'Loja', '--email', 'loja@example.com'],
      env,
    )) as Record<string, string>;
    expect(Object.keys(account)).to.deep.equal(['accountId', 'email', 'testApiKey', 'liveApiKey']);
    const wallets = await fetch(`${program.baseUrl}/v1/wallets`, {
      headers: { apikey: account['testApiKey'] as string },
    });
    expect(wallets.status).to.equal(200);
    expect(await program.stop()).to.deep.equal({ code: 0, signal: null });
    await database.drop();
  });

  it('refuses another SECRETS_KEY than the one that sealed its secrets (S6)', async () => {
    const first = await start().ready();
    await first.stop();
    const second = start({
      env: { SECRETS_KEY: Buffer.from(Array.from({ length: 32 }, (_, i) => i * 7)).toString('base64') },
    });
    expect(await second.exited).to.deep.equal({ code: 2, signal: null });
    expect(second.output).to.equal('quita: SECRETS_KEY is not the key that this database’s secrets were sealed with\n');
  });

  it('starts after kill -9 at any moment of the very first start', async () => {
    // Each stage of the first start announces itself: the file that appears is the signal to kill.
    for (const stage of ['postgres.json', 'postgres.log', 'postgres', 'secrets.key', 'demo.json']) {
      const victim = start();
      await appears(dataDir, stage);
      await victim.kill9();
    }
    const program = await start().ready();
    expect((await fetch(`${program.baseUrl}/health/ready`)).status).to.equal(200);
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

/** Resolves as soon as the directory has an entry of that name. */
const appears = async (dir: string, name: string): Promise<void> => {
  for (;;) {
    const entries = await readdir(dir).catch(() => [] as string[]);
    if (entries.includes(name)) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
};
