// The commands of the audit log, beside a running program: status, keys and tokens, and the result of doctor.
import { expect } from 'chai';
import { COMMANDS } from '../../../infrastructure/cli/commands.ts';
import { runCli } from '../../../infrastructure/cli/run.ts';
import { TestGateway } from '../../world/gateway.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';
import { sealAllOf } from './auditWorld.ts';

const KEY = 'Gm4Vw3jvVdMZ6p0yKtqkJfJm9wLwq0Zr3l1n9mC7a8E=';

describe('the commands of the audit log', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  before(async () => {
    database = await migratedDatabase();
    gateway = await TestGateway.open({
      database,
      secretsKeys: [Buffer.from(KEY, 'base64')],
      startSchedule: () => async () => undefined,
    });
  });
  after(async () => {
    await gateway.close();
    await database.drop();
  });

  const typed = async (words: string, env: Record<string, string> = { SECRETS_KEY: KEY }) => {
    let [out, err] = ['', ''];
    const code = await runCli(
      COMMANDS,
      words.split(' '),
      { DATABASE_URL: database.connectionString, PUBLIC_URL: 'https://pay.example.com', LOG_LEVEL: 'silent', ...env },
      { write: (text) => (out += text) },
      { write: (text) => (err += text) },
    );
    return { code, out, err };
  };
  const json = async <T>(words: string, env?: Record<string, string>): Promise<T> =>
    JSON.parse((await typed(`${words} --json`, env)).out) as T;

  it('show the log before its first checkpoint', async () => {
    const { code, out } = await typed('audit status');
    expect(code).to.equal(0);
    expect(out).to.contain('pay.example.com/audit/log').and.to.contain('checkpoint  none yet');
  });

  it('show the sealed size, the key and the lag', async () => {
    await sealAllOf(gateway, Buffer.from(KEY, 'base64'));
    const status = await json<{ size: number; lagSeconds: number; keys: unknown[]; checkpoint: { size: number } }>(
      'audit status',
    );
    expect(status.size).to.be.greaterThan(0);
    expect([status.checkpoint.size, status.lagSeconds, status.keys.length]).to.deep.equal([status.size, 0, 1]);
  });

  it('rotate the key, and fail without the secrets key', async () => {
    const refused = await typed('audit rotate-key', {});
    expect([refused.code, refused.err]).to.deep.equal([
      2,
      'quita: set SECRETS_KEY and SECRETS_KEY_FALLBACKS to the values that the programs use\n',
    ]);
    const { keys } = await json<{ keys: { vkey: string; until: string | null }[] }>('audit rotate-key');
    expect(keys.map(({ until }) => until === null)).to.deep.equal([false, true]);
    expect(new Set(keys.map(({ vkey }) => vkey)).size).to.equal(2);
  });

  it('issue a token that works until it is revoked, and revoke it idempotently', async () => {
    const issued = await json<{ id: string; token: string }>('audit token issue --name auditors');
    const read = async () =>
      (await fetch(`${gateway.baseUrl}/audit/log/checkpoint`, { headers: { authorization: `Bearer ${issued.token}` } }))
        .status;
    expect(await read()).to.equal(200);
    const { out } = await typed('audit token list');
    expect(out).to.contain(issued.id).and.not.to.contain(issued.token);
    for (let n = 0; n < 2; n++) expect((await typed(`audit token revoke ${issued.id}`)).code).to.equal(0);
    expect(await read()).to.equal(401);
  });

  for (const [words, says] of [
    ['audit token revoke nonsense', '"nonsense" is not the id of a token (16 hex characters)'],
    ['audit token revoke 0000000000000000', 'No audit token has the id 0000000000000000.'],
    [`audit token issue --name ${'x'.repeat(101)}`, '--name must have 1 to 100 characters'],
  ] as const)
    it(`reject ${words.slice(0, 40)}`, async () => {
      const { code, err } = await typed(words);
      expect([code, err]).to.deep.equal([2, `quita: ${says}\n`]);
    });

  it('report why sealing stopped, as doctor does', async () => {
    await gateway.gateway.needs.auditTree.setStopped('a test stopped it');
    const status = await typed('audit status');
    expect(status.code).to.equal(1);
    expect(status.out).to.contain('STOPPED: a test stopped it');
    const doctor = await typed('doctor');
    expect(doctor.out).to.match(/BAD +audit log +sealing stopped: a test stopped it/);
    await gateway.gateway.needs.auditTree.setStopped(null);
    expect((await typed('doctor')).out).to.match(/ok +audit log +\d+ entries sealed/);
  });
});
