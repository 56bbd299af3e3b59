// Keep-alive messages of open pages (http/site/liveStreams.ts).
import { expect } from 'chai';
import type { Progress } from '../../../application/ports/readModels/progress.ts';
import { LiveStreams } from '../../../http/site/liveStreams.ts';

describe('live streams', () => {
  it('keep sending an unchanged status, even if the read model advances all the time', async () => {
    let move = (): void => undefined;
    const progress = {
      onMove: (listener: () => void) => {
        move = listener;
        return () => undefined;
      },
    } as Partial<Progress> as Progress;
    const streams = new LiveStreams<string, string>(
      progress,
      {
        event: 'status',
        find: async (keys) => {
          move();
          return new Map(keys.map((key) => [key, 'pending']));
        },
        shownOf: (status) => status,
        isLast: () => false,
        pauseMs: 1,
        watched: 'payment',
        bounds: { ofKey: 1, ofAddress: 1, inAll: 1, lifetimeMs: 60_000 },
      },
      5,
    );
    const sent: unknown[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const opened = streams.open('p', '203.0.113.1', 'pending');
    if (!('open' in opened) || opened.status !== 200) return expect.fail();
    opened.open({
      send: (_, data) => {
        sent.push(data);
        if (sent.length === 3) resolve();
      },
      end: () => undefined,
      drained: async () => undefined,
      onClose: () => undefined,
    });
    await promise;
    streams.close();
    return expect(sent).to.deep.equal(['pending', 'pending', 'pending']);
  });
});
