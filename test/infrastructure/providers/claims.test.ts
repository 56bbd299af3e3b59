// Claims of received Pix, the sealed secrets of connections and the states of circuit breakers, in PostgreSQL.
import { expect } from 'chai';
import type { ConnectionId, PaymentId } from '../../../domain/kernel/ids.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { circuitReports, circuits } from '../../../infrastructure/providers/circuits.ts';
import { claim, receivedClaims } from '../../../infrastructure/providers/claims.ts';
import { connectionVault } from '../../../infrastructure/secrets/connectionSecrets.ts';
import { SecretsKeyring } from '../../../infrastructure/secrets/keyring.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';

const [ONE, OTHER] = ['1', '2'].map((digit) => digit.repeat(26) as ConnectionId) as [ConnectionId, ConnectionId];
const [A, B] = ['a', 'b'].map((letter) => `0${letter.repeat(25)}` as PaymentId) as [PaymentId, PaymentId];

describe('the tables of provider connections', () => {
  let database: TestDatabase;
  let db: PgPool;
  beforeEach(async () => {
    database = await migratedDatabase();
    db = new PgPool(connectionConfig(database.connectionString, 'test'), 4, () => undefined);
  });
  afterEach(async () => {
    await db.close();
    await database.drop();
  });

  it('assign a Pix to the first payment that claims it, and a warning names both payments', async () => {
    const warned: object[] = [];
    const claims = receivedClaims(db, { warn: (fields: object) => void warned.push(fields) } as never);
    expect([await claims(ONE)('E1', A), await claims(ONE)('E1', A)]).to.deep.equal([true, true]);
    expect(warned).to.deep.equal([]);
    expect(await claims(ONE)('E1', B)).to.equal(false);
    expect(warned).to.deep.equal([{ connection: ONE, endToEndId: 'E1', payment: B, holder: A }]);
    expect([await claims(OTHER)('E1', B), await claims(ONE)('E2', B)]).to.deep.equal([true, true]);
    const many = await Promise.all(Array.from({ length: 20 }, (_, i) => claims(ONE)('E3', i % 2 === 0 ? A : B)));
    expect(new Set(many.filter((_, i) => i % 2 === 0)).size).to.equal(1);
    expect(many[0]).to.equal(!many[1]);
  });

  it('return with a claim whether it is new, and the payment that holds the Pix', async () => {
    const found = await db.transaction(async (tx) => {
      const first = await claim(tx, { connectionId: ONE, endToEndId: 'E1', paymentId: A });
      return [first, await claim(tx, { connectionId: ONE, endToEndId: 'E1', paymentId: B })];
    });
    found.push(await claim(db, { connectionId: ONE, endToEndId: 'E1', paymentId: A }));
    expect(found.map(({ holder, isNew }) => [holder, isNew])).to.deep.equal([
      [A, true],
      [A, false],
      [A, false],
    ]);
  });

  it('store secrets sealed, with unique versions, and open them only for their own connection', async () => {
    const vault = connectionVault(db, async () => new SecretsKeyring([Buffer.alloc(32, 1)]));
    const versions = await Promise.all(Array.from({ length: 3 }, (_, i) => vault.keep(ONE, 'client', `segredo-${i}`)));
    expect(versions.toSorted()).to.deep.equal([1, 2, 3]);
    for (const [i, version] of versions.entries())
      expect(await vault.find(ONE, 'client', version)).to.equal(`segredo-${i}`);
    expect(await vault.find(ONE, 'callback', 1)).to.equal(null);
    expect(await vault.find(OTHER, 'client', 1)).to.equal(null);
    await db.query(`INSERT INTO operations.connection_secrets (connection_id, kind, version, key_id, sealed)
      SELECT '${OTHER}', kind, version, key_id, sealed FROM operations.connection_secrets`);
    const moved = await vault.find(OTHER, 'client', 1).catch((error: Error) => error);
    expect(moved).to.be.an.instanceOf(Error);
    await vault.forgetBefore(ONE, 'client', 3);
    expect(await vault.find(ONE, 'client', 2)).to.equal(null);
    expect(await vault.find(ONE, 'client', 3)).to.be.a('string');
    await vault.forget(ONE);
    expect(await vault.find(ONE, 'client', 3)).to.equal(null);
  });

  it('show an open circuit of any process until it closes or the process ends', async () => {
    let now = 0;
    const [first, second] = [circuitReports(db, () => now), circuitReports(db, () => now)];
    const states = async () => Object.fromEntries(await circuits(db).states());
    await first.report(ONE, 'closed');
    expect(await states()).to.deep.equal({});
    await first.report(ONE, 'open');
    await second.report(ONE, 'halfOpen');
    await second.report(OTHER, 'halfOpen');
    expect(await states()).to.deep.equal({ [ONE]: 'open', [OTHER]: 'halfOpen' });
    now += 60_000;
    await first.report(ONE, 'halfOpen');
    expect(await states()).to.deep.equal({ [ONE]: 'halfOpen', [OTHER]: 'halfOpen' });
    await second.report(OTHER, 'closed');
    await first.withdraw();
    await second.withdraw();
    expect(await states()).to.deep.equal({});
  });
});
