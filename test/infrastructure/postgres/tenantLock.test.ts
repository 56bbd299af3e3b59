// Locks of tenants: they exclude each other across processes, and no tenant waits for another one.
import { expect } from 'chai';
import { isLockUnavailable } from '../../../application/ports/sql.ts';
import type { WithTenantLock } from '../../../application/ports/tenantLock.ts';
import type { AccountId, Tenant } from '../../../domain/kernel/ids.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { tenantLock } from '../../../infrastructure/postgres/tenantLock.ts';
import { newId } from '../../support/core.ts';
import { useDatabase } from '../../world/postgres.ts';
import { type Backends, watchBackends } from './backends.ts';

describe('tenantLock', () => {
  let db: PgPool;
  let backends: Backends;
  /** Two processes. */
  let locks: readonly [WithTenantLock, WithTenantLock];
  let url: string;
  useDatabase('suite', 16, (pool, { connectionString }) => {
    [db, url] = [pool, connectionString];
  });
  before(async () => {
    backends = await watchBackends(url);
  });
  after(() => backends.close());
  beforeEach(() => {
    locks = [tenantLock(db), tenantLock(db)];
  });

  const newTenant = (): Tenant => ({ accountId: newId<AccountId>(), mode: 'live' });
  /** Holds the lock in a process until `release` is called. */
  const hold = async (lock: WithTenantLock, tenant: Tenant, purpose = 'owners') => {
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const over = lock(tenant, purpose, () => {
      held.resolve();
      return released.promise;
    });
    await held.promise;
    return {
      release: () => {
        released.resolve();
        return over;
      },
    };
  };
  const outcomeOf = (work: Promise<unknown>) =>
    work.catch((error: unknown) => (isLockUnavailable(error) ? 'lock unavailable' : error));

  it('runs work of one tenant and purpose one at a time in all processes, and continues after a failure', async () => {
    const tenant = newTenant();
    let running = 0;
    const work = async () => {
      running += 1;
      const atOnce = running;
      await db.query('SELECT 1');
      running -= 1;
      return atOnce;
    };
    const failing = outcomeOf(locks[0](tenant, 'owners', () => Promise.reject('mine')));
    const all = Array.from({ length: 20 }, (_, n) => locks[n % 2 === 0 ? 0 : 1](tenant, 'owners', work));
    expect([await failing, new Set(await Promise.all(all))]).to.deep.equal(['mine', new Set([1])]);
  });
  it('rejects within seconds without running the work while another process holds the lock', async () => {
    const tenant = newTenant();
    const { release } = await hold(locks[0], tenant);
    let ran = 0;
    const work = async () => {
      ran += 1;
      return 'done';
    };
    expect(await outcomeOf(locks[1](tenant, 'owners', work))).to.equal('lock unavailable');
    expect([await locks[1](tenant, 'endpoints', work), ran]).to.deep.equal(['done', 1]);
    await release();
    expect([await locks[1](tenant, 'owners', work), ran]).to.deep.equal(['done', 2]);
  });
  it('runs the work of other tenants while requests of one wait for its lock, whatever their purposes', async () => {
    const [busy, other] = [newTenant(), newTenant()];
    const { release } = await hold(locks[0], busy);
    let ran = 0;
    const waiting = ['owners', 'endpoints', 'logo', 'accounts', 'owners', 'owners'].map((purpose) =>
      locks[0](busy, purpose, async () => {
        ran += 1;
      }),
    );
    expect([await locks[0](other, 'owners', async () => 'done'), ran]).to.deep.equal(['done', 0]);
    const elsewhere = outcomeOf(locks[1](busy, 'owners', async () => 'done'));
    expect(await locks[1](other, 'owners', async () => 'done')).to.equal('done');
    expect(await elsewhere).to.equal('lock unavailable');
    await release();
    await Promise.all(waiting);
    expect(ran).to.equal(6);
  });
  it('leaves half of a pool of eight connections to the work', async () => {
    const holders = await Promise.all(Array.from({ length: 4 }, () => hold(locks[0], newTenant())));
    let ran = 0;
    const fifth = locks[0](newTenant(), 'owners', async () => {
      ran += 1;
    });
    const { rows } = await db.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND granted AND database =
        (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    expect([rows[0]?.n, ran]).to.deep.equal([4, 0]);
    await holders[0]?.release();
    await fifth;
    expect(ran).to.equal(1);
    await Promise.all(holders.map(({ release }) => release()));
  });
  it('keeps the lock while the work lasts: the server sees that its process is alive', async () => {
    const { release } = await hold(locks[0], newTenant());
    const changedAt = async () => {
      const { rows } = await backends.sql.query<{ at: Date }>(
        `SELECT max(a.state_change) AS at FROM pg_locks k JOIN pg_stat_activity a USING (pid)
         WHERE k.locktype = 'advisory' AND k.granted AND a.datname = current_database()`,
      );
      return rows[0]?.at.toISOString();
    };
    const before = await changedAt();
    expect(await backends.until(async () => (await changedAt()) !== before, 8_000)).to.equal(true);
    await release();
  });
});
