// Data keys in PostgreSQL (ADR 0017): one per owner, shared by all processes, and destroyed for all of them.
import { expect } from 'chai';
import { type DataKey, DataKeysUnavailable, type FoundKey } from '../../../application/ports/dataKeys.ts';
import { NotificationListener } from '../../../infrastructure/postgres/notificationListener.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { PostgresDataKeys } from '../../../infrastructure/secrets/dataKeys.ts';
import { SecretsKeyring, UnknownSecretsKey } from '../../../infrastructure/secrets/keyring.ts';
import { countSealed, resealSecrets } from '../../../infrastructure/secrets/resealing.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';

const [OLD, NEW] = [1, 2].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer];
const KEYRING = new SecretsKeyring([OLD]);

const opened = (key: FoundKey | undefined): DataKey => {
  if (key === undefined || key === 'destroyed') throw new Error(`no key: ${key}`);
  return key;
};
const failureOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => Promise.reject(new Error('it succeeded')),
    (error: Error) => error,
  );

describe('data keys', () => {
  let database: TestDatabase;
  let pool: PgPool;
  before(async () => {
    database = await migratedDatabase();
    pool = new PgPool(connectionConfig(database.connectionString, 'test'), 4, () => undefined);
  });
  after(async () => {
    await pool.close();
    await database.drop();
  });
  let owners = 0;
  const newOwner = (): string => `owner${++owners}`;
  /** Returns the keys as another process sees them. */
  const keysWith = (keyring: SecretsKeyring | null = KEYRING) => new PostgresDataKeys(pool, keyring, true);
  const rowOf = async (owner: string) =>
    (
      await pool.query<{ isGone: boolean }>(
        'SELECT salt IS NULL AND secret_id IS NULL AND destroyed_at IS NOT NULL AS "isGone" FROM privacy.data_keys WHERE owner = $1',
        [owner],
      )
    ).rows;

  it('are found by every process', async () => {
    const owner = newOwner();
    const sealed = opened(await keysWith().findOrCreate(owner, true)).seal('here', 'Maria');
    const found = (await keysWith().find([owner, 'unknown'])) as Map<string, FoundKey>;
    expect([...found.keys()]).to.deep.equal([owner]);
    expect(opened(found.get(owner)).open('here', sealed)).to.equal('Maria');
    expect(() => opened(found.get(owner)).open('there', sealed)).to.throw(Error, /unable to authenticate/);
  });

  it('are the same for concurrent callers that create one, in one process or several', async () => {
    const owner = newOwner();
    const processes = [keysWith(), keysWith(), keysWith()];
    const made = await Promise.all(
      processes.flatMap((keys) => [keys.findOrCreate(owner, true), keys.findOrCreate(owner, false)]),
    );
    const [first] = made;
    const sealed = opened(first).seal('here', 'Maria');
    for (const key of made) expect(opened(key).open('here', sealed)).to.equal('Maria');
  });

  it('differ between owners', async () => {
    const keys = keysWith();
    const [one, other] = await Promise.all([keys.findOrCreate(newOwner(), true), keys.findOrCreate(newOwner(), true)]);
    expect(opened(other).open('', opened(one).seal('', 'Maria'))).to.equal(null);
  });

  it('are read with one query, plus one for the secret, for all callers of one turn', async () => {
    const all = [newOwner(), newOwner(), newOwner()];
    for (const owner of all) await keysWith().findOrCreate(owner, true);
    let queries = 0;
    const counting = {
      query: ((...args: Parameters<PgPool['query']>) => {
        queries++;
        return pool.query(...args);
      }) as PgPool['query'],
    };
    const keys = new PostgresDataKeys(counting, KEYRING, true);
    await Promise.all([...all.map((owner) => keys.find([owner])), keys.find(all)]);
    expect(queries, 'keys and the secret').to.equal(2);
    expect(all.map((owner) => keys.recall(owner) !== undefined)).to.deep.equal([true, true, true]);
  });

  it('are not stored by a process that creates one for an append', async () => {
    const [keys, owner] = [keysWith(), newOwner()];
    await keys.findOrCreate(newOwner(), true);
    const made = keys.createWithAppend(owner);
    expect(await rowOf(owner)).to.deep.equal([]);
    expect(keys.recall(owner)).to.equal(undefined);
    keys.remember(made!);
    expect(keys.recall(owner)).to.equal(made!.key);
    const others = new PostgresDataKeys(pool, KEYRING, false);
    await others.findOrCreate(newOwner(), true);
    expect(others.createWithAppend(owner), 'in another database than the events').to.equal(null);
  });

  it('leave a tombstone when destroyed, once, even if the owner had no key', async () => {
    const [owner, other, third] = [newOwner(), newOwner(), newOwner()];
    const keys = keysWith();
    for (const one of [owner, third]) await keys.findOrCreate(one, true);
    expect(await keys.destroy([owner, other, owner])).to.equal(2);
    expect(await keys.destroy([owner, other])).to.equal(0);
    expect([await rowOf(owner), await rowOf(other), await rowOf(third)]).to.deep.equal([
      [{ isGone: true }],
      [{ isGone: true }],
      [{ isGone: false }],
    ]);
    const elsewhere = keysWith();
    expect(await elsewhere.findOrCreate(owner, true)).to.equal('destroyed');
    expect(await elsewhere.findOrCreate(other, false)).to.equal('destroyed');
    expect((await keysWith().find([owner])).get(owner)).to.equal('destroyed');
  });

  it('are forgotten at once by the process that destroys them', async () => {
    const owner = newOwner();
    const keys = keysWith();
    let told = 0;
    keys.onDestroyed(() => told++);
    opened(await keys.findOrCreate(owner, true));
    await keys.destroy([owner]);
    expect([keys.recall(owner), told]).to.deep.equal([undefined, 1]);
    await keys.destroy([owner]);
    expect(told).to.equal(1);
  });

  it('are forgotten by all processes when some are destroyed', async () => {
    const owner = newOwner();
    const listeners = [1, 2].map(() => new NotificationListener(connectionConfig(database.connectionString, 'test')));
    for (const listener of listeners) await listener.open();
    try {
      const processes = [keysWith(), keysWith()] as const;
      for (const [i, keys] of processes.entries()) await keys.listen(listeners[i]!);
      await processes[0].findOrCreate(owner, true);
      await processes[1].find([owner]);
      const told = processes.map((keys) => new Promise<void>((resolve) => keys.onDestroyed(resolve)));
      await processes[0].destroy([owner]);
      await Promise.all(told);
      expect(processes.map((keys) => keys.recall(owner))).to.deep.equal([undefined, undefined]);
    } finally {
      for (const listener of listeners) await listener.close();
    }
  });

  it('are not cached while notices of destroyed keys may be missed', async () => {
    const owner = newOwner();
    let [lose, hear] = [() => {}, () => {}];
    const keys = keysWith();
    await keys.listen({
      onLost: (listener) => {
        lose = () => listener(new Error('lost'));
        return () => undefined;
      },
      on: async (_, listener) => {
        hear = () => listener('');
        return () => undefined;
      },
    });
    const known = (): boolean => keys.recall(owner) !== undefined;
    const made = opened(await keys.findOrCreate(owner, true));
    expect(known()).to.equal(true);
    lose();
    expect([keys.mayRemember, known()]).to.deep.equal([false, false]);
    opened((await keys.find([owner])).get(owner));
    keys.remember({ owner, secretId: 1, salt: '', key: made });
    expect(known()).to.equal(false);
    hear();
    expect([keys.mayRemember, known()]).to.deep.equal([true, false]);
    opened((await keys.find([owner])).get(owner));
    expect(known()).to.equal(true);
  });

  it('are read again if some were destroyed during the read', async () => {
    const owner = newOwner();
    await keysWith().findOrCreate(owner, true);
    let between: (() => Promise<unknown>) | null = () => keys.destroy([owner]);
    const slow: Pick<PgPool, 'query'> = {
      query: (async (...args: Parameters<PgPool['query']>) => {
        const result = await pool.query(...args);
        const work = between;
        between = null;
        await work?.();
        return result;
      }) as PgPool['query'],
    };
    const keys = new PostgresDataKeys(slow, KEYRING, true);
    expect((await keys.find([owner])).get(owner)).to.equal('destroyed');
    expect(keys.recall(owner)).to.equal('destroyed');
  });

  it('are unavailable, not destroyed, if they can’t be read', async () => {
    const owner = newOwner();
    await keysWith().findOrCreate(owner, true);
    const down = { query: () => Promise.reject(new Error('the database is away')) };
    const faults = [
      await failureOf(new PostgresDataKeys(down, KEYRING, true).find([owner])),
      await failureOf(new PostgresDataKeys(down, KEYRING, true).findOrCreate(owner, true)),
      await failureOf(keysWith(new SecretsKeyring([NEW])).find([owner])),
      await failureOf(keysWith(null).find([owner])),
    ];
    for (const fault of faults) expect(fault).to.be.instanceOf(DataKeysUnavailable);
    expect(faults[0]?.message).to.equal("the data keys can't be read: the database is away");
    expect(faults[2]?.cause).to.be.instanceOf(UnknownSecretsKey);
    expect(faults[3]?.message).to.include('set SECRETS_KEY');
  });

  it('can’t be derived for another owner from the same salt', async () => {
    const [owner, thief] = [newOwner(), newOwner()];
    const sealed = opened(await keysWith().findOrCreate(owner, true)).seal('', 'Maria');
    await keysWith().findOrCreate(thief, true);
    await pool.query(
      'UPDATE privacy.data_keys SET salt = (SELECT salt FROM privacy.data_keys WHERE owner = $1) WHERE owner = $2',
      [owner, thief],
    );
    const stolen = opened((await keysWith().find([thief])).get(thief));
    expect(stolen.open('', sealed)).to.equal(null);
  });

  it('are unavailable without their secret, which no process replaces', async () => {
    const owner = newOwner();
    const sealed = opened(await keysWith().findOrCreate(owner, true)).seal('', 'Maria');
    const { rows } = await pool.query<{ id: number; key_id: string; sealed: Buffer }>(
      'DELETE FROM privacy.data_secrets RETURNING *',
    );
    const faults = [
      await failureOf(keysWith().find([owner])),
      await failureOf(keysWith().findOrCreate(newOwner(), true)),
    ];
    for (const fault of faults) expect(fault).to.be.instanceOf(DataKeysUnavailable);
    for (const { id, key_id: keyId, sealed: bytes } of rows)
      await pool.query('INSERT INTO privacy.data_secrets (id, key_id, sealed) VALUES ($1, $2, $3)', [id, keyId, bytes]);
    expect(opened((await keysWith().find([owner])).get(owner)).open('', sealed)).to.equal('Maria');
  });

  it('have one sealed secret, whichever process creates it first', async () => {
    await pool.query('DELETE FROM privacy.data_keys');
    await pool.query('DELETE FROM privacy.data_secrets');
    const processes = [keysWith(), keysWith(), keysWith()];
    const owner = newOwner();
    expect(processes[0]?.createWithAppend(owner), 'before the secret is known').to.equal(null);
    const made = await Promise.all(processes.map((keys) => keys.findOrCreate(newOwner(), true)));
    const { rows } = await pool.query<{ id: number; sealed: Buffer; keyId: string }>(
      'SELECT id, sealed, key_id AS "keyId" FROM privacy.data_secrets',
    );
    expect(rows.map(({ id }) => id)).to.deep.equal([1]);
    expect(KEYRING.unsealBytes('data keys', 'data secret 1', rows[0]!)).to.have.length(32);
    expect(made.map(opened)).to.have.length(3);
    expect(processes.map((keys) => keys.createWithAppend(owner)?.secretId)).to.deep.equal([1, 1, 1]);
  });

  it('stay the same when their secret is resealed with a new secrets key', async () => {
    const keys = keysWith();
    const all = Array.from({ length: 3 }, newOwner);
    const made = await Promise.all(all.map((owner) => keys.findOrCreate(owner, true)));
    const both = new SecretsKeyring([NEW, OLD]);
    expect(await resealSecrets(pool, both)).to.equal(1);
    expect(await resealSecrets(pool, both)).to.equal(0);
    expect(await countSealed(pool)).to.deep.equal(new Map([[both.sealingId, 1]]));
    const found = await keysWith(new SecretsKeyring([NEW])).find(all);
    for (const [i, owner] of all.entries())
      expect(opened(found.get(owner)).open('', opened(made[i]).seal('', owner))).to.equal(owner);
  });
});
