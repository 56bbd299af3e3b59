// Whether what is under way for an account has come to rest: the sandbox's flush and the drain of its clock (rules X5, X7).
import type { Accounts } from '../../application/accounts/accounts.ts';
import type { JobQueue, QueueName } from '../../application/ports/jobs.ts';
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import type { Progress } from '../../application/ports/readModels.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { parseDeliveryItem } from '../../application/ports/timers.ts';
import type { MessageOnItsWay, OnTheWay } from '../../application/sandbox/testClock.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { pollUntil } from '../../http/kernel/pollUntil.ts';
import { countDueDeliveries, deliveriesOnTheirWay } from '../../projections/webhookDeliveries/queries.ts';
import type { LogProgress } from '../subscriptions/progress.ts';

/** What is done for payments at once: without waiting for a timer. */
const AT_ONCE: readonly QueueName[] = ['settle', 'returnPayment', 'finalise', 'cancel', 'refund'];

/** Messages on their way that are looked at one by one. */
const LISTED_MAX = 1_000;

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

  /** How many messages of the tenant are due when none is, or after `timeoutMs`, and how many are held back. */
  async deliveries(tenant: Tenant, timeoutMs: number): Promise<{ due: number; held: number }> {
    const { db, jobs, accounts } = this.#needs;
    let counted = { due: 0, held: 0 };
    const look = async () => {
      const unwritten = await this.#unwritten(tenant, timeoutMs);
      const now = await accounts.now(tenant.accountId, tenant.mode);
      const running = (await jobs.running('deliver')).map((item) => parseDeliveryItem(item).id);
      counted = await countDueDeliveries(db, tenant, now, running);
      counted = { ...counted, due: counted.due + unwritten };
      return counted.due === 0 ? true : null;
    };
    await pollUntil(this.#moves, timeoutMs, look);
    return counted;
  }

  /** Whether nothing that was begun for the account's payments runs any more; timers and retries to come are at rest. */
  async work(account: AccountId, timeoutMs: number): Promise<boolean> {
    const { jobs, reacted } = this.#needs;
    const tenant: Tenant = { accountId: account, mode: 'test' };
    const look = async () => {
      if ((await jobs.underWay(AT_ONCE, tenant)) > 0) return null;
      // What the last job wrote may start the next one.
      if (!(await reacted.caughtUp(timeoutMs))) return null;
      return (await jobs.underWay(AT_ONCE, tenant)) === 0 ? true : null;
    };
    return (await pollUntil(this.#moves, timeoutMs, look)) === true;
  }

  /** For the drain of a test clock, see there. */
  async messages(
    account: AccountId,
    { until, sent, isWaitedFor }: OnTheWay,
    graceMs: number,
    timeoutMs: number,
  ): Promise<readonly MessageOnItsWay[] | null> {
    const tenant: Tenant = { accountId: account, mode: 'test' };
    if (!(await this.work(account, timeoutMs))) return null;
    const written = async () => ((await this.#unwritten(tenant, timeoutMs)) === 0 ? true : null);
    if ((await pollUntil(this.#moves, timeoutMs, written)) === null) return null;
    let found: readonly MessageOnItsWay[] = [];
    const look = async () => {
      // A message that ended may have led to another.
      if ((await written()) === null) return null;
      found = await deliveriesOnTheirWay(this.#needs.db, tenant, until, [...sent], LISTED_MAX);
      return found.some(isWaitedFor) ? null : true;
    };
    await pollUntil(this.#moves, graceMs, look);
    return found;
  }

  async clockDrained(account: AccountId, timeoutMs: number): Promise<boolean> {
    const { db, jobs, projected, reacted } = this.#needs;
    const deadline = performance.now() + timeoutMs;
    const left = () => Math.max(0, deadline - performance.now());
    const look = async () => {
      const tenant: Tenant = { accountId: account, mode: 'test' };
      if (!(await reacted.caughtUp(left())) || (await jobs.open('drainClock', tenant)) > 0) return null;
      const { rows } = await db.query<{ draining: boolean }>(
        'SELECT draining FROM operations.test_clocks WHERE account_id = $1',
        [account],
      );
      return rows[0]?.draining ? null : true;
    };
    return (await pollUntil(this.#moves, timeoutMs, look)) === true && projected.caughtUp(left());
  }

  /** Messages that are still to be written down, as far as it is known; when there are none, what is written shows in the reads. */
  async #unwritten(tenant: Tenant, timeoutMs: number): Promise<number> {
    const { jobs, projected, reacted } = this.#needs;
    const hasReacted = await reacted.caughtUp(timeoutMs);
    const unwritten = await jobs.open('fanOut', tenant);
    if (unwritten > 0) return unwritten;
    return hasReacted && (await projected.caughtUp(timeoutMs)) ? 0 : 1;
  }
}
