// Failed logins in Postgres: which ones count, for which address, and for how long (rule D1).
import { expect } from 'chai';
import { loginFailures } from '../../../infrastructure/accounts/sessions.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { SecretsKeyring } from '../../../infrastructure/secrets/keyring.ts';
import { useDatabase } from '../../world/postgres.ts';

const [ANA, BIA] = ['Ana@example.com', 'bia@example.com'];

describe('failed logins', () => {
  let db: PgPool;
  useDatabase('suite', 2, (opened) => {
    db = opened;
  });
  beforeEach(() => db.query('DELETE FROM operations.login_failures'));

  const process = () => loginFailures(db, new SecretsKeyring([Buffer.alloc(32, 7)]));
  const age = (by: string) => db.query(`UPDATE operations.login_failures SET failed_at = failed_at - interval '${by}'`);
  const kept = async () => (await db.query('SELECT FROM operations.login_failures')).rowCount;

  it('count only for the attempted address, ignoring case, across all processes', async () => {
    const [one, two] = [process(), process()];
    expect(await one.count(ANA)).to.equal(0);
    await one.record(ANA);
    await two.record(ANA.toUpperCase());
    await two.record(BIA);
    expect([await one.count(ANA.toLowerCase()), await two.count(ANA), await one.count(BIA)]).to.deep.equal([2, 2, 1]);
  });
  it('count for 15 minutes and are then deleted', async () => {
    const failures = process();
    await failures.record(ANA);
    await age('10 minutes');
    await failures.record(ANA);
    await failures.forgetOld();
    expect([await failures.count(ANA), await kept()]).to.deep.equal([2, 2]);
    await age('5 minutes');
    expect([await failures.count(ANA), await kept()]).to.deep.equal([1, 2]);
    await failures.forgetOld();
    expect([await failures.count(ANA), await kept()]).to.deep.equal([1, 1]);
  });
  it('are removed one by one if an attempt that was recorded in advance succeeds', async () => {
    const [one, two] = [process(), process()];
    for (const subject of [ANA, ANA, ANA, BIA]) await one.record(subject);
    await Promise.all([one.removeOne(ANA), two.removeOne(ANA.toUpperCase())]);
    expect([await one.count(ANA), await one.count(BIA)]).to.deep.equal([1, 1]);
    for (let times = 0; times < 2; times++) await one.removeOne(ANA);
    expect([await one.count(ANA), await one.count(BIA)]).to.deep.equal([0, 1]);
  });
  it('are stored without the email address', async () => {
    await process().record(ANA);
    const { rows } = await db.query<{ subject: string }>('SELECT subject FROM operations.login_failures');
    expect(rows.map(({ subject }) => subject.length)).to.deep.equal([64]);
    const withOtherKey = loginFailures(db, new SecretsKeyring([Buffer.alloc(32, 8)]));
    expect(await withOtherKey.count(ANA)).to.equal(0);
  });
});
