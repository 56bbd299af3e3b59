// The check of a database's secrets key, and the stored signing secrets of webhooks.
import { expect } from 'chai';
import type { EndpointId } from '../../../domain/kernel/ids.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { SecretsKeyring } from '../../../infrastructure/secrets/keyring.ts';
import { checkedKeyId, countSealed, resealSecrets } from '../../../infrastructure/secrets/resealing.ts';
import { isRightKeyring, opensWhatIsSealed } from '../../../infrastructure/secrets/secretsKey.ts';
import { webhookSecrets } from '../../../infrastructure/secrets/webhookSecrets.ts';
import { useDatabase } from '../../world/postgres.ts';

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const;
const KEY = new SecretsKeyring([OLD]);
const OTHER_KEY = new SecretsKeyring([NEW]);
const ENDPOINT = '0123456789abcdefghjkmnpqrs' as EndpointId;
const OTHER_ENDPOINT = '1123456789abcdefghjkmnpqrs' as EndpointId;
const [FIRST, SECOND] = ['1'.repeat(64), '2'.repeat(64)] as const;

describe('secrets in the database', () => {
  let pool: PgPool;
  useDatabase('test', 4, (opened) => {
    pool = opened;
  });

  it('accept only the first key as the right one', async () => {
    expect(await isRightKeyring(pool, KEY)).to.equal(true);
    expect(await isRightKeyring(pool, KEY)).to.equal(true);
    expect(await isRightKeyring(pool, OTHER_KEY)).to.equal(false);
    expect(await isRightKeyring(pool, KEY)).to.equal(true);
    const { rows } = await pool.query<{ count: number }>('SELECT count(*) AS count FROM operations.secrets_key_check');
    expect(rows).to.deep.equal([{ count: 1 }]);
  });

  it('accept one key if two processes start at once with different ones', async () => {
    const answers = await Promise.all([isRightKeyring(pool, KEY), isRightKeyring(pool, OTHER_KEY)]);
    expect(answers.toSorted()).to.deep.equal([false, true]);
    expect(await isRightKeyring(pool, KEY)).to.equal(answers[0]);
  });

  it('are found by endpoint and version', async () => {
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

  it('keep the first secret of a version, whatever is stored later by this or another process', async () => {
    const secrets = webhookSecrets(pool, KEY);
    await secrets.keep(ENDPOINT, 1, FIRST);
    const before = await pool.query('SELECT * FROM operations.webhook_secrets');
    expect(await secrets.keep(ENDPOINT, 1, FIRST)).to.equal(FIRST);
    expect(await secrets.keep(ENDPOINT, 1, SECOND)).to.equal(FIRST);
    expect(await webhookSecrets(pool, KEY).keep(ENDPOINT, 1, SECOND)).to.equal(FIRST);
    expect((await pool.query('SELECT * FROM operations.webhook_secrets')).rows).to.deep.equal(before.rows);
  });

  it('lose the versions before a given one, only for that endpoint, idempotently', async () => {
    const secrets = webhookSecrets(pool, KEY);
    for (const version of [1, 2, 3]) await secrets.keep(ENDPOINT, version, FIRST);
    await secrets.keep(OTHER_ENDPOINT, 1, SECOND);
    for (const _ of [1, 2]) {
      await secrets.forgetBefore(ENDPOINT, 3);
      const reader = webhookSecrets(pool, KEY);
      const found = await Promise.all([1, 2, 3].map((version) => reader.find(ENDPOINT, version)));
      expect(found).to.deep.equal([null, null, FIRST]);
      expect(await reader.find(OTHER_ENDPOINT, 1)).to.equal(SECOND);
    }
  });

  it('keep one of two secrets stored concurrently, and both processes get that one', async () => {
    const kept = await Promise.all(
      [FIRST, SECOND].map((secret) => webhookSecrets(pool, KEY).keep(ENDPOINT, 1, secret)),
    );
    expect(kept[0]).to.be.oneOf([FIRST, SECOND]);
    expect(kept).to.deep.equal([kept[0], kept[0]]);
  });

  it('are forgotten with their endpoint, unless the transaction is rolled back', async () => {
    const secrets = webhookSecrets(pool, KEY);
    for (const endpoint of [ENDPOINT, OTHER_ENDPOINT])
      for (const version of [1, 2]) await secrets.keep(endpoint, version, FIRST);
    const left = async () =>
      (await pool.query('SELECT endpoint_id AS id, version FROM operations.webhook_secrets ORDER BY 1, 2')).rows;
    const before = await left();
    const rollBack = pool.transaction(async (tx) => {
      await secrets.forget([ENDPOINT], tx);
      throw new Error('no');
    });
    expect(await rollBack.catch((error: Error) => error.message)).to.equal('no');
    expect(await left()).to.deep.equal(before);
    await secrets.forget([ENDPOINT]);
    expect(await left()).to.deep.equal([1, 2].map((version) => ({ id: OTHER_ENDPOINT, version })));
  });

  it('are neither stored nor cached if the transaction is rolled back', async () => {
    const secrets = webhookSecrets(pool, KEY);
    const rollBack = pool.transaction(async (tx) => {
      expect(await secrets.keep(ENDPOINT, 1, FIRST, tx)).to.equal(FIRST);
      throw new Error('no');
    });
    expect(await rollBack.catch((error: Error) => error.message)).to.equal('no');
    expect(await secrets.find(ENDPOINT, 1)).to.equal(null);
  });

  it('are stored sealed, and can’t be opened for another endpoint', async () => {
    await webhookSecrets(pool, KEY).keep(ENDPOINT, 1, FIRST);
    const { rows } = await pool.query<{ sealed: Buffer }>('SELECT sealed FROM operations.webhook_secrets');
    expect(rows.map(({ sealed }) => sealed.includes(FIRST.slice(0, 8)))).to.deep.equal([false]);
    await pool.query('UPDATE operations.webhook_secrets SET endpoint_id = $1', [OTHER_ENDPOINT]);
    const found = webhookSecrets(pool, KEY).find(OTHER_ENDPOINT, 1);
    expect(await found.catch((error: Error) => error.message)).to.match(/unable to authenticate/);
  });

  describe('during a rotation of the secrets key', () => {
    const BOTH = new SecretsKeyring([NEW, OLD]);
    const NEW_ID = OTHER_KEY.sealingId;
    const idOf = (n: number) => String(n).padStart(26, '0') as EndpointId;
    const keepUnder = async (keyring: SecretsKeyring, from: number, to: number) => {
      const secrets = webhookSecrets(pool, keyring);
      for (let n = from; n < to; n++) await secrets.keep(idOf(n), 1, String(n).padStart(64, '0'));
    };
    const counts = async () => Object.fromEntries(await countSealed(pool));
    const expectAllReadBy = async (keyring: SecretsKeyring, count: number) => {
      const secrets = webhookSecrets(pool, keyring);
      for (let n = 0; n < count; n++) expect(await secrets.find(idOf(n), 1)).to.equal(String(n).padStart(64, '0'));
    };

    it('are read with either key, and written with the first', async () => {
      await keepUnder(KEY, 0, 2);
      await keepUnder(BOTH, 2, 3);
      expect(await counts()).to.deep.equal({ [KEY.sealingId]: 2, [OTHER_KEY.sealingId]: 1 });
      for (const keyring of [BOTH, new SecretsKeyring([OLD, NEW])]) await expectAllReadBy(keyring, 3);
      const unknown = webhookSecrets(pool, KEY).find(idOf(2), 1);
      expect(await unknown.catch((error: Error) => error.message)).to.contain(
        `sealed with the secrets key ${OTHER_KEY.sealingId}`,
      );
    });
    it('are resealed in batches, after which the program starts without the old key', async () => {
      expect(await isRightKeyring(pool, KEY)).to.equal(true);
      await keepUnder(KEY, 0, 250);
      await keepUnder(BOTH, 250, 253);
      expect([await isRightKeyring(pool, BOTH), await isRightKeyring(pool, OTHER_KEY)]).to.deep.equal([true, false]);
      expect(await resealSecrets(pool, BOTH)).to.equal(250);
      expect([await counts(), await checkedKeyId(pool)]).to.deep.equal([{ [NEW_ID]: 253 }, NEW_ID]);
      expect([await isRightKeyring(pool, OTHER_KEY), await isRightKeyring(pool, KEY)]).to.deep.equal([true, false]);
      await expectAllReadBy(OTHER_KEY, 253);
      expect(await resealSecrets(pool, BOTH)).to.equal(0);
    });
    it('continue to be resealed after a stop, and need the old key until then', async () => {
      expect(await isRightKeyring(pool, KEY)).to.equal(true);
      await keepUnder(KEY, 0, 150);
      const stopping = new AbortController();
      const stopsAfterOne: typeof pool.query = async (...args) => {
        const result = await pool.query(...(args as Parameters<typeof pool.query>));
        if (String(args[0]).startsWith('UPDATE')) stopping.abort();
        return result as never;
      };
      expect(await resealSecrets({ query: stopsAfterOne }, BOTH, stopping.signal)).to.equal(100);
      expect([await counts(), await checkedKeyId(pool)]).to.deep.equal([
        { [KEY.sealingId]: 50, [NEW_ID]: 100 },
        KEY.sealingId,
      ]);
      expect(await opensWhatIsSealed(pool, OTHER_KEY)).to.equal(false);
      expect(await resealSecrets(pool, BOTH)).to.equal(50);
      expect(await checkedKeyId(pool)).to.equal(NEW_ID);
    });
    it('need the old key if another process sealed a secret with it after the last batch', async () => {
      expect(await isRightKeyring(pool, KEY)).to.equal(true);
      await keepUnder(KEY, 1, 3);
      let isLate = false;
      const late: typeof pool.query = async (...args) => {
        const result = await pool.query(...(args as Parameters<typeof pool.query>));
        if (!isLate && String(args[0]).startsWith('UPDATE')) {
          isLate = true;
          // It sorts before the rows that were processed, so no later batch finds it.
          await keepUnder(KEY, 0, 1);
        }
        return result as never;
      };
      expect(await resealSecrets({ query: late }, BOTH)).to.equal(2);
      expect([await counts(), await checkedKeyId(pool)]).to.deep.equal([
        { [KEY.sealingId]: 1, [NEW_ID]: 2 },
        KEY.sealingId,
      ]);
      expect(await resealSecrets(pool, BOTH)).to.equal(1);
      expect(await checkedKeyId(pool)).to.equal(NEW_ID);
      await expectAllReadBy(OTHER_KEY, 3);
    });
    it('are all kept by two concurrent reseals, beside writes of new secrets', async () => {
      await keepUnder(KEY, 0, 150);
      const [one, two] = await Promise.all([
        resealSecrets(pool, BOTH),
        resealSecrets(pool, BOTH),
        keepUnder(BOTH, 150, 180),
      ]);
      expect((one ?? 0) + (two ?? 0)).to.equal(150);
      await expectAllReadBy(OTHER_KEY, 180);
    });
    it('stay unchanged, with the check of the old key, if that key is missing', async () => {
      expect(await isRightKeyring(pool, KEY)).to.equal(true);
      await keepUnder(KEY, 0, 1);
      const done = resealSecrets(pool, OTHER_KEY);
      expect(await done.catch((error: Error) => error.name)).to.equal('UnknownSecretsKey');
      expect([await counts(), await checkedKeyId(pool)]).to.deep.equal([{ [KEY.sealingId]: 1 }, KEY.sealingId]);
    });
  });
});
