// Whether what is under way for an account has come to rest: the sandbox's flush and the drain of its clock (decisions X5, X7).
import type { Accounts } from '../../application/accounts.ts';
import type { JobQueue, QueueName } from '../../application/ports/jobs.ts';
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import type { Progress } from '../../application/ports/readModels.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { untilVisible } from '../../http/routes/untilVisible.ts';
import { countDueDeliveries } from '../../projections/webhookDeliveries/queries.ts';
import type { LogProgress } from './progress.ts';

/** What is done for payments at once: without waiting for a timer, and of one group per account. */
const AT_ONCE: readonly QueueName[] = ['settle', 'returnReceipt', 'finalise', 'cancel', 'refund'];

interface Needs {
  readonly db: Sql;
  readonly jobs: JobQueue;
  readonly accounts: Accounts;
  readonly projected: LogProgress;
  readonly reacted: LogProgress;
}

export class AtRest {
  readonly #needs: Needs;
  /** Work that ends without an event moves no read model: the end of a job is worth a look too. */
  readonly #moves: Pick<Progress, 'onMove'>;

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#moves = {
      onMove: (listener) => {
        const undo = [needs.projected.onMove(listener), needs.jobs.onSettled(listener)];
        return () => {
          for (const one of undo) one();
        };
      },
    };
  }

  /** How many messages of the tenant are still on their way when none is, or after `timeoutMs`. */
  async deliveries(tenant: Tenant, timeoutMs: number): Promise<number> {
    let pending = 0;
    const look = async () => {
      const now = await this.#needs.accounts.now(tenant.accountId, tenant.mode);
      pending = await this.#onTheirWay(tenant, timeoutMs, now);
      return pending === 0 ? true : null;
    };
    await untilVisible(this.#moves, timeoutMs, look);
    return pending;
  }

  /** Whether nothing that was begun for the account's payments runs any more; timers and retries to come are at rest. */
  async work(account: AccountId, timeoutMs: number): Promise<boolean> {
    const { jobs, reacted } = this.#needs;
    const look = async () => {
      if ((await jobs.underWay(AT_ONCE, account)) > 0) return null;
      // What the last job wrote may start the next one.
      if (!(await reacted.caughtUp(timeoutMs))) return null;
      return (await jobs.underWay(AT_ONCE, account)) === 0 ? true : null;
    };
    return (await untilVisible(this.#moves, timeoutMs, look)) === true;
  }

  /** For the drain of a test clock: retries that wait for their timer are at rest, whatever the clock says. */
  async messages(account: AccountId, timeoutMs: number): Promise<boolean> {
    const tenant: Tenant = { accountId: account, mode: 'test' };
    if (!(await this.work(account, timeoutMs))) return false;
    const look = async () => ((await this.#onTheirWay(tenant, timeoutMs, '-infinity')) === 0 ? true : null);
    return (await untilVisible(this.#moves, timeoutMs, look)) === true;
  }

  async clockDrained(account: AccountId, timeoutMs: number): Promise<boolean> {
    const { db, jobs, projected, reacted } = this.#needs;
    const look = async () => {
      if (!(await reacted.caughtUp(timeoutMs)) || (await jobs.open('drainClock', account)) > 0) return null;
      const { rows } = await db.query<{ draining: boolean }>(
        'SELECT draining FROM operations.test_clocks WHERE account_id = $1',
        [account],
      );
      return rows[0]?.draining ? null : true;
    };
    return (await untilVisible(this.#moves, timeoutMs, look)) === true && projected.caughtUp(timeoutMs);
  }

  async #onTheirWay(
    tenant: Tenant,
    timeoutMs: number,
    timersAfter: Parameters<typeof countDueDeliveries>[3],
  ): Promise<number> {
    const { db, jobs, accounts, projected, reacted } = this.#needs;
    await reacted.caughtUp(timeoutMs);
    const unwritten = await jobs.open('fanOut', tenant.accountId);
    if (unwritten > 0) return unwritten;
    await projected.caughtUp(timeoutMs);
    return countDueDeliveries(db, tenant, await accounts.now(tenant.accountId, tenant.mode), timersAfter);
  }
}
