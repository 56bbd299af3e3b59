import { expect } from 'chai';
import { checkAppend } from '../../../../infrastructure/eventStore/checkAppend.ts';
import type { PendingAppend } from '../../../../infrastructure/eventStore/postgres/groupCommit.ts';
import { AppendQueue } from '../../../../infrastructure/eventStore/postgres/groupCommit.ts';
import { failureOf, newEvent, newStream } from '../../../conformance/eventStore/harness.ts';

interface Held {
  readonly members: readonly PendingAppend[];
  finish(): void;
}

/** Returns a queue whose flushes end when the test ends them. */
const heldFlushes = (): { queue: AppendQueue; next(): Promise<Held>; readonly open: number } => {
  const begun: Held[] = [];
  let wanting: (() => void) | null = null;
  let open = 0;
  const queue = new AppendQueue(async (members) => {
    open += 1;
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        for (const member of members)
          member.succeed({ ok: true, revision: member.append.expected + 1, position: null });
        open -= 1;
        resolve();
      };
      begun.push({ members, finish });
      wanting?.();
    });
  });
  const next = async (): Promise<Held> => {
    if (begun.length === 0) {
      await new Promise<void>((resolve) => {
        wanting = resolve;
      });
    }
    return begun.shift()!;
  };
  return {
    queue,
    next,
    get open() {
      return open;
    },
  };
};

const appendOf = (stream: string, expected = -1, data = '{}'): ReturnType<typeof checkAppend> =>
  checkAppend(stream, expected, [newEvent({ data })]);
const streamsOf = ({ members }: Held): string[] => members.map(({ append }) => append.stream);

describe('append queue', () => {
  it('flushes the appends of one turn at once, and collects later ones during that flush', async () => {
    const { queue, next } = heldFlushes();
    const names = Array.from({ length: 5 }, () => newStream());
    const answers = names.slice(0, 2).map((name) => queue.add(appendOf(name)));
    const first = await next();
    answers.push(...names.slice(2).map((name) => queue.add(appendOf(name))));
    first.finish();
    const second = await next();
    second.finish();
    expect([first, second].map(streamsOf)).to.deep.equal([names.slice(0, 2), names.slice(2)]);
    expect((await Promise.all(answers)).map(({ ok }) => ok)).to.deep.equal([true, true, true, true, true]);
    await queue.idle();
  });

  it('runs at most one flush at a time', async () => {
    const flushes = heldFlushes();
    const first = flushes.queue.add(appendOf(newStream()));
    const held = await flushes.next();
    const later = flushes.queue.add(appendOf(newStream()));
    await new Promise((resolve) => setImmediate(resolve));
    expect(flushes.open).to.equal(1);
    held.finish();
    await first;
    (await flushes.next()).finish();
    await later;
  });

  it('puts at most one append of a stream into a flush, and keeps their order', async () => {
    const { queue, next } = heldFlushes();
    const [one, two] = [newStream(), newStream()];
    const answers = [appendOf(one), appendOf(one, 0), appendOf(two), appendOf(one, 1)].map((append) =>
      queue.add(append),
    );
    const seen: [string, number][][] = [];
    for (let n = 0; n < 3; n++) {
      const held = await next();
      seen.push(held.members.map(({ append }) => [append.stream, append.expected]));
      held.finish();
    }
    await Promise.all(answers);
    expect(seen).to.deep.equal([
      [
        [one, -1],
        [two, -1],
      ],
      [[one, 0]],
      [[one, 1]],
    ]);
  });

  it('flushes at most 256 appends and about 4 MB at once', async () => {
    const { queue, next } = heldFlushes();
    const many = Array.from({ length: 300 }, () => queue.add(appendOf(newStream())));
    const sizes: number[] = [];
    for (let n = 0; n < 2; n++) {
      const held = await next();
      sizes.push(held.members.length);
      held.finish();
    }
    await Promise.all(many);
    const large = `{"a":"${'x'.repeat(499_000)}"}`;
    const heavy = Array.from({ length: 10 }, () => queue.add(appendOf(newStream(), -1, large)));
    for (let n = 0; n < 2; n++) {
      const held = await next();
      sizes.push(held.members.length);
      held.finish();
    }
    await Promise.all(heavy);
    expect(sizes).to.deep.equal([256, 44, 8, 2]);
  });

  it('rejects an append at once that exceeds its 64 MB, and accepts it when there is room again', async () => {
    const { queue, next } = heldFlushes();
    const large = `{"a":"${'x'.repeat(499_000)}"}`;
    const waiting = Array.from({ length: 128 }, () => queue.add(appendOf(newStream(), -1, large)));
    expect(await failureOf(() => queue.add(appendOf(newStream(), -1, large)))).to.equal('EventStoreUnavailable');
    const held = await next();
    const again = queue.add(appendOf(newStream(), -1, large));
    held.finish();
    for (let n = 0; n < 16; n++) (await next()).finish();
    expect((await Promise.all([...waiting, again])).every(({ ok }) => ok)).to.equal(true);
  });

  it('is idle at once if it is empty, and otherwise when every append is answered', async () => {
    const { queue, next } = heldFlushes();
    await queue.idle();
    const answer = queue.add(appendOf(newStream()));
    let idle = false;
    const whenIdle = queue.idle().then(() => {
      idle = true;
    });
    const held = await next();
    expect(idle).to.equal(false);
    held.finish();
    await Promise.all([answer, whenIdle]);
    expect(idle).to.equal(true);
  });
});
