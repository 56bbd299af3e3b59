// The loop that claims jobs, against claims that the test decides.
import { expect } from 'chai';
import { type ClaimedJob, type Claims, JobLoop } from '../../../infrastructure/jobs/jobLoop.ts';
import { Gate } from '../../projections/engine/scene.ts';

const job = (id: string, group: string | null = null): ClaimedJob => ({ id, items: [id], group });

/** A queue in memory whose every call is noted; `beforeClaim` may hold a claim back. */
class Queue implements Claims {
  readonly calls: string[] = [];
  waiting: ClaimedJob[] = [];
  beforeClaim: () => Promise<void> | void = () => undefined;
  failDone = false;

  async claim(max: number, ignoreGroups: readonly string[]) {
    const free = this.waiting.filter(({ group }) => group === null || !ignoreGroups.includes(group)).slice(0, max);
    this.waiting = this.waiting.filter((waiting) => !free.includes(waiting));
    await this.beforeClaim();
    if (free.length > 0) this.calls.push(`claimed ${free.map(({ id }) => id)}`);
    return free;
  }
  async done(ids: readonly string[]) {
    if (this.failDone) throw new Error('no database');
    this.calls.push(`done ${ids}`);
  }
  async failed(id: string, error: Error) {
    this.calls.push(`failed ${id}: ${error.message}`);
  }
  async release(ids: readonly string[]) {
    this.calls.push(`released ${ids}`);
  }
}

describe('the job loop', () => {
  const start = (
    queue: Queue,
    run: (items: readonly string[]) => Promise<void>,
    limits = { concurrency: 4, perGroup: 2 },
  ) => {
    const errors: string[] = [];
    let settled = 0;
    let waiting: { readonly count: number; readonly resolve: () => void }[] = [];
    const onSettled = () => {
      settled++;
      for (const { resolve } of waiting.filter(({ count }) => settled >= count)) resolve();
      waiting = waiting.filter(({ count }) => settled < count);
    };
    const loop = new JobLoop(queue, { run }, limits, { onSettled, onError: (error) => errors.push(error.message) });
    loop.start();
    const ended = (count: number) =>
      settled >= count ? Promise.resolve() : new Promise<void>((resolve) => waiting.push({ count, resolve }));
    return { loop, errors, ended };
  };

  it('claims as many as may run, and again as soon as one ends', async () => {
    const queue = new Queue();
    queue.waiting = ['a', 'b', 'c'].map((id) => job(id));
    const gates = new Map(['a', 'b', 'c'].map((id) => [id, new Gate()]));
    const gate = (id: string) => gates.get(id) as Gate;
    const { loop, ended } = start(queue, ([id]) => gate(id as string).pass(), { concurrency: 2, perGroup: 2 });
    await Promise.all([gate('a').reached, gate('b').reached]);
    expect(queue.calls).to.deep.equal(['claimed a,b']);
    gate('b').open();
    await gate('c').reached;
    gate('a').open();
    gate('c').open();
    await ended(3);
    await loop.stop(1_000);
    expect(queue.calls.slice(0, 3)).to.deep.equal(['claimed a,b', 'done b', 'claimed c']);
    expect(queue.calls.slice(3).join().replaceAll('done ', '')).to.equal('a,c');
  });

  it('gives back what one claim brought of a group beyond its limit', async () => {
    const queue = new Queue();
    queue.waiting = [job('1', 'g'), job('2', 'g'), job('3', 'g'), job('4', 'h')];
    const gate = new Gate();
    const { loop } = start(queue, () => gate.pass());
    await gate.reached;
    gate.open();
    await loop.stop(1_000);
    expect(queue.calls.slice(0, 2)).to.deep.equal(['claimed 1,2,3,4', 'released 3']);
    expect(queue.calls.slice(2).join(',')).to.match(/^done /);
  });

  it('gives back what it is just claiming when it is stopped', async () => {
    const queue = new Queue();
    const gate = new Gate();
    queue.waiting = [job('a')];
    queue.beforeClaim = () => gate.pass();
    const ran: string[] = [];
    const { loop } = start(queue, async ([id]) => void ran.push(id as string));
    await gate.reached;
    const stopped = loop.stop(5_000);
    gate.open();
    await stopped;
    expect(ran).to.deep.equal([]);
    expect(queue.calls).to.deep.equal(['claimed a', 'released a']);
    queue.waiting = [job('b')];
    loop.wake();
    expect(queue.waiting).to.have.length(1);
  });

  it('tells of failures of jobs, of claims and of what ended, and goes on', async () => {
    const queue = new Queue();
    queue.waiting = [job('bad'), job('good')];
    const { loop, errors, ended } = start(queue, async ([id]) => {
      if (id === 'bad') throw new Error('bad job');
    });
    await ended(2);
    expect(queue.calls.toSorted()).to.deep.equal(['claimed bad,good', 'done good', 'failed bad: bad job']);
    queue.failDone = true;
    queue.waiting = [job('unsure')];
    loop.wake();
    await ended(3);
    queue.failDone = false;
    queue.beforeClaim = () => {
      queue.beforeClaim = () => undefined;
      throw new Error('no claim');
    };
    loop.wake();
    queue.waiting = [job('last')];
    loop.wake();
    await loop.stop(1_000);
    expect(errors).to.deep.equal(['bad job', 'no database', 'no claim']);
  });
});
