// The progress of the reconciliation and the references without a notification, in Postgres.

import { expect } from 'chai';
import { NOTIFIED_WORK } from '../../../application/capabilities.ts';
import type { BookedPage } from '../../../application/ports/paymentProvider.ts';
import type { PaymentId, Tenant } from '../../../domain/kernel/ids.ts';
import { addMillis } from '../../../domain/kernel/time.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { providerNotifications } from '../../../infrastructure/providers/providerNotifications.ts';
import { reconciliations } from '../../../infrastructure/providers/reconciliations.ts';
import { bookedBetween } from '../../../infrastructure/providers/sandbox/books.ts';
import { account, RecordingJobs } from '../../support/operations.ts';
import { at } from '../../support/samples.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { useDatabase } from '../../world/postgres.ts';
import { ListedTenants } from './listedTenants.ts';

const TENANT: Tenant = { accountId: account('acct'), mode: 'test' };
const LIVE: Tenant = { ...TENANT, mode: 'live' };
const OTHER: Tenant = { ...TENANT, accountId: account('other') };

type Key = { readonly tenant: Tenant; readonly reference: string };

describe('reconciliation in Postgres', () => {
  let pool: PgPool;
  useDatabase('suite', 4, (opened) => {
    pool = opened;
  });
  afterEach(() => pool.query('TRUNCATE operations.provider_lists, operations.provider_notifications'));

  it('stores its progress per mode, to the millisecond', async () => {
    const { reconciledUntil, saveReconciledUntil } = reconciliations(pool);
    const until = parseTimestamp('2026-11-21T13:00:00.123Z');
    expect(await reconciledUntil('test')).to.equal(null);
    await saveReconciledUntil('test', until);
    expect([await reconciledUntil('test'), await reconciledUntil('live')]).to.deep.equal([until, null]);
    await saveReconciledUntil('live', at('14:00:00'));
    expect([await reconciledUntil('test'), await reconciledUntil('live')]).to.deep.equal([until, at('14:00:00')]);
  });
  it('accepts an earlier time, for example after a clock was ahead', async () => {
    const { reconciledUntil, saveReconciledUntil } = reconciliations(pool);
    await saveReconciledUntil('test', at('23:00:00'));
    await saveReconciledUntil('test', at('12:00:00'));
    await saveReconciledUntil('test', at('12:00:00'));
    expect(await reconciledUntil('test')).to.equal(at('12:00:00'));
  });

  it('finds references without a notification, per account and mode and of any kind', async () => {
    const notifications = providerNotifications(pool, new RecordingJobs(), NOTIFIED_WORK);
    const told = (tenant: Tenant, reference: string, kind: 'payment' | 'fact' = 'payment') =>
      notifications.store({ tenant, kind, reference, paymentId: 'p' as PaymentId });
    await told(TENANT, 'E1');
    await told(TENANT, 'pay/"7",{a}', 'fact');
    await told(LIVE, 'E2');
    await told(OTHER, 'E3');
    const keys: readonly (readonly [Tenant, string, boolean])[] = [
      [TENANT, 'E1', false],
      [TENANT, 'E2', true],
      [LIVE, 'E1', true],
      [LIVE, 'E2', false],
      [OTHER, 'E3', false],
      [TENANT, 'pay/"7",{a}', false],
      [TENANT, 'E4', true],
      [TENANT, 'E4', true],
      [TENANT, 'e1', true],
    ];
    const asked = keys.map(([tenant, reference]) => ({ tenant, reference }));
    expect(await notifications.unreported(asked)).to.deep.equal(keys.map(([, , isUnreported]) => isUnreported));
    expect(await notifications.unreported([])).to.deep.equal([]);
  });

  it('retries references that the provider could not confirm, and no others', async () => {
    const jobs = new RecordingJobs();
    const { store, unreported, markHandled, find } = providerNotifications(pool, jobs, NOTIFIED_WORK);
    const told = (reference: string, paymentId = 'p') =>
      store({ tenant: TENANT, kind: 'payment', reference, paymentId: paymentId as PaymentId });
    for (const reference of ['unknown', 'settled', 'waiting']) expect(await told(reference)).to.equal(true);
    const [unknown, settled] = ['unknown', 'settled'].map((reference) => ({ tenant: TENANT, reference })) as [Key, Key];
    await markHandled(unknown, 'not_confirmed');
    await markHandled(settled, 'settled');
    const waiting = { tenant: TENANT, reference: 'waiting' };
    expect(await unreported([unknown, settled, waiting])).to.deep.equal([true, false, false]);
    jobs.enqueued.length = 0;
    expect([await told('settled', 'q'), await told('waiting', 'q'), await told('unknown', 'q')]).to.deep.equal([
      false,
      false,
      true,
    ]);
    expect(jobs.enqueued).to.deep.equal([
      { queue: 'settle', tenant: TENANT, payload: { ...TENANT, reference: 'unknown' } },
    ]);
    expect([(await find(unknown))?.paymentId, (await find(settled))?.paymentId]).to.deep.equal(['q', 'p']);
    expect(await told('unknown')).to.equal(false);
    expect(await unreported([unknown])).to.deep.equal([false]);
  });

  it('lists the payments of all accounts in booking order, page by page, once each', async () => {
    await pool.query(
      `INSERT INTO sandbox_bank.payments (account_id, provider_payment_id, txid, amount, paid_at, booked_at)
       SELECT 'a' || n % 7, 'E' || n, 't' || n, n, now(), timestamptz '2026-11-21 12:00:00Z' + n / 3 * interval '1 ms' FROM generate_series(1, 2500) n`,
    );
    const listed: string[] = [];
    const pages: number[] = [];
    const [from, to] = [parseTimestamp('2026-11-21T12:00:00.001Z'), parseTimestamp('2026-11-21T12:00:00.800Z')];
    for (let after: string | null = null; ; ) {
      const page: BookedPage = await bookedBetween(pool, from, to, after);
      pages.push(page.items.length);
      for (const { accountId, bookedAt, txid, incoming } of page.items)
        listed.push([bookedAt, accountId, incoming.providerPaymentId, txid].join(' '));
      after = page.next;
      if (after === null) break;
    }
    const numbers = Array.from({ length: 2_400 }, (_, n) => n + 3); // 3 to 2,402
    expect(pages).to.deep.equal([1_000, 1_000, 400]);
    expect(listed).to.deep.equal(
      numbers
        .map((n) => [addMillis(at('12:00:00'), Math.floor(n / 3)), `a${n % 7}`, `E${n}`, `t${n}`].join(' '))
        .toSorted(),
    );
    expect((await bookedBetween(pool, addMillis(to, 1), addMillis(to, 1), null)).items).to.have.length(3);
    await pool.query('TRUNCATE sandbox_bank.payments');
  });

  it('runs as many statements for 5,000 tenants as for one: two per 1,000 payments', async () => {
    const used: number[] = [];
    for (const [tenants, each] of [
      [1, 5_000],
      [5_000, 1],
    ] as const) {
      const listed = await ListedTenants.create(tenants, each);
      used.push((await listed.round()).statements);
      await listed.close();
    }
    expect(used).to.deep.equal([13, 13]); // six pages, the last one empty, and two statements for the progress
  });
});
