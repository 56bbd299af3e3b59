// A key is rotated or revoked, or an account suspended, under load on two API processes. One gets no database notifications, and each is
// frozen once. After the answer, no request with the old key succeeds and none with the new one fails (ADR 0009). `npm run soak:keys` runs
// longer.
import { expect } from 'chai';
import { frozenBy, type KeyDeployment, startKeyDeployment } from '../support/keyDeployment.ts';
import { type Frozen, rotateUnderLoad } from '../support/keyRotations.ts';
import { emptyDatabase, type TestDatabase } from '../world/postgres.ts';
import { cli } from '../world/program.ts';

describe('revocation on two API processes, one without notifications', () => {
  let database: TestDatabase;
  let deployment: KeyDeployment;
  before(async () => {
    database = await emptyDatabase();
    deployment = await startKeyDeployment(database.connectionString);
  });
  after(async () => {
    await deployment?.stop();
    await database.drop();
  });

  const expectComplete = async (rounds: number, frozen?: Frozen) => {
    const { hearing, deaf, authorization } = deployment;
    const { withDead, withLive, tookMs } = await rotateUnderLoad({
      baseUrls: [hearing.baseUrl, deaf.baseUrl],
      ...(frozen && { frozen }),
      connections: 64,
      rounds,
      authorization,
    });
    // 503: without notifications, the process can’t tell whether the read model is behind.
    expect(Object.keys(withDead).filter((status) => status !== '503')).to.deep.equal(['401']);
    expect(Object.keys(withLive)).to.deep.equal(['200']);
    expect(tookMs).to.have.length(2 * rounds);
  };

  it('is effective once it is answered', async () => {
    await expectComplete(2);
    expect(deployment.proxy.swallowed).to.be.above(0);
  });
  for (const which of ['hearing', 'deaf'] as const)
    it(`is effective in the ${which} process when it resumes after a freeze`, () =>
      expectComplete(1, frozenBy(deployment[which])));

  it('also applies to settings: a change is effective in both processes once it is answered', async () => {
    const { dataDir, env, hearing, deaf } = deployment;
    const run = (...words: string[]) => cli(dataDir, words, env);
    const { accountId, testApiKey: apikey } = (await run(
      'account',
      'create',
      '--name',
      'C',
      '--email',
      'c@example.com',
    )) as {
      accountId: string;
      testApiKey: string;
    };
    const limits = () =>
      Promise.all(
        [hearing, deaf].map(async ({ baseUrl }) =>
          (await fetch(`${baseUrl}/v1/sandbox/clock`, { headers: { apikey } })).headers.get('x-ratelimit-limit-minute'),
        ),
      );
    for (const perMinute of ['77', '78']) {
      await run('account', 'settings', accountId, '--rate-limit', perMinute);
      expect(await limits()).to.deep.equal([perMinute, perMinute]);
    }
  });

  it('of an account is effective once its suspension is answered, and ends once its reopening is', async () => {
    const { dataDir, env, hearing, deaf, authorization } = deployment;
    const run = (...words: string[]) => cli(dataDir, words, env);
    const { accountId, testApiKey } = (await run('account', 'create', '--name', 'B', '--email', 'b@example.com')) as {
      accountId: string;
      testApiKey: string;
    };
    const statuses = (headers: Record<string, string>) =>
      Promise.all(
        [hearing, deaf].map(async ({ baseUrl }) => {
          const answers = await Promise.all([
            fetch(`${baseUrl}/v1/sandbox/clock`, { headers: { apikey: testApiKey } }),
            fetch(`${baseUrl}/v1/api-keys`, { headers }),
          ]);
          return answers.map(({ status }) => status);
        }),
      );
    const both = (status: number) => [
      [status, 200],
      [status, 200],
    ]; // The other account’s session is unaffected.
    expect(await statuses({ authorization })).to.deep.equal(both(200));
    await run('account', 'suspend', accountId);
    expect(await statuses({ authorization })).to.deep.equal(both(401));
    await run('account', 'reopen', accountId);
    expect(await statuses({ authorization })).to.deep.equal(both(200));
  });
});
