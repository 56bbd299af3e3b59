// Owed work gets one job: none beside an open or failed job, and it is found behind any number of other jobs.
import { expect } from 'chai';
import type { JobRequest } from '../../../application/ports/jobs.ts';
import { listFailedJobs, redriveJobs } from '../../../infrastructure/jobs/failedJobs.ts';
import type { PgBossJobs } from '../../../infrastructure/jobs/pgBossJobs.ts';
import { Gate } from '../../projections/engine/scene.ts';
import { idOf, QueueUnderTest, request, tenant } from './queueUnderTest.ts';
import { Worked } from './worked.ts';

const PLACES = { places: 24, perTarget: 24 };
async function* pages(...all: readonly (readonly JobRequest[])[]) {
  yield* all;
}

describe('owed work', () => {
  let test: QueueUnderTest;
  let jobs: PgBossJobs;
  beforeEach(async () => {
    test = await QueueUnderTest.create();
    jobs = await test.open();
  });
  afterEach(() => test.close());

  const itemsOf = (found: readonly JobRequest[]) => found.map(idOf);
  const failFor = async (items: readonly string[], queue = 'settle') => {
    await jobs.enqueue(items.map((item) => request(item, { queue })));
    await test.rows(
      `UPDATE jobs.job SET state = 'failed', retry_count = 30, started_on = now(), completed_on = now(), output = '{"message": "no", "failures": [{"payload": {"id": "a"}, "error": "no a"}]}'
       WHERE name = $1 AND state = 'created'`,
      [queue],
    );
  };

  it('is enqueued once in ten looks while its job is waiting, running or between two attempts', async () => {
    const owed = Array.from({ length: 20 }, (_, n) => request(`${n}`));
    const taken = [];
    for (let look = 0; look < 10; look++) taken.push((await jobs.ensure(pages(owed))).length);
    expect(taken).to.deep.equal([20, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(await jobs.open('settle')).to.equal(20);
    await test.rows("UPDATE jobs.job SET state = 'retry', start_after = now() + interval '1 h'");
    expect(await jobs.ensure(pages(owed))).to.deep.equal([]);
    await test.rows("UPDATE jobs.job SET state = 'active'");
    expect(await jobs.ensure(pages(owed))).to.deep.equal([]);
    await test.rows('DELETE FROM jobs.job');
    expect(itemsOf(await jobs.ensure(pages(owed.slice(0, 2))))).to.deep.equal(['0', '1']);
  });

  it('is enqueued once although one look finds it twice', async () => {
    await jobs.ensure(pages([request('x')], [request('x'), request('y')]));
    expect(await jobs.open('settle')).to.equal(2);
  });

  it('is found behind 1,500 older items whose jobs are open', async () => {
    const older = Array.from({ length: 1_500 }, (_, n) => request(`${n}`));
    await jobs.enqueue(older);
    const last = [request('last', { tenant: tenant('other') })];
    expect(itemsOf(await jobs.ensure(pages(older.slice(0, 1_000), older.slice(1_000), last)))).to.deep.equal(['last']);
  });

  it('with a permanently failed job restarts that job with a new set of attempts', async () => {
    await failFor(['a']);
    expect(itemsOf(await jobs.ensure(pages([request('a'), request('b')])))).to.deep.equal(['a', 'b']);
    expect(
      await test.rows(
        "SELECT data, state, retry_count, retry_limit, completed_on FROM jobs.job ORDER BY data->'payloads'",
      ),
    ).to.deep.equal([
      { data: { payloads: [{ id: 'a' }] }, state: 'created', retry_count: 30, retry_limit: 60, completed_on: null },
      { data: { payloads: [{ id: 'b' }] }, state: 'created', retry_count: 0, retry_limit: 30, completed_on: null },
    ]);
    const worked = new Worked();
    jobs.work('settle', worked, PLACES);
    await test.rest(jobs, 'settle');
    expect(worked.items.toSorted()).to.deep.equal(['a', 'b']);
  });

  it('of the fan-out keeps its row until it is done, whatever happens to its job', async () => {
    const owed = () => test.rows('SELECT queue, payload, tenant FROM operations.owed ORDER BY payload');
    await jobs.enqueue([request('p:1:e', { queue: 'fanOut' }), request('p:2:e', { queue: 'fanOut' }), request('s')]);
    await jobs.enqueue([request('p:1:e', { queue: 'fanOut' })]); // enqueued twice
    const rows = ['p:1:e', 'p:2:e'].map((id) => ({
      queue: 'fanOut',
      payload: `{"id": "${id}"}`,
      tenant: 'live/acct',
    }));
    expect(await owed()).to.deep.equal(rows);
    await test.rows('DELETE FROM jobs.job');
    expect(await owed()).to.deep.equal(rows);
    await jobs.ensure(pages([request('p:1:e', { queue: 'fanOut' })]));
    jobs.work('fanOut', new Worked(), PLACES);
    await test.rest(jobs, 'fanOut');
    expect(await owed()).to.deep.equal([rows[1]]);
  });

  it('by row is returned completely, page by page, oldest first, and only above the given age', async () => {
    for (const n of [3, 1, 5, 2, 4]) await jobs.enqueue([request(`${n}`, { queue: 'fanOut' })]);
    await test.rows("UPDATE operations.owed SET since = now() - (payload::jsonb->>'id')::int * interval '1 minute'");
    const pagesOf = async (ageMs: number, page: number) => {
      const found: (readonly string[])[] = [];
      for await (const requests of jobs.owedByRow('fanOut', ageMs, page)) found.push(itemsOf(requests));
      return found;
    };
    expect(await pagesOf(30_000, 2)).to.deep.equal([['5', '4'], ['3', '2'], ['1']]);
    expect(await pagesOf(210_000, 10)).to.deep.equal([['5', '4']]);
  });

  it('keeps its row if its worker lost the claim', async () => {
    const gate = new Gate();
    jobs.work('fanOut', new Worked(() => gate.pass()), PLACES);
    await jobs.enqueue([request('p:1:e', { queue: 'fanOut' })]);
    await gate.reached;
    await test.rows("UPDATE jobs.job SET retry_count = 5, state = 'failed'");
    const settled = new Promise<void>((resolve) => jobs.onSettled(resolve));
    gate.open();
    await settled;
    expect(await test.rows('SELECT payload FROM operations.owed')).to.deep.equal([{ payload: '{"id": "p:1:e"}' }]);
  });

  it('is listed after a failure, and redriven once by ID, by queue, or all together', async () => {
    await failFor(['a', 'b']);
    await failFor(['r'], 'refund');
    await failFor(['s'], 'refund');
    const { jobs: failed, total } = await listFailedJobs(test.pool, null, 10);
    expect(total).to.equal(3);
    const { id, failedAt, ...rest } = failed.find(({ queue }) => queue === 'settle') as (typeof failed)[number];
    expect(Date.parse(failedAt)).to.be.closeTo(Date.now(), 60_000);
    expect(rest).to.deep.equal({
      queue: 'settle',
      tenant: tenant('acct'),
      target: '',
      payloads: [{ id: 'a' }, { id: 'b' }],
      attempts: 31,
      error: 'no',
      failures: [{ payload: { id: 'a' }, error: 'no a' }],
      state: 'failed',
      nextAttemptAt: null,
    });
    expect((await listFailedJobs(test.pool, 'refund', 1)).total).to.equal(2);
    const worked = new Worked();
    jobs.work('settle', worked, PLACES);
    expect(await redriveJobs(test.pool, { id, queue: null })).to.deep.equal([
      { id, queue: 'settle', payloads: [{ id: 'a' }, { id: 'b' }] },
    ]);
    await worked.count(2); // the notice of the redrive wakes the worker
    expect(await redriveJobs(test.pool, { id, queue: null })).to.deep.equal([]);
    expect(
      (await redriveJobs(test.pool, { id: null, queue: 'refund' })).flatMap(({ payloads }) => payloads),
    ).to.have.deep.members([{ id: 'r' }, { id: 's' }]);
    expect(await redriveJobs(test.pool, { id: null, queue: null })).to.deep.equal([]);
    expect(await jobs.open('refund')).to.equal(2);
  });
});
