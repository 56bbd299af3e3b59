// Arguments of the command line and the database it uses: help, version, invalid arguments, and databases it must not change.

import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { COMMANDS } from '../../../infrastructure/cli/commands.ts';
import { runCli } from '../../../infrastructure/cli/run.ts';
import { emptyDatabase, migratedDatabase, type TestDatabase } from '../../world/postgres.ts';

const typed = async (line: string, env: Record<string, string> = { DATA_DIR: '/nowhere/at/all' }) => {
  let [out, err] = ['', ''];
  const code = await runCli(
    COMMANDS,
    line.split(' ').filter((word) => word !== ''),
    env,
    { write: (text: string) => (out += text) },
    { write: (text: string) => (err += text) },
  );
  return { code, out, err };
};

describe('arguments of the command line', () => {
  const help = async (line: string, says: RegExp) => {
    const { code, out, err } = await typed(line);
    expect([code, err], line).to.deep.equal([0, '']);
    expect(out, line).to.match(says);
  };

  it('--help, -h and help list all commands', async () => {
    for (const line of ['--help', '-h', 'help']) {
      await help(line, /^Usage: npm run cli -- <command>/);
      const { out } = await typed(line);
      for (const { name } of COMMANDS) expect(out, line).to.contain(`\n  ${name}`);
    }
  });
  for (const { name } of COMMANDS)
    it(`${name} is explained by --help, -h and help, regardless of other arguments`, async () => {
      const says = new RegExp(`^Usage: npm run cli -- ${name}[ \n]`);
      for (const line of [
        `${name} --help`,
        `${name} -h`,
        `help ${name}`,
        `-h ${name}`,
        `--json ${name} -h`,
        `${name} x y z -h`,
      ])
        await help(line, says);
    });
  it('-h with a group lists only the commands of the group', async () => {
    const { code, out } = await typed('account -h');
    expect(code).to.equal(0);
    expect(out.match(/^ {2}\w+ \w+/gm)).to.deep.equal(
      ['create', 'list', 'settings', 'suspend', 'reopen'].map((name) => `  account ${name}`),
    );
  });
  it('--version prints the version, after every command', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8'));
    for (const line of ['--version', ...COMMANDS.map(({ name }) => `${name} --version`)])
      expect(await typed(line), line).to.deep.equal({ code: 0, out: `quita ${version}\n`, err: '' });
  });
  it('no arguments at all print the usage and exit with code 2', async () => {
    const { code, out } = await typed('');
    expect(code).to.equal(2);
    expect(out).to.match(/^Usage: /);
  });

  const see = (name: string) => `(${['npm run cli --', name].join(' ').trim()} --help explains it)`;
  const near = (typed: string, name: string) => `unknown command '${typed}' (Did you mean ${name}?)`;
  const MEANT: readonly (readonly [string, string])[] = [
    ['acount create', near('acount create', 'account create')],
    ['account craete --name x', near('account craete', 'account create')],
    ['create account', near('create account', 'account create')],
    ['list jobs', near('list jobs', 'jobs list')],
    ['account-create', near('account-create', 'account create')],
    ['ACCOUNT CREATE', near('ACCOUNT CREATE', 'account create')],
    ['accounts list --json', near('accounts list', 'account list')],
    ['docter', near('docter', 'doctor')],
    ['account', `no command given ${see('account')}`],
    ['account frobnicate', `unknown command 'account frobnicate' ${see('')}`],
    ['frobnicate', `unknown command 'frobnicate' ${see('')}`],
    ['user list --acount x', "unknown option '--acount' (Did you mean --account?)"],
    ['user list --Account=y', "unknown option '--Account=y' (Did you mean --account?)"],
    ['held list --jsno', "unknown option '--jsno' (Did you mean --json?)"],
    ['held list -x', `unknown option '-x' ${see('held list')}`],
    ['held list --constructor', `unknown option '--constructor' ${see('held list')}`],
    ['account create --name', `option '--name <value>' argument missing ${see('account create')}`],
    [
      'account create --name --email x',
      `option '--name <value>' argument '--email' is invalid. It needs a value. ${see('account create')}`,
    ],
    ['account create --email x', `required option '--name <value>' not specified ${see('account create')}`],
    ['events tail --all=yes', `unknown option '--all=yes' ${see('events tail')}`],
    ['held release', `missing required argument 'payment' ${see('held release')}`],
    ['held release a b', `too many arguments. Expected 1 argument but got 2: a, b. ${see('held release')}`],
    ['account list Loja', `too many arguments. Expected 0 arguments but got 1: Loja. ${see('account list')}`],
    ['--json', `no command given ${see('')}`],
    ['--frobnicate', `unknown option '--frobnicate' ${see('')}`],
    ['--hlep', "unknown option '--hlep' (Did you mean --help?)"],
  ];
  for (const [line, says] of MEANT)
    it(`"${line}" is rejected in one line: ${says.slice(0, 100)}`, async () => {
      expect(await typed(line)).to.deep.equal({ code: 2, out: '', err: `quita: ${says}\n` });
    });

  it('invalid input gets at most two lines and 400 characters', async () => {
    for (const line of [
      `${'x'.repeat(5_000)}`,
      'a b c d e f',
      '-- account create',
      '-',
      '--',
      'help frobnicate',
      '-hx',
      '--=x',
      '\0',
    ]) {
      const { code, out, err } = await typed(line);
      expect([code, out], line.slice(0, 20)).to.deep.equal([2, '']);
      expect(err.trim().split('\n').length, err.slice(0, 200)).to.be.at.most(2);
      expect(err.length).to.be.below(400);
    }
  });
});

