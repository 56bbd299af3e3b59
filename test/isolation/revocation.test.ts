// A key that is rotated or revoked, and an account that is suspended, under load on two processes, one of them deaf to the database's
// notifications: no request with the old key succeeds after the answer, and none with the new one fails (ADR 0009).
import { expect } from 'chai';
import { type DeafProxy, startDeafProxy } from '../support/deafProxy.ts';
import { TestGateway } from '../support/gateway.ts';
import { rotateUnderLoad } from '../support/keyRotations.ts';
import { migratedDatabase, type TestDatabase } from '../support/postgres.ts';

describe('revocation on two processes, one of them deaf', () => {
  let database: TestDatabase;
  let proxy: DeafProxy;
  let hearing: TestGateway;
  let deaf: TestGateway;

  before(async () => {
    database = await migratedDatabase();
    proxy = await startDeafProxy(database.connectionString);
    const publicUrl = 'http://quita.example';
    hearing = await TestGateway.open({ database, publicUrl });
    deaf = await TestGateway.open({
      database: { ...database, connectionString: proxy.connectionString },
      publicUrl,
      roles: { serves: true, projects: false, works: false },
      isAlone: false,
    });
  });
  after(async () => {
    await deaf.close();
    await hearing.close();
    await proxy.close();
    await database.drop();
  });

  it('is complete when it is answered', async () => {
    const { withDead, withLive, tookMs } = await rotateUnderLoad({
      baseUrls: [hearing.baseUrl, deaf.baseUrl],
      connections: 64,
      rounds: 3,
      ...(await hearing.logIn('OWNER')),
    });
    // 503: the deaf process does not know whether the read model is behind.
    expect(Object.keys(withDead).filter((status) => status !== '503')).to.deep.equal(['401']);
    expect(Object.keys(withLive)).to.deep.equal(['200']);
    expect(tookMs).to.have.length(6);
    expect(proxy.swallowed).to.be.above(0);
    expect([...hearing.faults, ...deaf.faults]).to.deep.equal([]);
  });

  it('of an agreement: a setting holds in every process when its change is answered', async () => {
    const { testKey: key, accountId } = await hearing.newTenant();
    const by = { actor: 'operator:test', requestId: null };
    const limits = () =>
      Promise.all(
        [hearing, deaf].map(async (one) =>
          (await one.get('/v1/sandbox/clock', { key })).headers.get('x-ratelimit-limit-minute'),
        ),
      );
    await limits();
    for (const [{ gateway }, rateLimitPerMinute] of [
      [hearing, 77],
      [deaf, 78],
    ] as const) {
      await gateway.services.changeAccountSettings(accountId, { rateLimitPerMinute }, by);
      expect(await limits()).to.deep.equal([String(rateLimitPerMinute), String(rateLimitPerMinute)]);
    }
  });

  it('of a whole account is complete when its suspension is answered, and undone when its reopening is', async () => {
    const { testKey: key, accountId } = await hearing.newTenant();
    const by = { actor: 'operator:test', requestId: null };
    const statuses = () =>
      Promise.all([hearing, deaf].map(async (one) => (await one.get('/v1/sandbox/clock', { key })).status));
    for (const { gateway } of [hearing, deaf]) {
      expect(await statuses()).to.deep.equal([200, 200]);
      await gateway.services.platform.suspendAccount(accountId, by);
      expect(await statuses()).to.deep.equal([401, 401]);
      await gateway.services.platform.reopenAccount(accountId, by);
    }
    expect(await statuses()).to.deep.equal([200, 200]);
  });
});
