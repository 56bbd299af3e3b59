import { expect } from 'chai';
import type { Position } from '../../../application/ports/eventStore.ts';
import { whenCaughtUp } from '../../../infrastructure/boot/program.ts';
import { LogProgress } from '../../../infrastructure/subscriptions/progress.ts';

describe('whenCaughtUp', () => {
  it('lets other consumers move while one has another version', async () => {
    const versions = new Map([
      ['changed', 1],
      ['moving', 1],
    ]);
    const progress = new LogProgress(() => 0, ['changed', 'moving'], versions);
    progress.sawHead('2' as Position);
    progress.heard([{ name: 'changed', version: 2 }], '1' as Position);
    setImmediate(() => progress.moved(['moving'], '2' as Position)); // never runs if the wait blocks the event loop
    await whenCaughtUp(progress, null);
    expect(progress.behind()).to.deep.equal([]);
  });

  it('resolves under load, when the consumers stay behind the newest event', async () => {
    let head = 1;
    /** At each look, the log has one more event than the consumer has seen. */
    class Busy extends LogProgress {
      override passed(...args: Parameters<LogProgress['passed']>): Promise<boolean> {
        this.moved(['moving'], String(head) as Position);
        this.sawHead(String(++head) as Position);
        return super.passed(...args);
      }
    }
    const progress = new Busy(() => 0, ['moving']);
    progress.sawHead(String(head) as Position);
    await whenCaughtUp(progress, null);
    expect(progress.behind()).to.deep.equal(['moving']);
  });

  it('waits for a consumer that must read the whole log only on the first start', async () => {
    const progress = new LogProgress(() => 0, ['new', 'known']);
    progress.sawHead('2' as Position);
    progress.moved(['known'], '1' as Position);
    progress.begin();
    progress.moved(['new'], '1' as Position);
    setImmediate(() => progress.moved(['known'], '2' as Position));
    await whenCaughtUp(progress, null);
    expect(progress.behind()).to.deep.equal(['new']);

    const first = new LogProgress(() => 0, ['one', 'other']);
    first.sawHead('2' as Position);
    first.begin();
    setImmediate(() => first.moved(['one', 'other'], '2' as Position));
    await whenCaughtUp(first, null);
    expect(first.behind()).to.deep.equal([]);
  });

  it('does not wait for a failed consumer, even if the others never reach the newest event', async () => {
    const progress = new LogProgress(() => 0, ['failed', 'moving']);
    progress.sawHead('2' as Position);
    setImmediate(() => {
      progress.moved(['moving'], '2' as Position);
      progress.sawHead('3' as Position);
    });
    const faults = () => [{ name: 'failed', error: new Error('it failed') }];
    await whenCaughtUp(progress, { faults });
    expect(progress.behind()).to.deep.equal(['failed', 'moving']);
  });
});
