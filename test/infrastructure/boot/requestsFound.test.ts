// What operators are told of a request id whose log was moved or put back since (rule D3).
import { expect } from 'chai';
import { EventStoreUnavailable, UnknownPosition } from '../../../application/ports/eventStore.ts';
import { platformWork } from '../../../infrastructure/boot/platformWork.ts';
import type { Storage } from '../../../infrastructure/boot/storage.ts';

describe('a request that is looked for', () => {
  const row = {
    id: '0'.repeat(26),
    request_id: 'req_1',
    account_id: 'a'.repeat(26),
    created_ms: 0,
    duration_ms: 1,
    log_position: '7',
  };
  const find = (error: Error) => {
    const storage = {
      reads: { query: async () => ({ rows: [row], rowCount: 1 }) },
      store: {
        subscribe: () => {
          throw error;
        },
      },
    } as unknown as Storage;
    const needs = {} as Parameters<typeof platformWork>[0];
    return platformWork(needs, storage).findRequest('req_1', new AbortController().signal);
  };

  it('is shown without its events where the log does not know its position', async () => {
    const { requests, events } = await find(new UnknownPosition('gone'));
    expect([requests.map(({ requestId }) => requestId), events]).to.deep.equal([['req_1'], null]);
  });
  it('is not shown as one without events while the log is away', async () => {
    const failed = await find(new EventStoreUnavailable('away')).catch((error: Error) => error);
    expect(failed).to.be.instanceOf(EventStoreUnavailable);
  });
});
