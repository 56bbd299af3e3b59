// Keys rotated and revoked under load on two API processes, one of them deaf to the database's notifications; then one of them frozen
// while its key is revoked. `npm run soak:keys`; ROUNDS changes how many of each.
import { expect } from 'chai';
import { startDeafProxy } from '../support/deafProxy.ts';
import { rotateUnderLoad } from '../support/keyRotations.ts';
import { cli, freePort, newDataDir, Program, removeDataDir } from '../support/program.ts';
import { startOwnPostgres } from './deployment/ownPostgres.ts';

const ROUNDS = Number(process.env['ROUNDS'] ?? 100);
const FROZEN_ROUNDS = 5;
const CONNECTIONS = 64;
const SECRETS_KEY = Buffer.alloc(32, 5).toString('base64');

const quantile = (values: readonly number[], of: number): string =>
  (values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * of)] as number).toFixed(0);

describe('keys that are rotated and revoked under load', function suite() {
  this.timeout(3_600_000);

  it(`are dead in every process when the call returns, ${ROUNDS} times of each`, async () => {
    const postgres = await startOwnPostgres();
    const proxy = await startDeafProxy(postgres.connectionString);
    const dataDir = await newDataDir();
    const port = await freePort();
    const start = (role: 'start' | 'api', databaseUrl: string, at: number) => {
      const env = { DATABASE_URL: databaseUrl, SECRETS_KEY, PUBLIC_URL: `http://127.0.0.1:${port}` };
      return new Program({ dataDir, port: at, env, role }).ready();
    };
    const hearing = await start('start', postgres.connectionString, port);
    const deaf = await start('api', proxy.connectionString, await freePort());
    const words = ['account', 'create', '--name', 'Loja', '--email', 'ana@example.com', '--password', 'uma senha boa'];
    await cli(dataDir, words, { DATABASE_URL: postgres.connectionString, SECRETS_KEY });
    const call = async (base: string, method: string, path: string, headers: Record<string, string>, body?: object) => {
      const sent = { 'content-type': 'application/json', ...headers };
      const answer = await fetch(base + path, { method, headers: sent, ...(body && { body: JSON.stringify(body) }) });
      return { status: answer.status, body: (await answer.json()) as Record<string, string> };
    };
    const login = await call(hearing.baseUrl, 'POST', '/v1/auth/login', {}, { email: words[5], password: words[7] });
    const authorization = `Bearer ${login.body['token']}`;
    const baseUrls = [hearing.baseUrl, deaf.baseUrl];

    const { requests, withDead, withLive, tookMs } = await rotateUnderLoad({
      baseUrls,
      connections: CONNECTIONS,
      rounds: ROUNDS,
      authorization,
    });
    console.log({ requests, withDead, withLive, p50: quantile(tookMs, 0.5), p99: quantile(tookMs, 0.99) });
    expect(Object.keys(withDead).filter((status) => status !== '503')).to.deep.equal(['401']);
    expect(Object.keys(withLive)).to.deep.equal(['200']);
    expect(proxy.swallowed).to.be.above(0);

    for (let round = 0; round < FROZEN_ROUNDS; round++) {
      const issued = await call(hearing.baseUrl, 'POST', '/v1/api-keys', { authorization }, { test: true });
      const [id, apikey] = [issued.body['id'] as string, issued.body['apiKey'] as string];
      for (const base of baseUrls)
        expect((await call(base, 'GET', '/v1/sandbox/clock', { apikey })).status).to.equal(200);
      deaf.process.kill('SIGSTOP');
      const startedMs = performance.now();
      const revoked = await call(hearing.baseUrl, 'DELETE', `/v1/api-keys/${id}`, { authorization });
      const tookMs = performance.now() - startedMs;
      const late = call(deaf.baseUrl, 'GET', '/v1/sandbox/clock', { apikey });
      deaf.process.kill('SIGCONT');
      const { status } = await late;
      console.log(`frozen: revoked in ${tookMs.toFixed(0)} ms, then ${status}`);
      expect([revoked.status, [401, 503].includes(status)]).to.deep.equal([200, true]);
    }

    for (const program of [deaf, hearing]) await program.kill9();
    await proxy.close();
    await postgres.stop();
    await removeDataDir(dataDir);
  });
});
