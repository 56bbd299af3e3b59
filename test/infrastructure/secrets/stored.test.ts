// The secrets key of a database, and webhook signing secrets in it.
import { expect } from 'chai';
import type { EndpointId } from '../../../domain/kernel/ids.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { isRightSecretsKey } from '../../../infrastructure/secrets/secretsKey.ts';
import { webhookSecrets } from '../../../infrastructure/secrets/webhookSecrets.ts';
import { migratedDatabase, type TestDatabase } from '../../support/postgres.ts';

const KEY = Buffer.alloc(32, 1);
const OTHER_KEY = Buffer.alloc(32, 2);
const ENDPOINT = '0123456789abcdefghjkmnpqrs' as EndpointId;
const OTHER_ENDPOINT = '1123456789abcdefghjkmnpqrs' as EndpointId;
const [FIRST, SECOND] = ['1'.repeat(64), '2'.repeat(64)] as const;

describe('secrets in the database', () => {
  let database: TestDatabase;
  let pool: PgPool;
  beforeEach(async () => {
    database = await migratedDatabase();
    pool = new PgPool(connectionConfig(database.connectionString, 'test'), 4, () => undefined);
  });
  afterEach(async () => {
    await pool.close();
    await database.drop();
  });

  it('has the first key as the right one, and no other, ever after', async () => {
    expect(await isRightSecretsKey(pool, KEY)).to.equal(true);
    expect(await isRightSecretsKey(pool, KEY)).to.equal(true);
    expect(await isRightSecretsKey(pool, OTHER_KEY)).to.equal(false);
    expect(await isRightSecretsKey(pool, KEY)).to.equal(true);
    const { rows } = await pool.query<{ count: number }>('SELECT count(*) AS count FROM operations.secrets_key_check');
    expect(rows).to.deep.equal([{ count: 1 }]);
  });

  it('has one right key when two processes start at once with different ones', async () => {
    const answers = await Promise.all([isRightSecretsKey(pool, KEY), isRightSecretsKey(pool, OTHER_KEY)]);
    expect(answers.toSorted()).to.deep.equal([false, true]);
    expect(await isRightSecretsKey(pool, KEY)).to.equal(answers[0]);
  });

  it('finds what was kept, by endpoint and version', async () => {
    const secrets = webhookSecrets(pool, KEY);
    expect(await secrets.find(ENDPOINT, 1)).to.equal(null);
    expect(await secrets.keep(ENDPOINT, 1, FIRST)).to.equal(FIRST);
    expect(await secrets.keep(ENDPOINT, 2, SECOND)).to.equal(SECOND);
    for (const reader of [secrets, webhookSecrets(pool, KEY)]) {
      expect(await reader.find(ENDPOINT, 1)).to.equal(FIRST);
      expect(await reader.find(ENDPOINT, 2)).to.equal(SECOND);
      expect(await reader.find(ENDPOINT, 3)).to.equal(null);
      expect(await reader.find(OTHER_ENDPOINT, 1)).to.equal(null);
    }
  });

  it('keeps the first when a version is kept twice, and again with another secret, in this process and another', async () => {
    const secrets = webhookSecrets(pool, KEY);
    await secrets.keep(ENDPOINT, 1, FIRST);
    const before = await pool.query('SELECT * FROM operations.webhook_secrets');
    expect(await secrets.keep(ENDPOINT, 1, FIRST)).to.equal(FIRST);
    expect(await secrets.keep(ENDPOINT, 1, SECOND)).to.equal(FIRST);
    expect(await webhookSecrets(pool, KEY).keep(ENDPOINT, 1, SECOND)).to.equal(FIRST);
    expect((await pool.query('SELECT * FROM operations.webhook_secrets')).rows).to.deep.equal(before.rows);
  });

  it('keeps one when two processes keep different ones at once, and tells both which', async () => {
    const kept = await Promise.all(
      [FIRST, SECOND].map((secret) => webhookSecrets(pool, KEY).keep(ENDPOINT, 1, secret)),
    );
    expect(kept[0]).to.be.oneOf([FIRST, SECOND]);
    expect(kept).to.deep.equal([kept[0], kept[0]]);
  });

  it('keeps nothing, and remembers nothing, of a transaction that is rolled back', async () => {
    const secrets = webhookSecrets(pool, KEY);
    const rollBack = pool.transaction(async (tx) => {
      expect(await secrets.keep(ENDPOINT, 1, FIRST, tx)).to.equal(FIRST);
      throw new Error('no');
    });
    expect(await rollBack.catch((error: Error) => error.message)).to.equal('no');
    expect(await secrets.find(ENDPOINT, 1)).to.equal(null);
  });

  it('never has the secret in the clear, and refuses a row moved to another endpoint', async () => {
    await webhookSecrets(pool, KEY).keep(ENDPOINT, 1, FIRST);
    const { rows } = await pool.query<{ sealed: Buffer }>('SELECT sealed FROM operations.webhook_secrets');
    expect(rows.map(({ sealed }) => sealed.includes(FIRST.slice(0, 8)))).to.deep.equal([false]);
    await pool.query('UPDATE operations.webhook_secrets SET endpoint_id = $1', [OTHER_ENDPOINT]);
    const found = webhookSecrets(pool, KEY).find(OTHER_ENDPOINT, 1);
    expect(await found.catch((error: Error) => error.message)).to.match(/unable to authenticate/);
  });
});
