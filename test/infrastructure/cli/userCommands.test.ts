// The user commands of the CLI (rules D2, O1) and the read model behind `user list`.
import { expect } from 'chai';
import type { UserId } from '../../../domain/kernel/ids.ts';
import { type CliRun, runWordsIn } from '../../support/cli.ts';
import { startedDatabase, type TestGateway } from '../../world/gateway.ts';
import { openReady } from '../../world/http.ts';
import type { TestDatabase } from '../../world/postgres.ts';

interface Listed {
  readonly users: readonly { readonly userId: string; readonly email: string; readonly status: string }[];
}

describe('user commands', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  let account: string;
  before(async () => {
    database = await startedDatabase();
    gateway = await openReady({ database });
    account = `acct_${gateway.tenant.accountId}`;
  });
  after(async () => {
    await gateway.close();
    await database.drop();
  });

  const run = <T = Record<string, unknown>>(...words: string[]): Promise<CliRun<T>> =>
    runWordsIn<T>({ DATABASE_URL: database.connectionString, LOG_LEVEL: 'silent' }, 'user', ...words);
  const add = (email: string, role: string, ...more: string[]) =>
    run<Record<string, string>>('add', '--email', email, '--role', role, ...more, '--json');
  const logIn = async (email: string, password: string) =>
    (await gateway.post('/v1/auth/login', { email, password }, { key: null })).status;
  const list = async (...more: string[]) => {
    await gateway.untilProjected('users');
    return (await run<Listed>('list', ...more, '--json')).json.users;
  };

  it('add prints a working password once; disable blocks the login, enable restores it, and list shows the status', async () => {
    const { code, json } = await add('ana@example.com', 'ADMIN', '--account', account, '--name', 'Ana');
    expect(code).to.equal(0);
    const { userId = '', password = '', ...rest } = json;
    expect(rest).to.deep.equal({ accountId: account, email: 'ana@example.com', name: 'Ana', role: 'ADMIN' });
    expect(password).to.match(/^[\w-]{24}$/);
    expect(await logIn('ana@example.com', password)).to.equal(200);
    const [{ addedAt, ...listed } = { addedAt: '' }, ...others] = (await list()) as unknown as readonly Record<
      string,
      unknown
    >[];
    expect([listed, others]).to.deep.equal([
      {
        ...{ userId, accountId: account, email: 'ana@example.com', name: 'Ana', role: 'ADMIN' },
        ...{ status: 'active', hasPassword: true },
      },
      [],
    ]);
    expect(addedAt).to.match(/^\d{4}-/);
    for (const [verb, status, login] of [
      ['disable', 'disabled', 401],
      ['disable', 'disabled', 401],
      ['enable', 'active', 200],
      ['enable', 'active', 200],
    ] as const) {
      expect((await run(verb, userId, '--json')).json['status']).to.equal(status);
      expect(await logIn('ana@example.com', password)).to.equal(login);
      expect((await list())[0]?.status).to.equal(status);
    }
  });
  it('add creates an operator without an account, whom no account’s list shows', async () => {
    const { json } = await add('olga@example.com', 'OPERATOR', '--password', 'a senha da operadora');
    expect([json['accountId'], json['password']]).to.deep.equal([null, 'a senha da operadora']);
    expect(await logIn('olga@example.com', 'a senha da operadora')).to.equal(200);
    expect((await list()).map(({ email }) => email)).to.deep.equal(['ana@example.com', 'olga@example.com']);
    expect((await list('--account', account)).map(({ email }) => email)).to.deep.equal(['ana@example.com']);
  });
  it('role changes the role, also in open sessions, but not of the last owner', async () => {
    const tenant = await gateway.newTenant();
    const of = `acct_${tenant.accountId}`;
    const { password = '', userId = '' } = (await add('rui@example.com', 'OWNER', '--account', of)).json;
    const headers = await gateway.logIn('OWNER', { userId: userId as UserId, email: 'rui@example.com', password });
    const canManage = async () =>
      (await gateway.get<{ access: { canManage: boolean } }>('/v1/api-keys', { key: null, headers })).body.access
        .canManage;
    const role = (wanted: string, who = userId) => run('role', who, '--role', wanted, '--json');
    const says = 'The account has no other active OWNER. Make another user OWNER first.';
    expect((await role('VIEWER')).err).to.equal(`quita: ${says}\n`);
    expect(await canManage()).to.equal(true);
    await add('eva@example.com', 'OWNER', '--account', of);
    await gateway.untilProjected('users');
    for (const [wanted, who, may] of [
      ['VIEWER', 'RUI@example.com', false],
      ['VIEWER', userId, false],
      ['ADMIN', userId, true],
    ] as const) {
      expect((await role(wanted, who)).json).to.include({ userId, role: wanted, status: 'active' });
      expect(await canManage()).to.equal(may);
    }
    const listed = (await list('--account', of)) as readonly { email: string; role?: string }[];
    expect(listed.map(({ email, role: has }) => [email, has])).to.deep.equal([
      ['rui@example.com', 'ADMIN'],
      ['eva@example.com', 'OWNER'],
    ]);
    for (const { userId: id } of await list('--account', of)) await run('disable', id);
  });
  it('invalid arguments are rejected in one line without effect', async () => {
    const refusals: readonly (readonly [string, readonly string[]])[] = [
      ['--account is required for every role except OPERATOR', ['add', '--email', 'x@example.com', '--role', 'OWNER']],
      [
        'an OPERATOR belongs to the platform: omit --account',
        ['add', '--email', 'x@example.com', '--role', 'OPERATOR', '--account', account],
      ],
      [
        'There is no such account.',
        ['add', '--email', 'x@example.com', '--role', 'OWNER', '--account', `acct_${'0'.repeat(26)}`],
      ],
      ['--email must be an email address', ['add', '--email', 'x', '--role', 'OPERATOR']],
      [
        '--password must have 12 to 128 characters',
        ['add', '--email', 'x@example.com', '--role', 'OPERATOR', '--password', 'short'],
      ],
      [
        'A user with this email address already exists.',
        ['add', '--email', 'ANA@example.com', '--role', 'OWNER', '--account', account],
      ],
      ['There is no such user.', ['disable', `usr_${'0'.repeat(26)}`]],
      ['no user "ana": use a usr_ id or the user’s email address', ['enable', 'ana']],
      ['no user "nobody@example.com": use a usr_ id or the user’s email address', ['disable', 'nobody@example.com']],
    ];
    for (const [says, words] of refusals) {
      const { code, err } = await run(...words);
      expect([code, err]).to.deep.equal([2, `quita: ${says}\n`]);
    }
    expect(await list()).to.have.length(4);
  });
  it('the users read model matches the log', async () => {
    const { code, out, err } = await runWordsIn(
      { DATABASE_URL: database.connectionString, LOG_LEVEL: 'silent' },
      ...['projections', 'verify'],
    );
    expect(code, out + err).to.equal(0);
  });
});
