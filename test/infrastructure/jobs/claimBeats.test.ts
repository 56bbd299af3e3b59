// When a worker looks for claims of dead ones, and what it touches: against a pool that notes what it is asked.
import { expect } from 'chai';
import type { SqlPool, SqlResult } from '../../../application/ports/sql.ts';
import { ClaimBeats } from '../../../infrastructure/jobs/claimBeats.ts';

type Asked = { readonly kind: 'touch'; readonly ids: readonly string[] } | { readonly kind: 'look' };

/** Notes touches and looks; its answers are the test's. */
class Pool implements SqlPool {
  readonly asked: Asked[] = [];
  isAway = false;
  opened: { name: string }[] = [];
  #waiting: { readonly holds: () => boolean; readonly resolve: () => void }[] = [];

  async query<Row>(text: unknown, values?: readonly unknown[]): Promise<SqlResult<Row>> {
    const isTouch = String(text).includes('SET heartbeat_on');
    this.asked.push(isTouch ? { kind: 'touch', ids: values?.[0] as string[] } : { kind: 'look' });
    for (const { resolve } of this.#waiting.filter(({ holds }) => holds())) resolve();
    if (this.isAway) throw new Error('no database');
    const rows = isTouch ? [] : this.opened.splice(0);
    return { rows: rows as Row[], rowCount: rows.length };
  }
  transaction(): never {
    throw new Error('beats need no transaction');
  }
  until(holds: () => boolean): Promise<void> {
    return holds() ? Promise.resolve() : new Promise((resolve) => this.#waiting.push({ holds, resolve }));
  }
  looks(): number {
    return this.asked.filter(({ kind }) => kind === 'look').length;
  }
}

describe('the beats of a worker', () => {
  let pool: Pool;
  let beats: ClaimBeats;
  let running: string[];
  let opened: string[];
  let errors: string[];

  beforeEach(() => {
    pool = new Pool();
    running = [];
    opened = [];
    errors = [];
    beats = new ClaimBeats({
      pool,
      beatMs: 10,
      running: () => running,
      onOpened: async (queues) => void opened.push(...queues),
      onError: (error) => errors.push(error.message),
    });
  });
  afterEach(() => beats.stop());

  it('touch what ran at the beat before and still runs, in one statement', async () => {
    running = ['a', 'b'];
    beats.start();
    beats.start(); // twice is once
    await pool.until(() => pool.asked.length >= 1);
    running = ['b', 'c'];
    await pool.until(() => pool.asked.length >= 2);
    running = ['c', 'b'];
    await pool.until(() => pool.asked.length >= 3);
    await beats.stop();
    expect(pool.asked.slice(0, 3)).to.deep.equal([
      { kind: 'touch', ids: [] },
      { kind: 'touch', ids: ['b'] },
      { kind: 'touch', ids: ['c', 'b'] },
    ]);
  });

  it('look for dead workers after four beats that the database answered, and begin anew when it was away', async () => {
    beats.start();
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

  it('tell the queues of what they opened, each once, and nothing when there was nothing', async () => {
    pool.opened = [{ name: 'deliver' }, { name: 'settle' }, { name: 'deliver' }];
    beats.start();
    await pool.until(() => pool.looks() > 1);
    await beats.stop();
    expect(opened).to.deep.equal(['deliver', 'settle']);
    const { length } = pool.asked;
    await beats.stop();
    expect(pool.asked).to.have.length(length);
  });
});