describe('the database that the command line connects to', () => {
  let database: TestDatabase;
  afterEach(() => database.drop());
  const query = async <Row extends pg.QueryResultRow>(text: string): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: database.connectionString });
    await client.connect();
    const { rows } = await client.query<Row>(text);
    await client.end();
    return rows;
  };
  const tables = () =>
    query("SELECT schemaname, tablename FROM pg_tables WHERE schemaname !~ '^(pg_|information)' ORDER BY 1, 2");
  const LINES = ['account list', 'doctor', 'projections verify', 'account create --name x --email x@example.com'];
  const refused = async (says: RegExp) => {
    const [before, done] = [await tables(), await query("SELECT to_regclass('schema_migrations')")];
    for (const line of LINES) {
      const { code, out, err } = await typed(line, { DATABASE_URL: database.connectionString });
      expect(code, line).to.equal(2);
      expect(out + err, line)
        .to.match(/^[^\n]+\n$/)
        .and.match(says);
    }
    expect([await tables(), await query("SELECT to_regclass('schema_migrations')")]).to.deep.equal([before, done]);
  };

  it('stays empty if it has no schema yet', async () => {
    database = await emptyDatabase();
    await refused(/the database has no Quita schema yet: start the program first, which creates it\n$/);
    expect(await tables()).to.deep.equal([]);
  });
  it('is not migrated by a newer build', async () => {
    database = await migratedDatabase();
    const [last] = await query<{ name: string }>(
      'DELETE FROM schema_migrations WHERE id = (SELECT max(id) FROM schema_migrations) RETURNING name',
    );
    await refused(new RegExp(`the database has the schema of an older version \\(${last?.name} missing\\): `));
    expect(await query(`SELECT FROM schema_migrations WHERE name = '${last?.name}'`)).to.deep.equal([]);
  });
  it('is not changed by an older build', async () => {
    database = await migratedDatabase();
    await query(
      "INSERT INTO schema_migrations (name, batch, migration_time) VALUES ('9999_future_contract', 99, now())",
    );
    await refused(/the database has the schema of a newer version \(9999_future_contract\): start that version\n$/);
  });
  it('has parked streams listed only for known read models and processes', async () => {
    database = await migratedDatabase();
    const env = { DATABASE_URL: database.connectionString };
    const listed = (consumer: string) => typed(`parked list --consumer ${consumer}`, env);
    for (const consumer of ['wallet', 'process/expiry'])
      expect(await listed(consumer)).to.deep.equal({ code: 0, out: 'no parked streams\n', err: '' });
    const stream = PAYMENT.stream('3gysc09kqhck4mzwybbk9dsst9' as PaymentId);
    const MISTYPED = [
      ['parked list', 'walet'],
      [`parked show ${stream}`, 'webhookFanout'],
      ['parked retry --all', 'Payments'],
      [`parked skip ${stream} --reason x`, 'process/instrumentIssiung'],
    ] as const;
    for (const [command, consumer] of MISTYPED) {
      const { code, out, err } = await typed(`${command} --consumer ${consumer}`, env);
      // The security log gets no line.
      expect([code, out, err.trimEnd().split('\n').length]).to.deep.equal([2, '', 1]);
      expect(err).to.match(
        /^quita: option '--consumer <value>' argument '[\w/]+' is invalid. Allowed choices are payments, /,
      );
    }
  });
  it('is checked against SECRETS_KEY by doctor, which seals nothing itself', async () => {
    database = await migratedDatabase();
    const finding = async (env: Record<string, string>) => {
      const { out } = await typed('doctor --json', { DATABASE_URL: database.connectionString, ...env });
      const { findings } = JSON.parse(out) as { findings: { check: string; isGood: boolean; says: string }[] };
      const found = findings.find(({ check }) => check === 'secrets key');
      return [found?.isGood, found?.says];
    };
    const SECRETS_KEY = randomBytes(32).toString('base64');
    expect(await finding({})).to.deep.equal([true, 'not checked: SECRETS_KEY is not set here']);
    expect(await finding({ SECRETS_KEY })).to.deep.equal([true, 'nothing is sealed yet']);
    expect(await query('SELECT FROM operations.secrets_key_check')).to.deep.equal([]);
    await query("INSERT INTO operations.secrets_key_check (key_id, sealed) VALUES ('0', '\\x00')");
    expect((await finding({ SECRETS_KEY }))[0]).to.equal(false);
  });
  it('is not created if no program is running, and neither is a key', async () => {
    database = await emptyDatabase();
    const dataDir = await mkdtemp(join(tmpdir(), 'quita-cli-'));
    for (const line of LINES) {
      const { code, out, err } = await typed(line, { DATA_DIR: dataDir });
      expect(code, line).to.equal(2);
      expect(out + err, line).to.match(/^[^\n]*No program is running on [^\n]+\n$/);
    }
    expect(await readdir(dataDir)).to.deep.equal([]);
    await rm(dataDir, { recursive: true });
  });
});
