// Finds the events that a request caused: those with its id, and those that followed soon after (rule D3).

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

describe('the events of a request', () => {
  /** Returns the ids of the events found in a log of these batches. Throws if more is read than necessary. */
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

  it('are those with its id and their consequences, by any writer, in log order', async () => {
    const log = [
      [event('before', { requestId: 'req_before' }), event('named', { requestId: 'req_this', $causationId: 'x' })],
      [event('caused', { $causationId: 'req_this' }), event('apart', { $causationId: 'before' })],
      [event('followed', { $causationId: 'caused' }), event('followed on', { $causationId: 'followed' })],
      [event('nobody’s', {}), event('after', { $causationId: 'req_this_too' })],
    ];
    expect(await found(log)).to.deep.equal(['named', 'caused', 'followed', 'followed on']);
    expect(await found([])).to.deep.equal([]);
  });
  it('include events of the same stream that are caused by an id in the data of an earlier one', async () => {
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
  it('include events with malformed data', async () => {
    const broken = { ...event('broken', { $causationId: 'req_this' }), data: '{' };
    expect(await found([[broken, event('followed', { $causationId: 'broken' })]])).to.deep.equal([
      'broken',
      'followed',
    ]);
  });
  it('exclude those of other accounts, unless the request is by an operator of the platform', async () => {
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
  it('are searched until ten seconds after the response', async () => {
    const end = DURATION_MS + 10_000;
    const caused = { $causationId: 'req_this' };
    expect(
      await found([[event('last', caused, end)], [event('late', caused, end + 1), event('on time', caused)]]),
    ).to.deep.equal(['last']);
  });
  it('of several requests with the same id are returned once each, in log order', async () => {
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
  it('exclude events with malformed metadata', async () => {
    const log = [[event('broken', '{'), event('own', { $causationId: 'req_this' })]];
    expect(await found(log)).to.deep.equal(['own']);
  });
});
