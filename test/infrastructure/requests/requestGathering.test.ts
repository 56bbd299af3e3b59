// Collecting the outcomes of requests, and writing them in batches.
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Position } from '../../../application/ports/eventStore.ts';
import type { AnsweredRequest, LoggedRequest } from '../../../application/ports/requestLog.ts';
import { type AccountId, timeOfId } from '../../../domain/kernel/ids.ts';
import { RequestLog } from '../../../infrastructure/requests/requestLog.ts';
import { systemRandomness } from '../../../infrastructure/system/system.ts';

const ANSWERED: AnsweredRequest = {
  requestId: 'req_1',
  accountId: 'a'.repeat(26) as AccountId,
  mode: 'live',
  method: 'GET',
  path: '/v1/wallets',
  status: 200,
  durationMs: 3,
  keyFingerprint: '0123456789abcdef',
  userId: null,
};

describe('the request log of a process', () => {
  const written: (readonly LoggedRequest[])[] = [];
  const errors: string[] = [];
  let nowMs: number;
  let head: Position | null;
  /** The result of the next writes: an error, or a promise to wait for. */
  let meets: Error | Promise<void> | null;
  let log: RequestLog;
  const open = () =>
    new RequestLog({
      store: {
        write: async (requests) => {
          if (meets instanceof Error) throw meets;
          await meets;
          written.push(requests);
        },
      },
      clock: { now: () => nowMs },
      randomness: systemRandomness,
      head: () => head,
      onError: ({ message }) => errors.push(message),
      waitingMax: 2_500,
    });
  beforeEach(() => {
    written.length = 0;
    errors.length = 0;
    nowMs = Date.parse('2026-11-22T12:00:00.000Z');
    head = '7' as Position;
    meets = null;
    log = open();
  });
  afterEach(() => log.close());
  const answer = (times: number, from = 0) => {
    for (let i = 0; i < times; i++) log.begin()({ ...ANSWERED, requestId: `${from + i}` });
  };
  const ids = () => written.flat().map(({ requestId }) => Number(requestId));
  const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

  it('dates a request by its start, with the log position at that time, and IDs in chronological order', async () => {
    const record = log.begin();
    head = '9' as Position;
    nowMs += 1_500;
    const second = log.begin();
    nowMs += 10;
    second(ANSWERED);
    record(ANSWERED);
    await log.flush();
    const [[later, earlier]] = written as [[LoggedRequest, LoggedRequest]];
    expect({ ...earlier, id: '' }).to.deep.equal({
      ...ANSWERED,
      id: '',
      createdAt: '2026-11-22T12:00:00.000Z',
      logPosition: '7',
    });
    expect([later.createdAt, later.logPosition]).to.deep.equal(['2026-11-22T12:00:01.500Z', '9']);
    expect(earlier.id < later.id).to.equal(true);
    // A row is found by the time in its ID.
    for (const { id, createdAt } of [earlier, later]) expect(timeOfId(id)).to.equal(Date.parse(createdAt));
    expect(earlier.id).to.match(/^[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  });
  it('gives requests of the same millisecond IDs in the order of their start', async () => {
    const records = Array.from({ length: 300 }, () => log.begin());
    for (const [n, record] of [...records.entries()].reverse()) record({ ...ANSWERED, requestId: `${n}` });
    await log.flush();
    const sorted = written.flat().toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(sorted.map(({ requestId }) => Number(requestId))).to.deep.equal(numbers(0, 300));
  });
  it('writes in the order of answers, at most a thousand at once, and nothing if there are none', async () => {
    await log.flush();
    answer(2_100);
    await log.flush();
    expect(written.map(({ length }) => length)).to.deep.equal([1_000, 1_000, 100]);
    expect(ids()).to.deep.equal(numbers(0, 2_100));
    await log.flush();
    expect(written).to.have.length(3);
  });
  it('keeps requests that could not be written, and reports only the first of consecutive failures', async () => {
    meets = new Error('away');
    answer(3);
    for (let i = 0; i < 3; i++) await log.flush();
    answer(2, 3);
    meets = null;
    await log.flush();
    meets = new Error('away again');
    answer(1, 5);
    await log.flush();
    meets = null;
    await log.flush();
    expect(ids()).to.deep.equal(numbers(0, 6));
    expect([errors, log.dropped]).to.deep.equal([['away', 'away again'], 0]);
  });
  it('drops the oldest requests above its limit, and counts them', async () => {
    meets = new Error('away');
    answer(2_500);
    await log.flush();
    expect(log.dropped).to.equal(0);
    answer(700, 2_500);
    expect(log.dropped).to.equal(700);
    meets = null;
    await log.flush();
    expect(ids()).to.deep.equal(numbers(700, 3_200));
  });
  it('accepts requests during a write, and writes each once', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    meets = promise;
    answer(10);
    const writing = log.flush();
    answer(10, 10);
    resolve();
    await writing;
    expect(ids()).to.deep.equal(numbers(0, 10));
    await log.flush();
    expect(ids()).to.deep.equal(numbers(0, 20));
  });
  it('writes requests that arrive during a write before any later flush resolves', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    meets = promise;
    answer(1);
    const first = log.flush();
    const asked: Promise<void>[] = [];
    for (let n = 1; n < 4; n++) {
      answer(1, n);
      asked.push(log.flush());
    }
    resolve();
    for (const done of asked) {
      await done;
      expect(ids()).to.deep.equal(numbers(0, 4));
    }
    await first;
  });
  it('writes every second', async () => {
    await log.close();
    mock.timers.enable({ apis: ['setInterval'] });
    try {
      log = open();
      for (let n = 0; n < 2; n++) {
        answer(1, n);
        mock.timers.tick(1_000);
        await nextTurn();
      }
      expect(written.map(({ length }) => length)).to.deep.equal([1, 1]);
    } finally {
      mock.timers.reset();
    }
  });
  it('writes the rest when the process stops, even behind a write in progress', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    meets = promise;
    answer(5);
    void log.flush();
    answer(5, 5);
    const closed = log.close();
    resolve();
    await closed;
    expect(ids()).to.deep.equal(numbers(0, 10));
  });
});
