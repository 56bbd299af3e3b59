// The operators’ listener in real programs: which roles open it in production (rules S4, S7, D4).
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { codeOf } from '../support/totp.ts';
import { emptyDatabase, type TestDatabase } from '../world/postgres.ts';
import { cli, freePort, newDataDir, Program, type RoleName, removeDataDir } from '../world/program.ts';

const SECRETS_KEY = randomBytes(32).toString('base64');
const METRICS_TOKEN = randomBytes(24).toString('hex');
const EMAIL = 'operadora@example.com';

describe('OPS_PORT in production', function suite() {
  let database: TestDatabase;
  let dataDir: string;
  const running: Program[] = [];
  const start = async (role: RoleName, opsPort: number): Promise<Program> => {
    const env = { DATABASE_URL: database.connectionString, SECRETS_KEY, METRICS_TOKEN, OPS_PORT: String(opsPort) };
    const program = new Program({ dataDir, port: await freePort(), env, role });
    running.push(program);
    return program;
  };
  before(async () => {
    database = await emptyDatabase();
    dataDir = await newDataDir();
  });
  after(async () => {
    for (const program of running) await program.kill9();
    await database.drop();
    await removeDataDir(dataDir);
  });
  const ask = async (url: string, method = 'GET', headers = {}, body?: unknown) => {
    const response = await fetch(url, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text };
  };
  const codeAt = async (...args: Parameters<typeof ask>) => {
    const { status, body } = await ask(...args);
    return [status, body.error?.code];
  };

  it('opens a listener in the API only, where operators log in and enroll', async () => {
    const opsPort = await freePort();
    const projector = await (await start('projector', opsPort)).ready();
    const api = await (await start('api', opsPort)).ready();
    const [main, ops] = [api.baseUrl, `http://127.0.0.1:${opsPort}`];
    const monitor = { authorization: `Bearer ${METRICS_TOKEN}` };
    expect((await ask(`${projector.baseUrl}/metrics`, 'GET', monitor)).status).to.equal(200);
    expect((await ask(`${ops}/metrics`, 'GET', monitor)).status).to.equal(200);
    expect(await codeAt(`${main}/metrics`, 'GET', monitor)).to.deep.equal([404, 'not_found']);

    const words = ['user', 'add', '--role', 'OPERATOR', '--email', EMAIL];
    const env = { DATABASE_URL: database.connectionString };
    const { password } = (await cli(dataDir, words, env)) as { password: string };
    const logIn = { email: EMAIL, password };
    expect(await codeAt(`${main}/v1/auth/login`, 'POST', {}, logIn)).to.deep.equal([403, 'role_required']);
    const { token } = (await ask(`${ops}/v1/auth/login`, 'POST', {}, logIn)).body;
    const session = { authorization: `Bearer ${token}` };
    const accounts = `${ops}/ops/v1/accounts`;
    expect(await codeAt(accounts, 'GET', session)).to.deep.equal([403, 'second_factor_enrolment_required']);
    const { secret } = (await ask(`${ops}/v1/auth/totp/enroll`, 'POST', session)).body;
    const confirmed = await ask(`${ops}/v1/auth/totp/confirm`, 'POST', session, { code: codeOf(secret) });
    expect(confirmed.status).to.equal(200);
    expect((await ask(accounts, 'GET', session)).status).to.equal(200);
    expect(await codeAt(`${main}/ops/v1/accounts`, 'GET', session)).to.deep.equal([404, 'not_found']);
    expect(await codeAt(`${ops}/v1/auth/login`, 'POST', {}, logIn)).to.deep.equal([401, 'second_factor_required']);

    await cli(dataDir, ['user', 'reset-second-factor', EMAIL], env);
    expect(await codeAt(accounts, 'GET', session)).to.deep.equal([401, 'unauthorized']);
    expect((await ask(`${ops}/v1/auth/login`, 'POST', {}, logIn)).status).to.equal(200);

    const second = await start('api', opsPort);
    expect(await second.exited).to.deep.equal({ code: 2, signal: null });
    expect(second.output).to.equal(
      `quita: OPS_PORT ${opsPort} on 127.0.0.1 is in use by another program: stop that program, or set OPS_PORT to a free port\n`,
    );
    for (const program of [api, projector]) expect((await program.stop()).code).to.equal(0);
  });
});
