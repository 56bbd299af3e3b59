// The stream of the event log keeps little in memory for a reader who doesn't read.
import { EventEmitter, getEventListeners } from 'node:events';
import { expect } from 'chai';
import type { Request, Response } from 'express';
import type { RecordedEvent } from '../../../../application/ports/eventStore.ts';
import type { StreamName } from '../../../../domain/kernel/ids.ts';
import { OPS_LOG_ROUTES } from '../../../../http/api/ops/log.ts';
import type { EventSink } from '../../../../http/kernel/answers.ts';
import { sendResult } from '../../../../http/kernel/send.ts';

const EVENT_BYTES = 25_000;
const EVENTS = 500;
/** As much as Node keeps before `drain`. */
const BUFFER_BYTES = 16_384;

const event = (revision: number): RecordedEvent =>
  ({
    ...{ id: `${revision}`, stream: 'account-x' as StreamName, revision, type: 'AccountSettingsChanged' },
    ...{ position: `${revision}`, recordedAt: '2026-11-21T12:00:00.000Z', metadata: '{}' },
    data: JSON.stringify({ text: 'x'.repeat(EVENT_BYTES) }),
  }) as unknown as RecordedEvent;

describe('the stream of the event log', () => {
  /** Begins to stream a log with one batch of so many events. */
  const opening = async (events: number) => {
    const reads = OPS_LOG_ROUTES.find(({ operationId }) => operationId === 'readLog');
    const closing = new AbortController();
    const services = {
      platform: {
        readLog: async function* () {
          yield Array.from({ length: events }, (_, n) => event(n));
        },
      },
      closing: closing.signal,
      isSessionActive: async () => true,
    };
    const context = { query: { follow: 'true', all: 'true' }, caller: { sessionId: 'x' }, services };
    const answer = (await reads?.handle(context as never)) as unknown as { open: (sink: EventSink) => Promise<void> };
    return { open: answer.open, close: () => closing.abort() };
  };

  it('leaves no listeners behind, however often it waits', async () => {
    const res = Object.assign(new EventEmitter(), { writableNeedDrain: true, hasHeader: () => true });
    const unused = { writeHead: () => undefined, flushHeaders: () => undefined };
    const { signal } = new AbortController();
    const open = async (sink: EventSink) => {
      for (let n = 0; n < 3; n++) {
        const drained = sink.drained(signal);
        res.emit('drain');
        await drained;
      }
    };
    const sent = Object.assign(res, unused) as unknown as Response;
    await sendResult({ method: 'GET', fresh: false } as Request, sent, { status: 200, open } as never);
    expect([res.listenerCount('drain'), res.listenerCount('close')]).to.deep.equal([0, 0]);
    expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
  });
  it('ends with the process although its reader doesn’t read', async () => {
    const stalled = Promise.withResolvers<void>();
    const drained = (signal: AbortSignal) => {
      stalled.resolve();
      return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    };
    const { open, close } = await opening(2);
    const ended = open({ send: () => undefined, drained, end: () => undefined, onClose: () => undefined });
    await stalled.promise;
    close();
    await ended;
  });
  it('waits for its reader after each event, however large a batch is', async () => {
    const { open } = await opening(EVENTS);
    let [buffered, most, sent] = [0, 0, 0];
    await open({
      send: (_name, data) => {
        buffered += JSON.stringify(data).length;
        most = Math.max(most, buffered);
        sent += 1;
      },
      drained: async () => {
        if (buffered > BUFFER_BYTES) buffered = 0;
      },
      end: () => undefined,
      onClose: () => undefined,
    });
    expect(sent).to.equal(EVENTS);
    expect(most).to.be.below(BUFFER_BYTES + 2 * EVENT_BYTES);
  });
});
