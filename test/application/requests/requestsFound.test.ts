// What operators are told of a request id whose log was moved or put back since (rule D3).
import { expect } from 'chai';
import { EventStoreUnavailable, type Position, UnknownPosition } from '../../../application/ports/eventStore.ts';
import type { Sql } from '../../../application/ports/sql.ts';
import { requests } from '../../../application/requests/capability.ts';
import { placeOf } from '../../../infrastructure/eventStore/postgres/reader.ts';
import { requestLogReads } from '../../../infrastructure/requests/requestLog.ts';

describe('a request that is looked for', () => {
  const row = {
    id: '0'.repeat(26),
    requestId: 'req_1',
    accountId: 'a'.repeat(26),
    createdAt: '2026-11-21T13:00:00.000Z',
    durationMs: 1,
    logPosition: '7',
  };
  const find = (error: Error) => {
    const reads = { query: async () => ({ rows: [row], rowCount: 1 }) } as unknown as Sql;
    const store = {
      subscribe: () => {
        throw error;
      },
    };
    const { findRequest } = requests.operators({ requestLog: requestLogReads(reads), store });
    return findRequest('req_1', new AbortController().signal);
  };

  it('is shown without its events where the log does not know its position', async () => {
    const { requests, events } = await find(new UnknownPosition('gone'));
    expect([requests.map(({ requestId }) => requestId), events]).to.deep.equal([['req_1'], null]);
  });
  it('is shown without its events where the log was migrated from a store whose positions have another form', async () => {
    let error: Error | null = null;
    try {
      placeOf(`${'7'.padStart(20, '0')}/${'7'.padStart(20, '0')}` as Position); // as a subscription does
    } catch (rejected) {
      error = rejected as Error;
    }
    expect((await find(error as Error)).events).to.equal(null);
  });
  it('is not shown as one without events while the log is away', async () => {
    const failed = await find(new EventStoreUnavailable('away')).catch((error: Error) => error);
    expect(failed).to.be.instanceOf(EventStoreUnavailable);
  });
});
