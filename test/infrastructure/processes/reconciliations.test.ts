// How far reconciliation got, and which references nobody was told of, in Postgres.
import { expect } from 'chai';
import type { Tenant } from '../../../application/ports/paymentProvider.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { parseTimestamp } from '../../../domain/kernel/time.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { providerNotifications } from '../../../infrastructure/processes/providerNotifications.ts';
import { reconciliations } from '../../../infrastructure/processes/reconciliations.ts';
import { migratedDatabase, type TestDatabase } from '../../support/postgres.ts';
import { at } from '../../support/samples.ts';
import { account, RecordingJobs } from './support.ts';

const TENANT: Tenant = { accountId: account('acct'), mode: 'test' };
const LIVE: Tenant = { ...TENANT, mode: 'live' };
const OTHER: Tenant = { ...TENANT, accountId: account('other') };

describe('reconciliation in Postgres', () => {
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
  afterEach(() => pool.query('TRUNCATE operations.reconciliations, operations.provider_notifications'));

  it('keeps how far it got, of one account and mode each, to the millisecond', async () => {
    const { reachedBy, reached } = reconciliations(pool);
    const until = parseTimestamp('2026-11-21T13:00:00.123Z');
    expect(await reachedBy(TENANT)).to.equal(null);
    await reached(TENANT, until);
    await reached(LIVE, at('14:00:00'));
    expect(await Promise.all([TENANT, LIVE, OTHER].map(reachedBy))).to.deep.equal([until, at('14:00:00'), null]);
  });
  it('never moves backwards, whoever is first', async () => {
    const { reachedBy, reached } = reconciliations(pool);
    await reached(TENANT, at('13:00:00'));
    await reached(TENANT, at('13:00:00'));
    await reached(TENANT, at('12:00:00'));
    expect(await reachedBy(TENANT)).to.equal(at('13:00:00'));
    await Promise.all(['16', '15', '17', '14'].map((hour) => reached(TENANT, at(`${hour}:00:00`))));
    expect(await reachedBy(TENANT)).to.equal(at('17:00:00'));
  });

  it('knows which references nobody told of, of any kind, of one account and mode each', async () => {
    const notifications = providerNotifications(pool, new RecordingJobs());
    const told = (tenant: Tenant, reference: string, kind: 'payment' | 'fact' = 'payment') =>
      notifications.store({ tenant, kind, reference, paymentId: 'p' as PaymentId }, 'raw');
    await told(TENANT, 'E1');
    await told(TENANT, 'pay/"7",{a}', 'fact');
    await told(LIVE, 'E2');
    await told(OTHER, 'E3');
    const references = ['E1', 'E2', 'E3', 'pay/"7",{a}', 'E4', 'E4', 'e1'];
    expect(await notifications.untold(TENANT, references)).to.deep.equal(new Set(['E2', 'E3', 'E4', 'e1']));
    expect(await notifications.untold(LIVE, ['E1', 'E2'])).to.deep.equal(new Set(['E1']));
    expect(await notifications.untold(TENANT, [])).to.deep.equal(new Set());
  });
});
