// Notifications of providers, and a limit that holds under concurrent requests.

import { expect } from 'chai';
import { NOTIFIED_WORK } from '../../../application/capabilities.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { providerNotifications } from '../../../infrastructure/providers/providerNotifications.ts';
import { account, RecordingJobs } from '../../support/operations.ts';
import { startedDatabase, TestGateway } from '../../world/gateway.ts';
import { useDatabase } from '../../world/postgres.ts';

const PIX = {
  tenant: { accountId: account('acct'), mode: 'test' as const },
  kind: 'payment' as const,
  reference: 'E1',
  paymentId: 'p1' as PaymentId,
};
const keyOf = (reference: string) => ({ tenant: PIX.tenant, reference });
const payloadOf = (reference: string) => ({ ...PIX.tenant, reference });

describe('provider notifications', () => {
  let pool: PgPool;
  let jobs: RecordingJobs;
  useDatabase('test', 4, (opened) => {
    pool = opened;
  });
  beforeEach(async () => {
    jobs = new RecordingJobs();
  });
  const rows = async () =>
    (
      await pool.query<Record<string, string | null>>(
        'SELECT account_id, mode, kind, reference, payment_id, outcome FROM operations.provider_notifications',
      )
    ).rows;
  const ROW = {
    account_id: 'acct',
    mode: 'test',
    kind: 'payment',
    reference: 'E1',
    payment_id: 'p1',
    outcome: null,
  };

  it('are stored with their job, once', async () => {
    const notifications = providerNotifications(pool, jobs, NOTIFIED_WORK);
    expect(await notifications.store(PIX)).to.equal(true);
    expect(await notifications.store(PIX)).to.equal(false);
    expect(await rows()).to.deep.equal([ROW]);
    expect(jobs.enqueued).to.deep.equal([{ queue: 'settle', tenant: PIX.tenant, payload: payloadOf('E1') }]);
    expect(await notifications.find(keyOf('E1'))).to.deep.equal(PIX);
    expect(await notifications.find({ tenant: { ...PIX.tenant, mode: 'live' }, reference: 'E1' })).to.equal(null);
  });

  it('keep the first payment of their reference, whatever arrives later', async () => {
    const notifications = providerNotifications(pool, jobs, NOTIFIED_WORK);
    await notifications.store(PIX);
    expect(await notifications.store({ ...PIX, paymentId: 'p2' as PaymentId })).to.equal(false);
    expect(await rows()).to.deep.equal([ROW]);
    expect(jobs.enqueued).to.have.length(1);
  });

  it('of an acquirer’s facts are stored with their kind', async () => {
    const notifications = providerNotifications(pool, jobs, NOTIFIED_WORK);
    const fact = { ...PIX, kind: 'fact' as const, reference: 'card-1:refused' };
    expect(await notifications.store(fact)).to.equal(true);
    expect(await notifications.store({ ...fact, kind: 'payment' })).to.equal(false);
    expect(await notifications.find(keyOf('card-1:refused'))).to.deep.equal(fact);
  });

  it('with slashes in their reference are found and handled like others', async () => {
    const notifications = providerNotifications(pool, jobs, NOTIFIED_WORK);
    const payment = { ...PIX, reference: 'pay/7/a' };
    await notifications.store(payment);
    expect(jobs.enqueued[0]?.payload).to.deep.equal(payloadOf('pay/7/a'));
    expect(await notifications.find(keyOf('pay/7/a'))).to.deep.equal(payment);
    await notifications.markHandled(keyOf('pay/7/a'), 'settled');
    expect(await rows()).to.deep.equal([{ ...ROW, reference: 'pay/7/a', outcome: 'settled' }]);
  });

  it('are separate for each account and mode, and stored once if they arrive concurrently', async () => {
    const notifications = providerNotifications(pool, jobs, NOTIFIED_WORK);
    const answers = await Promise.all(Array.from({ length: 8 }, () => notifications.store(PIX)));
    expect(answers.filter((isNew) => isNew)).to.have.length(1);
    expect(await notifications.store({ ...PIX, tenant: { ...PIX.tenant, mode: 'live' } })).to.equal(true);
    expect(await notifications.store({ ...PIX, tenant: { ...PIX.tenant, accountId: account('other') } })).to.equal(
      true,
    );
  });

  it('are not stored if the transaction is rolled back or the job can’t be enqueued', async () => {
    const notifications = providerNotifications(pool, jobs, NOTIFIED_WORK);
    const outer = pool.transaction(async (tx) => {
      expect(await notifications.store(PIX, tx)).to.equal(true);
      throw new Error('no');
    });
    expect(await outer.catch((error: Error) => error.message)).to.equal('no');
    jobs.enqueue = () => Promise.reject(new Error('no queue'));
    expect(await notifications.store(PIX).catch((error: Error) => error.message)).to.equal('no queue');
    expect(await rows()).to.deep.equal([]);
  });

  it('are listed if unhandled for long enough, oldest first and in pages, and not after they are handled', async () => {
    const notifications = providerNotifications(pool, jobs, NOTIFIED_WORK);
    for (const reference of ['E1', 'E2', 'E3']) await notifications.store({ ...PIX, reference });
    await pool.query(
      "UPDATE operations.provider_notifications SET received_at = now() - (CASE reference WHEN 'E1' THEN 10 WHEN 'E2' THEN 20 ELSE 0 END) * interval '1 minute'",
    );
    const unhandled = async (page: number) => {
      const pages = [];
      for await (const keys of notifications.unhandled(300_000, page)) pages.push(keys);
      return pages;
    };
    expect(await unhandled(10)).to.deep.equal([[keyOf('E2'), keyOf('E1')]]);
    expect(await unhandled(1)).to.deep.equal([[keyOf('E2')], [keyOf('E1')], []]);
    await notifications.markHandled(keyOf('E2'), 'settled');
    await notifications.markHandled(keyOf('E1'), 'not_confirmed');
    expect(await unhandled(10)).to.deep.equal([[]]);
    expect((await rows()).map((row) => row['outcome']).toSorted()).to.deep.equal(
      ['not_confirmed', 'settled', null].toSorted(),
    );
  });
});

describe('the limit of webhook endpoints', function suite() {
  it('is never exceeded by concurrent requests of two tenants to two processes', async () => {
    const database = await startedDatabase();
    const one = await TestGateway.open({ database });
    const two = await TestGateway.open({ database, isAlone: false });
    for (const { gateway } of [one, two]) expect(await gateway.projected.caughtUp(30_000)).to.equal(true);
    const other = await one.newTenant();
    const register = (gateway: TestGateway, key: string, n: number) =>
      gateway.post('/v1/webhooks/endpoints', { url: `http://127.0.0.1:9999/${n}`, events: ['*'] }, { key });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => [
        register(n % 2 ? one : two, one.tenant.testKey, n),
        register(n % 2 ? two : one, other.testKey, n),
      ]).flat(),
    );
    const statuses = (n: number) =>
      answers
        .filter((_, i) => i % 2 === n)
        .map(({ status }) => status)
        .toSorted();
    const expected = [...Array(16).fill(201), ...Array(4).fill(400)];
    expect([statuses(0), statuses(1)]).to.deep.equal([expected, expected]);
    for (const gateway of [one, two]) {
      expect(gateway.faults).to.deep.equal([]);
      await gateway.close();
    }
    await database.drop();
  });
});
