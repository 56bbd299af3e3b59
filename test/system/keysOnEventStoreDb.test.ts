// Keys, logins and suspensions with the log in EventStoreDB (the test server): two programs and the command line on one log.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { runWordsIn } from '../support/cli.ts';
import { type ServerProcess, startServerProcess } from '../support/eventStoreDb/serverProcess.ts';
import { rotateUnderLoad } from '../support/keyRotations.ts';
import { untilServed } from '../world/gateway.ts';
import { emptyDatabase, type TestDatabase } from '../world/postgres.ts';
import { freePort, newDataDir, Program, type RoleName, removeDataDir } from '../world/program.ts';

const SECRETS_KEY = randomBytes(32).toString('base64');
const OWNER = { email: 'ana@example.com', password: 'uma senha muito boa' };

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

describe('keys and logins on EventStoreDB, with two programs', () => {
  let server: ServerProcess;
  let database: TestDatabase;
  let dataDir: string;
  let accountId: string;
  const running: Program[] = [];
  const env = (): Record<string, string> => ({
    DATABASE_URL: database.connectionString,
    EVENTSTORE_URL: server.connectionString,
    SECRETS_KEY,
    PUBLIC_URL: 'https://quita.example',
    TRUST_PROXY: '1',
  });
  const start = async (role: RoleName): Promise<void> => {
    const program = new Program({ dataDir, port: await freePort(), env: env(), role });
    running.push(program);
    await program.ready();
  };
  const run = async <T>(...words: string[]): Promise<T> => {
    const { code, json, err } = await runWordsIn<T>(env(), ...words, '--json');
    expect(code, err).to.equal(0);
    return json;
  };
  const call = async (
    program: Program,
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: object,
  ): Promise<Answer> => {
    const answer = await fetch(program.baseUrl + path, {
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
  };
  const statusAt = async (program: Program, path: string, headers: Record<string, string>): Promise<number> =>
    (await untilServed(() => call(program, 'GET', path, headers))).status;
  const everywhere = (headers: Record<string, string>, path = '/v1/sandbox/clock') =>
    Promise.all(running.map((program) => statusAt(program, path, headers)));
  const logIn = (program: Program) => call(program, 'POST', '/v1/auth/login', {}, OWNER);
  const session = async (program: Program) => ({ authorization: `Bearer ${(await logIn(program)).body['token']}` });
  const [one, two] = [() => running[0] as Program, () => running[1] as Program];

  before(async () => {
    [server, database, dataDir] = await Promise.all([startServerProcess(), emptyDatabase(), newDataDir()]);
    await start('start');
    await start('api');
    const { email, password } = OWNER;
    const words = ['account', 'create', '--name', 'Loja', '--email', email, '--password', password];
    ({ accountId } = await run<{ accountId: string }>(...words));
  });
  after(async () => {
    await Promise.all(running.map((program) => program.kill9()));
    await server.stop();
    await database.drop();
    await removeDataDir(dataDir);
  });

  it('issue, rotate and revoke a key effective in both programs at once; repeating either returns 404', async () => {
    const owner = await session(two());
    const issued = (await call(one(), 'POST', '/v1/api-keys', owner, { label: 'Caixa', test: true })).body;
    const old = { apikey: String(issued['apiKey']) };
    expect(await everywhere(old)).to.deep.equal([200, 200]);
    const rotate = () => call(two(), 'POST', `/v1/api-keys/${issued['id']}/rotate`, owner, {});
    const rotated = await rotate();
    const fresh = { apikey: String(rotated.body['apiKey']) };
    expect([await everywhere(old), await everywhere(fresh)]).to.deep.equal([
      [401, 401],
      [200, 200],
    ]);
    expect((await rotate()).status).to.equal(404);
    const revoke = () => call(one(), 'DELETE', `/v1/api-keys/${rotated.body['id']}`, owner);
    expect((await revoke()).status).to.equal(200);
    expect(await everywhere(fresh)).to.deep.equal([401, 401]);
    expect((await revoke()).status).to.equal(404);
    const { keys } = await run<{ keys: { label: string | null }[] }>('key', 'list', accountId);
    expect(keys.map(({ label }) => label)).to.not.include('Caixa');
  });

  it('rotate and revoke keys under load', async () => {
    const { withDead, withLive } = await rotateUnderLoad({
      baseUrls: running.map(({ baseUrl }) => baseUrl),
      connections: 16,
      rounds: 2,
      ...(await session(one())),
    });
    // 503 means a read model that is behind on a loaded machine.
    const told = [withDead, withLive].map((counts) => Object.keys(counts).filter((status) => status !== '503'));
    expect(told).to.deep.equal([['401'], ['200']]);
  });

  it('end one session in both programs by a logout, and no other', async () => {
    const [ended, other] = [await session(one()), await session(two())];
    expect(await everywhere(ended, '/v1/api-keys')).to.deep.equal([200, 200]);
    expect((await call(two(), 'POST', '/v1/auth/logout', ended)).status).to.equal(204);
    expect((await call(one(), 'POST', '/v1/auth/logout', ended)).status).to.equal(401);
    expect(await everywhere(ended, '/v1/api-keys')).to.deep.equal([401, 401]);
    expect(await everywhere(other, '/v1/api-keys')).to.deep.equal([200, 200]);
  });

  it('end in both programs when the account is suspended; keys and logins work again after a reopening', async () => {
    const owner = await session(two());
    const issued = (await call(one(), 'POST', '/v1/api-keys', owner, { test: true })).body;
    const key = { apikey: String(issued['apiKey']) };
    expect(await everywhere(key)).to.deep.equal([200, 200]);
    for (let time = 0; time < 2; time++) {
      await run('account', 'suspend', accountId);
      expect(await everywhere(key)).to.deep.equal([401, 401]);
      expect(await everywhere(owner, '/v1/api-keys')).to.deep.equal([401, 401]);
      expect([(await logIn(one())).status, (await logIn(two())).status]).to.deep.equal([401, 401]);
    }
    await run('account', 'reopen', accountId);
    expect(await everywhere(key)).to.deep.equal([200, 200]);
    expect([(await logIn(one())).status, (await logIn(two())).status]).to.deep.equal([200, 200]);
  });
});
