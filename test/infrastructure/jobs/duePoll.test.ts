// What no notice told of is found all the same.
import { expect } from 'chai';
import { QueueUnderTest, request } from './queueUnderTest.ts';
import { Worked } from './worked.ts';

const QUEUE = 'settle';

describe('due work of which no notice told', () => {
  let test: QueueUnderTest;
  beforeEach(async () => {
    test = await QueueUnderTest.create();
  });
  afterEach(() => test.close());

  it('is found, live and test', async () => {
    const jobs = await test.open();
    const worked = new Worked();
    jobs.work(QUEUE, worked, { places: 24, perTarget: 24 });
    await jobs.enqueue([request('told')]);
    await worked.count(1); // all that there was has been claimed
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
