// How operators find a request by its id after the log was migrated or restored (rule D3).
import { expect } from 'chai';
import { EventStoreUnavailable, type Position, UnknownPosition } from '../../../application/ports/eventStore.ts';
import type { Sql } from '../../../application/ports/sql.ts';
import { requests } from '../../../application/requests/capability.ts';
import { placeOf } from '../../../infrastructure/eventStore/postgres/reader.ts';
import { requestLogReads } from '../../../infrastructure/requests/requestLog.ts';

describe('a request found by its id', () => {
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

  it('has null as its events if the log does not know its position', async () => {
    const { requests, events } = await find(new UnknownPosition('gone'));
    expect([requests.map(({ requestId }) => requestId), events]).to.deep.equal([['req_1'], null]);
  });
  it('has null as its events if the log was migrated from a store with another form of positions', async () => {
    let error: Error | null = null;
    try {
      placeOf(`${'7'.padStart(20, '0')}/${'7'.padStart(20, '0')}` as Position); // A subscription parses the position in the same way.
    } catch (rejected) {
      error = rejected as Error;
    }
    expect((await find(error as Error)).events).to.equal(null);
  });
  it('throws EventStoreUnavailable while the log is unavailable', async () => {
    const failed = await find(new EventStoreUnavailable('away')).catch((error: Error) => error);
    expect(failed).to.be.instanceOf(EventStoreUnavailable);
  });
});
