// Polling finds jobs without a notice.
import { expect } from 'chai';
import { QueueUnderTest, request } from './queueUnderTest.ts';
import { Worked } from './worked.ts';

const QUEUE = 'settle';

describe('due jobs without a notice', () => {
  let test: QueueUnderTest;
  beforeEach(async () => {
    test = await QueueUnderTest.create();
  });
  afterEach(() => test.close());

  it('are found in live and test mode', async () => {
    const jobs = await test.open();
    const worked = new Worked();
    jobs.work(QUEUE, worked, { places: 24, perTarget: 24 });
    await jobs.enqueue([request('told')]);
    await worked.count(1); // all jobs so far have been claimed
    await test.rows(
      `INSERT INTO jobs.job (name, data, group_id, group_tier, policy)
       SELECT '${QUEUE}', jsonb_build_object('payloads', jsonb_build_array(jsonb_build_object('id', mode))), mode || '/a', '', 'standard'
       FROM unnest(ARRAY['live', 'test']) AS mode`,
    );
    await worked.count(3);
    expect(worked.items.slice(1).toSorted()).to.deep.equal(['live', 'test']);
    await test.rest(jobs, QUEUE);
    expect(test.errors).to.deep.equal([]);
  });
});
