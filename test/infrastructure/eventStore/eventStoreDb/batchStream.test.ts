// Whatever ends a stream of appends, the outcome of its pending appends is unknown.
import { EventEmitter } from 'node:events';
import { Metadata, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import fc from 'fast-check';
import { BatchStream } from '../../../../infrastructure/eventStore/eventStoreDb/appender.ts';
import type { Connection } from '../../../../infrastructure/eventStore/eventStoreDb/connection.ts';
import type { StoreFailure } from '../../../../infrastructure/eventStore/eventStoreDb/failures.ts';
import { newEvents, newStream } from '../../../conformance/eventStore/harness.ts';

class FakeCall extends EventEmitter {
  sent = 0;
  write(): void {
    this.sent += 1;
  }
  cancel(): void {
    this.emit('cancelled');
  }
}

const opened = () => {
  const call = new FakeCall();
  const connection = { stub: { batchAppend: () => call }, metadata: () => new Metadata(), close: () => undefined };
  return { call, stream: new BatchStream(connection as unknown as Connection, () => undefined) };
};
const append = () => ({ stream: newStream(), expected: -1, events: newEvents(1), dataBytes: 2, metadataBytes: 2 });
const failureOf = (work: Promise<unknown>): Promise<StoreFailure> =>
  work.then(
    () => {
      throw new Error('it was answered');
    },
    (failure: StoreFailure) => failure,
  );

const EXCEPTIONS = [
  ...['', 'not-leader', 'access-denied', 'stream-deleted', 'maximum-append-size-exceeded'],
  ...['maximum-append-event-size-exceeded', 'unheard-of'],
];
const anyStatus = fc.constantFrom(...Object.values(status).filter((code) => typeof code === 'number' && code > 0));

describe('the end of a stream of appends', () => {
  it('makes the outcome of all pending appends unknown, for any status and exception, and sends no more', async () => {
    await fc.assert(
      fc.asyncProperty(anyStatus, fc.constantFrom(...EXCEPTIONS), fc.integer({ min: 1, max: 5 }), async (...given) => {
        const [code, exception, count] = given;
        const { call, stream } = opened();
        const waiting = Array.from({ length: count }, () => failureOf(stream.append(append(), 60_000)));
        const trailers = { exception, 'leader-endpoint-host': 'node2', 'leader-endpoint-port': '2113' };
        const metadata = Metadata.fromHttp2Headers(trailers);
        call.emit('error', Object.assign(new Error('the end'), { code, details: 'the end', metadata }));
        const saysWhoLeads = exception === 'not-leader' && code !== status.UNAUTHENTICATED;
        const leader = saysWhoLeads ? { address: 'node2', port: 2113 } : null;
        for (const failure of await Promise.all(waiting)) {
          expect(failure.kind).to.equal('outcomeUnknown');
          expect(failure.leader).to.deep.equal(leader);
        }
        expect((await failureOf(stream.append(append(), 60_000))).kind, 'one that comes later').to.equal('notSent');
        expect(call.sent).to.equal(count);
      }),
    );
  });

  it('does so if the server ends it with OK, and if it is closed twice on this side', async () => {
    for (const end of [
      (call: FakeCall) => void call.emit('end'),
      (_: FakeCall, stream: BatchStream) => stream.close(),
    ]) {
      const { call, stream } = opened();
      const waiting = failureOf(stream.append(append(), 60_000));
      end(call, stream);
      end(call, stream);
      expect((await waiting).kind).to.equal('outcomeUnknown');
    }
  });
});
