// When a worker touches its claims and looks for claims of dead workers, tested with a pool that records the statements.
import { expect } from 'chai';
import type { SqlPool, SqlResult } from '../../../application/ports/sql.ts';
import { ClaimKeeper, type ReopenedClaim } from '../../../infrastructure/jobs/claimKeeper.ts';
import type { Claim } from '../../../infrastructure/jobs/jobLoop.ts';
import { TOUCH } from '../../../infrastructure/jobs/statements.ts';

type Asked =
  | { readonly kind: 'touch'; readonly ids: readonly string[]; readonly attempts: readonly number[] }
  | { readonly kind: 'look' };

/** A pool that records touches and looks, and returns what the test sets. */
class Pool implements SqlPool {
  readonly asked: Asked[] = [];
  isAway = false;
  reopened: ReopenedClaim[] = [];
  #waiting: { readonly holds: () => boolean; readonly resolve: () => void }[] = [];

  async query<Row>(text: unknown, values?: readonly unknown[]): Promise<SqlResult<Row>> {
    const isTouch = text === TOUCH;
    this.asked.push(
      isTouch ? { kind: 'touch', ids: values?.[0] as string[], attempts: values?.[1] as number[] } : { kind: 'look' },
    );
    for (const { resolve } of this.#waiting.filter(({ holds }) => holds())) resolve();
    if (this.isAway) throw new Error('no database');
    const rows = isTouch ? [{ at: 'now' }] : this.reopened.splice(0);
    return { rows: rows as Row[], rowCount: rows.length };
  }
  transaction(): never {
    throw new Error('heartbeats need no transaction');
  }
  until(holds: () => boolean): Promise<void> {
    return holds() ? Promise.resolve() : new Promise((resolve) => this.#waiting.push({ holds, resolve }));
  }
  looks(): number {
    return this.asked.filter(({ kind }) => kind === 'look').length;
  }
}

const claim = (id: string, attempt = 0): Claim => ({ id, attempt });

describe('the heartbeats of a worker', () => {
  let pool: Pool;
  let keeper: ClaimKeeper;
  let running: Claim[];
  let reopened: readonly ReopenedClaim[];
  let errors: string[];

  beforeEach(() => {
    pool = new Pool();
    running = [];
    reopened = [];
    errors = [];
    keeper = new ClaimKeeper({
      pool,
      queues: ['settle'],
      heartbeatMs: 10,
      running: () => running,
      onReopened: async (claims) => {
        reopened = claims;
      },
      onError: (error) => errors.push(error.message),
    });
  });
  afterEach(() => keeper.stop());

  it('touch each attempt that ran at the last two beats, in one statement', async () => {
    running = [claim('a'), claim('b')];
    keeper.start();
    keeper.start(); // a second start has no effect
    await pool.until(() => pool.asked.length >= 1);
    running = [claim('b'), claim('c'), claim('a', 1)];
    await pool.until(() => pool.asked.length >= 2);
    running = [claim('c'), claim('b'), claim('a', 1)];
    await pool.until(() => pool.asked.length >= 3);
    await keeper.stop();
    expect(pool.asked.slice(0, 3)).to.deep.equal([
      { kind: 'touch', ids: [], attempts: [] },
      { kind: 'touch', ids: ['b'], attempts: [0] },
      { kind: 'touch', ids: ['c', 'b', 'a'], attempts: [0, 0, 1] },
    ]);
  });

  it('look for dead workers after four successful beats, and count again after a database failure', async () => {
    keeper.start();
    await pool.until(() => pool.looks() > 0);
    expect(pool.asked.findIndex(({ kind }) => kind === 'look')).to.be.at.least(4);
    pool.isAway = true;
    await pool.until(() => errors.length > 0);
    const from = pool.asked.length;
    const before = pool.looks();
    pool.isAway = false;
    await pool.until(() => pool.looks() > before);
    const touches = pool.asked.slice(from).findIndex(({ kind }) => kind === 'look');
    expect(touches).to.be.at.least(4);
    expect(new Set(errors)).to.deep.equal(new Set(['no database']));
  });

  it('report reopened claims once, and report nothing if there are none', async () => {
    const found: readonly ReopenedClaim[] = [
      { name: 'deliver', tenant: 'live/a' },
      { name: 'settle', tenant: 'test/a' },
    ];
    pool.reopened = [...found];
    keeper.start();
    await pool.until(() => pool.looks() > 1);
    await keeper.stop();
    expect(reopened).to.deep.equal(found);
    const { length } = pool.asked;
    await keeper.stop();
    expect(pool.asked).to.have.length(length);
  });
});
