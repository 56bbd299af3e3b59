// How far reconciliation got, and which references nobody was told of, in Postgres.

import { expect } from 'chai';
import { NOTIFIED_WORK } from '../../../application/capabilities.ts';
import type { PaymentId, Tenant } from '../../../domain/kernel/ids.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { providerNotifications } from '../../../infrastructure/providers/providerNotifications.ts';
import { reconciliations } from '../../../infrastructure/providers/reconciliations.ts';
import { account, RecordingJobs } from '../../support/operations.ts';
import { at } from '../../support/samples.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { useDatabase } from '../../world/postgres.ts';

const TENANT: Tenant = { accountId: account('acct'), mode: 'test' };
const LIVE: Tenant = { ...TENANT, mode: 'live' };
const OTHER: Tenant = { ...TENANT, accountId: account('other') };

type Key = { readonly tenant: Tenant; readonly reference: string };

describe('reconciliation in Postgres', () => {
  let pool: PgPool;
  useDatabase('suite', 4, (opened) => {
    pool = opened;
  });
  afterEach(() => pool.query('TRUNCATE operations.reconciliations, operations.provider_notifications'));

  it('keeps how far it got, of one account and mode each, to the millisecond', async () => {
    const { reconciledUntil, saveReconciledUntil } = reconciliations(pool);
    const until = parseTimestamp('2026-11-21T13:00:00.123Z');
    expect(await reconciledUntil(TENANT)).to.equal(null);
    await saveReconciledUntil(TENANT, until);
    await saveReconciledUntil(LIVE, at('14:00:00'));
    expect(await Promise.all([TENANT, LIVE, OTHER].map(reconciledUntil))).to.deep.equal([until, at('14:00:00'), null]);
  });
  it('takes back a time from a clock that was ahead', async () => {
    const { reconciledUntil, saveReconciledUntil } = reconciliations(pool);
    await saveReconciledUntil(TENANT, at('23:00:00'));
    await saveReconciledUntil(TENANT, at('12:00:00'));
    await saveReconciledUntil(TENANT, at('12:00:00'));
    expect(await reconciledUntil(TENANT)).to.equal(at('12:00:00'));
  });

  it('knows which references nobody told of, of any kind, of one account and mode each', async () => {
    const notifications = providerNotifications(pool, new RecordingJobs(), NOTIFIED_WORK);
    const told = (tenant: Tenant, reference: string, kind: 'payment' | 'fact' = 'payment') =>
      notifications.store({ tenant, kind, reference, paymentId: 'p' as PaymentId });
    await told(TENANT, 'E1');
    await told(TENANT, 'pay/"7",{a}', 'fact');
    await told(LIVE, 'E2');
    await told(OTHER, 'E3');
    const references = ['E1', 'E2', 'E3', 'pay/"7",{a}', 'E4', 'E4', 'e1'];
    expect(await notifications.unreported(TENANT, references)).to.deep.equal(new Set(['E2', 'E3', 'E4', 'e1']));
    expect(await notifications.unreported(LIVE, ['E1', 'E2'])).to.deep.equal(new Set(['E1']));
    expect(await notifications.unreported(TENANT, [])).to.deep.equal(new Set());
  });

  it('takes up again what the provider did not know of, and nothing else', async () => {
    const jobs = new RecordingJobs();
    const { store, unreported, markHandled, find } = providerNotifications(pool, jobs, NOTIFIED_WORK);
    const told = (reference: string, paymentId = 'p') =>
      store({ tenant: TENANT, kind: 'payment', reference, paymentId: paymentId as PaymentId });
    for (const reference of ['unknown', 'settled', 'waiting']) expect(await told(reference)).to.equal(true);
    const [unknown, settled] = ['unknown', 'settled'].map((reference) => ({ tenant: TENANT, reference })) as [Key, Key];
    await markHandled(unknown, 'not_confirmed');
    await markHandled(settled, 'settled');
    expect(await unreported(TENANT, ['unknown', 'settled', 'waiting'])).to.deep.equal(new Set(['unknown']));
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
    expect(await unreported(TENANT, ['unknown'])).to.deep.equal(new Set());
  });
});
