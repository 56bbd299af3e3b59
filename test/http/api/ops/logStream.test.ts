// The stream of the event log keeps little in memory for a reader who doesn't read.
import { expect } from 'chai';
import type { RecordedEvent } from '../../../../application/ports/eventStore.ts';
import type { StreamName } from '../../../../domain/kernel/ids.ts';
import { OPS_LOG_ROUTES } from '../../../../http/api/ops/log.ts';
import type { EventSink } from '../../../../http/kernel/answers.ts';

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
  it('waits for its reader after each event, however large a batch is', async () => {
    const reads = OPS_LOG_ROUTES.find(({ operationId }) => operationId === 'readLog');
    const closing = new AbortController();
    const services = {
      platform: {
        readLog: async function* () {
          yield Array.from({ length: EVENTS }, (_, n) => event(n));
        },
      },
      closing: closing.signal,
      isSessionActive: async () => true,
    };
    const context = { query: { follow: 'true', all: 'true' }, caller: { sessionId: 'x' }, services };
    const answer = (await reads?.handle(context as never)) as unknown as { open: (sink: EventSink) => Promise<void> };
    let [buffered, most, sent] = [0, 0, 0];
    await answer.open({
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
