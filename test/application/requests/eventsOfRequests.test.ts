// Which events a request caused: those under its id, and what followed from them soon (rule D3).

import { expect } from 'chai';
import type { Position, RecordedEvent, SubscribeOptions } from '../../../application/ports/eventStore.ts';
import type { LoggedRequest } from '../../../application/ports/requestLog.ts';
import { eventsOfRequests } from '../../../application/requests/eventsOfRequests.ts';
import type { AccountId, PaymentId, RequestLogId, UserId } from '../../../domain/kernel/ids.ts';
import { fromMillis, toMillis } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { parseTimestamp } from '../../support/timestamp.ts';

const [OWN, OTHER] = ['a'.repeat(26), 'b'.repeat(26)] as [AccountId, AccountId];
const BEGAN = toMillis(parseTimestamp('2026-11-21T13:00:00.000Z'));
const DURATION_MS = 2_500;
const REQUEST: LoggedRequest = {
  id: '0'.repeat(26) as RequestLogId,
  requestId: 'req_this',
  accountId: OWN,
  mode: 'live',
  method: 'POST',
  path: '/v1/charges',
  status: 201,
  durationMs: DURATION_MS,
  keyFingerprint: '0123456789abcdef',
  userId: null,
  createdAt: fromMillis(BEGAN),
  logPosition: '7' as Position,
};

let events = 0;
const event = (id: string, metadata: object | string, afterMs = 1): RecordedEvent => ({
  id,
  type: 'Something',
  data: '{}',
  metadata: typeof metadata === 'string' ? metadata : JSON.stringify({ account: OWN, ...metadata }),
  stream: PAYMENT.stream('p'.repeat(26) as PaymentId),
  revision: 0,
  position: String(++events) as Position,
  recordedAt: fromMillis(BEGAN + afterMs),
});

describe('the events of requests', () => {
  /** Ids of what is found in a log of these batches, behind which nothing is read that is not asked for. */
  const found = async (batches: readonly (readonly RecordedEvent[])[], of: Partial<LoggedRequest> = {}) => {
    const asked: SubscribeOptions[] = [];
    const subscribe = async function* (options: SubscribeOptions) {
      asked.push(options);
      for (const batch of batches) {
        yield { kind: 'checkpoint', position: '8' as Position } as const;
        yield { kind: 'events', events: batch, position: '9' as Position } as const;
      }
      yield { kind: 'caughtUp', position: null } as const;
      throw new Error('waited for more');
    };
    const { signal } = new AbortController();
    const all = await eventsOfRequests({ subscribe }, [{ ...REQUEST, ...of }], signal);
    expect(asked).to.deep.equal([{ after: REQUEST.logPosition, categories: null, signal }]);
    return all.map(({ id }) => id);
  };

  it('are those under its id and what followed from them, whoever wrote it, in the order of the log', async () => {
    const log = [
      [event('before', { requestId: 'req_before' }), event('named', { requestId: 'req_this', $causationId: 'x' })],
      [event('caused', { $causationId: 'req_this' }), event('apart', { $causationId: 'before' })],
      [event('followed', { $causationId: 'caused' }), event('followed on', { $causationId: 'followed' })],
      [event('nobody’s', {}), event('after', { $causationId: 'req_this_too' })],
    ];
    expect(await found(log)).to.deep.equal(['named', 'caused', 'followed', 'followed on']);
    expect(await found([])).to.deep.equal([]);
  });
  it('are also those by which goes on, in the same stream, what an event of theirs began and names', async () => {
    const began = {
      ...event('reserved', { $causationId: 'req_this' }),
      data: '{"refundId":"r1","amount":5,"of":null,"label":""}',
    };
    const elsewhere = { ...event('elsewhere', { $causationId: 'r1' }), stream: PAYMENT.stream('q' as PaymentId) };
    const log = [
      [event('too early', { $causationId: 'r1' }), began, elsewhere],
      [event('completed', { $causationId: 'r1' }), event('of another refund', { $causationId: 'r2' })],
      [event('by itself', {}), event('no name', { $causationId: 'refundId' }), event('five', { $causationId: '5' })],
    ];
    expect(await found(log)).to.deep.equal(['reserved', 'completed']);
  });
  it('of which the data can’t be read are found like any other', async () => {
    const broken = { ...event('broken', { $causationId: 'req_this' }), data: '{' };
    expect(await found([[broken, event('followed', { $causationId: 'broken' })]])).to.deep.equal([
      'broken',
      'followed',
    ]);
  });
  it('of another account are not, under whatever id; an operator of the platform acts on any', async () => {
    const log = [
      [
        event('theirs', { account: OTHER, $causationId: 'req_this' }),
        event('theirs too', { account: OTHER, requestId: 'req_this' }),
        event('own', { $causationId: 'req_this' }),
        event('after theirs', { $causationId: 'theirs' }),
      ],
    ];
    expect(await found(log)).to.deep.equal(['own']);
    const operators = { accountId: null, mode: null, keyFingerprint: null, userId: 'u'.repeat(26) as UserId };
    expect(await found(log, operators)).to.deep.equal(['theirs', 'theirs too', 'own', 'after theirs']);
  });
  it('are looked for until ten seconds after the answer', async () => {
    const end = DURATION_MS + 10_000;
    const caused = { $causationId: 'req_this' };
    expect(
      await found([[event('last', caused, end)], [event('late', caused, end + 1), event('on time', caused)]]),
    ).to.deep.equal(['last']);
  });
  it('of several with one id are found once each, in the order in which they were recorded', async () => {
    const caused = { $causationId: 'req_this' };
    const log = [
      event('own', caused, 2),
      event('theirs', { ...caused, account: OTHER }, 1),
      event('own too', caused, 3),
    ];
    const subscribe = async function* () {
      yield { kind: 'events', events: log, position: '9' as Position } as const;
      yield { kind: 'caughtUp', position: null } as const;
    };
    const requests = [REQUEST, { ...REQUEST, createdAt: fromMillis(BEGAN + 1) }, { ...REQUEST, accountId: OTHER }];
    const all = await eventsOfRequests({ subscribe }, requests, new AbortController().signal);
    expect(all.map(({ id }) => id)).to.deep.equal(['theirs', 'own', 'own too']);
  });
  it('that nobody can read are passed over', async () => {
    const log = [[event('broken', '{'), event('own', { $causationId: 'req_this' })]];
    expect(await found(log)).to.deep.equal(['own']);
  });
});
