// Two versions of the program side by side: the older worker does not run jobs of the newer one.
import { expect } from 'chai';
import type { JobKind } from '../../../application/ports/jobs.ts';
import { listFailedJobs } from '../../../infrastructure/jobs/failedJobs.ts';
import { idOf, kindOf, QueueUnderTest, request } from './queueUnderTest.ts';
import { Worked } from './worked.ts';

const QUEUE = 'settle';
const PLACES = { places: 24, perTarget: 24 };
/** The kind in its second version, with an additional property. */
const NEWER: JobKind = {
  ...kindOf(QUEUE),
  schema: { type: 'object', properties: { id: { type: 'string' }, gift: { type: 'string' } }, required: ['id'] },
  version: 2,
};
const newer = { queues: [{ kind: NEWER, isOwedByRow: false }] };
const MESSAGE = 'the payload has version 2 of settle, but this worker knows version 1: a newer worker must take it';

describe('jobs of a newer version', () => {
  let test: QueueUnderTest;
  beforeEach(async () => {
    test = await QueueUnderTest.create();
  });
  afterEach(() => test.close());
  const due = () => test.rows("UPDATE jobs.job SET start_after = now() - interval '1 s' WHERE state < 'active'");

  it('are put back by an older worker without counting an attempt, each time, and run by a newer one', async () => {
    const [older, later] = [await test.open(), await test.open(newer)];
    const refused = new Worked();
    await later.enqueue([request('a'), request('b')]);
    older.work(QUEUE, refused, PLACES);
    await test.backends.until(async () => older.putBack.get(QUEUE) === 1);
    expect(
      await test.rows('SELECT state::text, retry_count, data, start_after > now() AS later FROM jobs.job'),
    ).to.deep.equal([
      {
        state: 'retry',
        retry_count: 0,
        data: {
          payloads: [
            { v: 2, id: 'a' },
            { v: 2, id: 'b' },
          ],
        },
        later: true,
      },
    ]);
    await due();
    older.wake([request('a')]);
    await test.backends.until(async () => older.putBack.get(QUEUE) === 2);
    expect(test.putBack).to.deep.equal([`settle: ${MESSAGE}`, `settle: ${MESSAGE}`]);
    expect(test.failures).to.deep.equal([]);
    await older.stop(1_000);
    const worked = new Worked();
    await due();
    later.work(QUEUE, worked, PLACES);
    await worked.count(2);
    await test.rest(later, QUEUE);
    expect(worked.payloads).to.deep.equal([{ id: 'a' }, { id: 'b' }]);
    expect(refused.items).to.deep.equal([]);
  });

  it('are put back for random times, so that an older worker is not always first', async () => {
    const older = await test.open();
    const later = await test.open(newer);
    const targets = Array.from({ length: 16 }, (_, n) => ({ ...request(`${n}`), target: `${n}` }));
    await later.enqueue(targets);
    older.work(QUEUE, new Worked(), PLACES);
    await test.backends.until(async () => older.putBack.get(QUEUE) === targets.length);
    const [waits] = await test.rows<{ spread: number; most: number }>(
      'SELECT extract(epoch FROM max(start_after) - min(start_after))::float AS spread, extract(epoch FROM max(start_after) - now())::float AS most FROM jobs.job',
    );
    expect(waits?.spread).to.be.above(1.5); // The maximum is 5 s. By chance, the spread is smaller once in ten million runs.
    expect(waits?.most).to.be.below(10);
  });

  it('are put back for longer the longer they have waited, because after a rollback they may wait for days', async () => {
    const [older, later] = [await test.open(), await test.open(newer)];
    const least = new Map([
      ['20 s', 4],
      ['5 min', 29],
      ['3 days', 59],
    ]);
    await later.enqueue([...least.keys()].map((age) => ({ ...request(age), target: age })));
    await test.rows('UPDATE jobs.job SET created_on = now() - group_tier::interval');
    older.work(QUEUE, new Worked(), PLACES);
    await test.backends.until(async () => older.putBack.get(QUEUE) === least.size);
    const text = 'SELECT group_tier AS age, extract(epoch FROM start_after - now())::float AS wait FROM jobs.job';
    const found = await test.rows<{ age: string; wait: number }>(text);
    for (const { age, wait } of found)
      expect(wait, age).to.be.within(least.get(age) ?? 0, 2 * (least.get(age) ?? 0) + 2);
  });

  it('are listed as awaiting an upgrade, with their attempts so far', async () => {
    const [older, later] = [await test.open(), await test.open(newer)];
    await later.enqueue([request('a')]);
    await test.rows("UPDATE jobs.job SET retry_count = 3, state = 'retry'");
    older.work(QUEUE, new Worked(), PLACES);
    await test.backends.until(async () => older.putBack.get(QUEUE) === 1);
    const { jobs, total } = await listFailedJobs(test.pool, null, 10);
    expect(total).to.equal(1);
    expect(jobs[0]).to.deep.include({ state: 'awaits_upgrade', attempts: 3, error: MESSAGE, failures: [] });
  });

  it('keep their version after a failed attempt, and run together with jobs of the older version', async () => {
    const [older, later] = [await test.open(), await test.open(newer)];
    await older.enqueue([request('old')]);
    await later.enqueue([{ ...request('new'), payload: { id: 'new', gift: 'book' } }, request('other')]);
    const worked = new Worked(() => {
      if (worked.items.length < 4) throw new Error('not yet');
    });
    later.work(QUEUE, worked, PLACES);
    await test.backends.until(async () => (await test.rows("SELECT FROM jobs.job WHERE state = 'retry'")).length === 2);
    const kept = await test.rows<{ data: { payloads: object[] } }>('SELECT data FROM jobs.job ORDER BY data::text');
    expect(kept.map(({ data }) => data.payloads)).to.deep.equal([
      [{ id: 'old' }],
      [
        { v: 2, id: 'new', gift: 'book' },
        { v: 2, id: 'other' },
      ],
    ]);
  });

  it('count as open for the watchdogs of both versions', async () => {
    const [older, later] = [await test.open(), await test.open(newer)];
    const owed = { ...request('a'), payload: { v: 2, id: 'a' } };
    const look = async function* () {
      yield [owed];
    };
    expect((await older.ensure(look())).map(idOf)).to.deep.equal(['a']);
    expect(await older.ensure(look())).to.deep.equal([]);
    expect(await later.ensure(look())).to.deep.equal([]);
    expect(await test.rows('SELECT data FROM jobs.job')).to.deep.equal([{ data: { payloads: [{ v: 2, id: 'a' }] } }]);
  });
});
