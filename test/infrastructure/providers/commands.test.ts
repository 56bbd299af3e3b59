// The commands of provider connections, beside a running program with a simulated institution (rules V1, V5).
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ConnectionView } from '../../../domain/presentation/connection.ts';
import type { Simulator } from '../../simulators/pixApi/startSimulator.ts';
import { runWordsIn } from '../../support/cli.ts';
import { ELSEWHERE, RECEIVER } from '../../support/tls/certificates.ts';
import { type Added, ConnectionDesk } from '../../world/connectionDesk.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';

const KEY = randomBytes(32);
/** The audit log seals its signing key at its first signature, within 10 s of the first event. */
const AUDIT_KEY = 1;

describe('the provider commands', () => {
  let database: TestDatabase;
  let desk: ConnectionDesk;
  let bank: Simulator;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quita-provider-'));
    const files = { 'cert.pem': RECEIVER.cert, 'key.pem': RECEIVER.key, 'other.pem': ELSEWHERE.key };
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    database = await migratedDatabase();
    desk = await ConnectionDesk.open({ database, secretsKeys: [KEY] });
    bank = await desk.simulator();
    await writeFile(join(folder, 'secret'), `${bank.clients[0]?.clientSecret}\n`);
  });
  afterEach(async () => {
    const { faults } = desk.gateway;
    await desk.close();
    await database.drop();
    expect(faults).to.deep.equal([]);
  });

  /** With DATABASE_URL, the CLI runs in production mode, so its connections have public addresses. */
  const env = (more: Record<string, string> = {}) => ({
    DATABASE_URL: database.connectionString,
    SECRETS_KEY: KEY.toString('base64'),
    PUBLIC_URL: desk.gateway.baseUrl,
    ...more,
  });
  const run = <T = ConnectionView>(words: string, more?: Record<string, string>) =>
    runWordsIn<T>(env(more), ...words.split(' '));
  const good = async <T = ConnectionView>(words: string): Promise<T> => {
    const { code, err, json } = await run<T>(`${words} --json`);
    expect([code, err.replaceAll(/^\{.*\}\n/gm, '')], words).to.deep.equal([0, '']);
    return json;
  };
  const bad = async (words: string, message: string | RegExp, code: 1 | 2 = 2) => {
    const done = await run(words);
    expect(done.code, `${done.out}${done.err}`).to.equal(code);
    expect(done.out + done.err).to.match(typeof message === 'string' ? new RegExp(message) : message);
  };
  const settings = (more = '') =>
    [
      'provider add --kind pix --preset generic --name Banco --base-url https://bank.example --token-url https://bank.example/token',
      `--client-id quita --client-secret-file ${join(folder, 'secret')} --pix-key pix@quita.example`,
      more,
    ]
      .join(' ')
      .trim();

  it('add prints the ID and the callback URL, and the program uses the connection', async () => {
    const added = await good<Added>(settings());
    expect(Object.keys(added)).to.deep.equal(['id', 'callbackUrl']);
    expect(added.callbackUrl).to.match(new RegExp(`^${desk.gateway.baseUrl}/providers/${added.id}/[0-9a-f]{32}$`));
    await desk.untilRouted(1);
    expect(await desk.show(added.id)).to.deep.equal(await good(`provider show ${added.id}`));
    const { connections } = await good<{ connections: ConnectionView[] }>('provider list');
    expect(connections.map(({ id, status }) => [id, status])).to.deep.equal([[added.id, 'enabled']]);
    expect((await run('provider list')).out).to.include(added.id);
  });

  it('add names the invalid option', async () => {
    const file = (name: string) => join(folder, name);
    await bad(settings('--order x'), '--order must be a whole number');
    await bad(settings('--methods BOLETO'), '--methods must be PIX');
    await bad(settings(`--certificate ${file('cert.pem')}`), '--private-key is required with a certificate');
    await bad(
      settings(`--certificate ${file('cert.pem')} --private-key ${file('other.pem')}`),
      '--private-key does not belong to the certificate',
    );
    await bad(settings(`--ca ${file('none.pem')}`), /--ca: .*none.pem can’t be read/);
    await bad(
      settings().replace('https://bank.example ', 'http://127.0.0.1:9 '),
      '--base-url must use https; plain http needs --allow-private',
    );
    await bad(settings('--allow-private'), '--allow-private is not allowed in production');
    await bad(settings(`--account acct_${'0'.repeat(26)}`), '--account is not an account');
    await bad(settings().replace('pix@quita.example', '1'), '--pix-key must be a CPF');
    await bad(settings().replace('generic', 'banco'), /preset/);
    expect((await good<{ connections: object[] }>('provider list')).connections).to.deep.equal([]);
  });

  it('add requires the secrets key', async () => {
    const done = await run(settings(), { SECRETS_KEY: '' });
    expect([done.code, done.err.includes('set SECRETS_KEY')]).to.deep.equal([2, true]);
  });

  it('set, drain, disable and enable take effect in the program', async () => {
    const { id } = await good<Added>(settings());
    const files = `--certificate ${join(folder, 'cert.pem')} --private-key ${join(folder, 'key.pem')}`;
    const set = await good(`provider set ${id} --name Outro --order 3 --require-client-certificate yes ${files}`);
    expect(set).to.deep.include({ name: 'Outro', order: 3, requireClientCertificate: true });
    expect(set.certificate?.daysLeft).to.be.greaterThan(30_000);
    expect(await desk.show(id)).to.deep.equal(set);
    expect((await good(`provider set ${id} --certificate none`)).certificate).to.equal(null);
    for (const [command, status] of [
      ['drain', 'draining'],
      ['disable', 'disabled'],
      ['enable', 'enabled'],
    ]) {
      expect((await good(`provider ${command} ${id}`)).status).to.equal(status);
      expect((await desk.show(id)).status).to.equal(status);
    }
    await bad(`provider set ${id}`, 'name at least one setting');
    await bad('provider show pc_x', 'is not a provider connection id');
    await bad(`provider show pc_${'0'.repeat(26)}`, 'There is no such provider connection');
  });

  it('rotations print their result, but no secret except the new callback URL', async () => {
    const { id, callbackUrl } = await good<Added>(settings());
    const rotated = await good<Added & { previousUntil: string }>(`provider rotate-callback-secret ${id}`);
    expect(rotated.callbackUrl).to.not.equal(callbackUrl);
    expect((await good(`provider show ${id}`)).previousCallbackUntil).to.equal(rotated.previousUntil);
    await writeFile(join(folder, 'secret'), 'um-novo-segredo');
    const done = await run(`provider rotate-client-secret ${id} --client-secret-file ${join(folder, 'secret')}`);
    expect([done.code, (done.out + done.err).includes('um-novo-segredo')]).to.deep.equal([0, false]);
    const status = await good<{ keys: { use: string; secrets: number }[] }>('secrets status');
    // Two client secrets and two callback secrets, because the previous ones are kept for a while.
    const [key, ...others] = status.keys;
    expect([key?.use, others]).to.deep.equal(['seals', []]);
    expect(key?.secrets).to.be.oneOf([4, 4 + AUDIT_KEY]);
  });

  it('secrets rotate reseals the secrets of connections with the new key', async () => {
    const { id } = await good<Added>(settings());
    const fresh = randomBytes(32).toString('base64');
    const done = await run<{ resealed: number }>('secrets rotate --json', {
      SECRETS_KEY: fresh,
      SECRETS_KEY_FALLBACKS: KEY.toString('base64'),
    });
    expect(done.code, done.err).to.equal(0);
    expect(done.json.resealed).to.be.oneOf([2, 2 + AUDIT_KEY]);
    const rotated = await run<Added>(`provider webhook show ${id} --json`, { SECRETS_KEY: fresh });
    expect(rotated.err).to.not.include('sealed with the secrets key');
  });

  it('remove exits with code 1 while a payment is not final, and otherwise removes the connection', async () => {
    const logged = (err: string) => /"outcome":"(\w+)"/.exec(err)?.[1];
    const { id } = await desk.add(bank);
    const charge = await desk.charge();
    expect(charge.status, charge.text).to.equal(201);
    const refused = await run(`provider remove ${id}`);
    expect(refused.out).to.match(/^The connection has payments or payouts that are not final \(1\)\. Drain it/);
    expect([refused.code, logged(refused.err)]).to.deep.equal([1, 'incomplete']);
    const { tenant } = desk.gateway;
    await desk.gateway.post(`/v1/payments/${charge.body.id}/cancel`, {}, { key: tenant.liveKey });
    const removed = await run(`provider remove ${id} --json`);
    expect([removed.code, removed.json, logged(removed.err)]).to.deep.equal([0, { id, removed: true }, 'done']);
    expect(await good(`provider remove ${id}`)).to.deep.equal({ id, removed: true });
  });

  it('doctor reports connections that need action', async () => {
    const { id } = await desk.add(bank);
    const said = async () => {
      const { json } = await run<{ findings: { check: string; isGood: boolean; says: string }[] }>('doctor --json');
      const { isGood, says } = json.findings.find(({ check }) => check === 'provider connections') ?? {};
      return [isGood, says];
    };
    expect(await said()).to.deep.equal([true, 'nothing to do']);
    expect((await desk.charge()).status).to.equal(201);
    await good(`provider disable ${id}`);
    expect(await said()).to.deep.equal([
      false,
      `${id} (Banco) is disabled, and payments or payouts wait for it (1): provider enable or drain`,
    ]);
  });

  it('check exits with code 1 if a step fails', async () => {
    const { id } = await good<Added>(settings().replaceAll('https://bank.example', 'https://quita.invalid'));
    const done = await run<{ ok: boolean; steps: { name: string; ok: boolean }[] }>(`provider check ${id} --json`);
    expect([done.code, done.json.ok]).to.deep.equal([1, false]);
    expect(done.json.steps.find(({ name }) => name === 'token')?.ok).to.equal(false);
  });

  it('med open holds the money of a live charge, and med rule ends the case, even while the connection is disabled', async () => {
    const { id } = await desk.add(bank);
    await desk.untilRouted(1);
    expect((await desk.ask('POST', `/${id}/webhook`)).status).to.equal(200);
    const charge = await desk.charge<{ id: string; pix: { txid: string } }>();
    bank.pay(charge.body.pix.txid);
    await desk.untilFinal(id);
    const opened = await good<{ caseId: string }>(`med open ${charge.body.id} --amount 1000 --reason letter`);
    expect(opened).to.deep.include({ status: 'open', moneyOutcome: null });
    await good(`provider disable ${id}`);
    const tooMuch = await run(`med rule ${opened.caseId} --result agreed --returned-to-payer 1001`);
    expect([tooMuch.code, tooMuch.err]).to.satisfy(
      ([code, err]: [number, string]) => code === 2 && err.includes('quita: --returned-to-payer applies only to'),
    );
    const ruled = await good(`med rule ${opened.caseId} --result agreed --returned-to-payer 400`);
    expect(ruled).to.deep.equal({ ...opened, status: 'rejected', moneyOutcome: 'lost' });
  });
});
