// The loop that claims jobs, tested with claims that the test controls.
import { expect } from 'chai';
import fc from 'fast-check';
import { type JobHandler, type JobPayload, PayloadsFailed } from '../../../application/ports/jobs.ts';
import {
  type Claim,
  type ClaimedJob,
  type Claims,
  JobLoop,
  type Room,
  roomOf,
} from '../../../infrastructure/jobs/jobLoop.ts';
import { Gate } from '../../projections/engine/scene.ts';

const job = (id: string, tenant = 'live/t', target = ''): ClaimedJob => ({
  id,
  attempt: 0,
  payloads: [{ id }],
  tenant,
  target,
});
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise(setImmediate);
};
const idsOf = (claims: readonly Claim[]) => claims.map(({ id }) => id);

/** An in-memory queue that records every call. `beforeClaim` may delay a claim. */
class Queue implements Claims {
  readonly calls: string[] = [];
  readonly rooms: Room[] = [];
  waiting: ClaimedJob[] = [];
  beforeClaim: () => Promise<void> | void = () => undefined;
  failDone = false;
  isClosed = false;
  /** The number of next claims that lose all their jobs to another worker. */
  losing = 0;

  mayClaim() {
    return !this.isClosed;
  }
  async claim(room: Room, done: readonly Claim[]) {
    if (done.length > 0) await this.done(done);
    this.rooms.push(room);
    const jobs = this.losing > 0 ? [] : this.waiting.splice(0, room.free);
    await this.beforeClaim();
    if (jobs.length > 0) this.calls.push(`claimed ${idsOf(jobs)}`);
    return { jobs, isWhole: this.losing === 0 || this.losing-- === 0 };
  }
  async done(claims: readonly Claim[]) {
    if (this.failDone) throw new Error('no database');
    this.calls.push(`done ${idsOf(claims)}`);
  }
  async failed({ id }: Claim, error: Error) {
    this.calls.push(`failed ${id}: ${error.message}`);
  }
  async release(claims: readonly Claim[]) {
    this.calls.push(`released ${idsOf(claims)}`);
  }
}

describe('the job loop', () => {
  const start = (
    queue: Queue,
    run: (payloads: readonly JobPayload[], signal: AbortSignal) => Promise<void>,
    limits = { places: 4, perTarget: 2 },
  ) => {
    const errors: string[] = [];
    let settled = 0;
    let waiting: { readonly count: number; readonly resolve: () => void }[] = [];
    const onSettled = () => {
      settled++;
      for (const { resolve } of waiting.filter(({ count }) => settled >= count)) resolve();
      waiting = waiting.filter(({ count }) => settled < count);
    };
    const handler: JobHandler = { run: (payloads, _target, _mayBeRepeat, signal) => run(payloads, signal) };
    const loop = new JobLoop(queue, handler, limits, { onSettled, onError: (error) => errors.push(error.message) });
    loop.wake();
    const ended = (count: number) =>
      settled >= count ? Promise.resolve() : new Promise<void>((resolve) => waiting.push({ count, resolve }));
    return { loop, errors, ended };
  };

  it('claims as many jobs as may run, and claims again as soon as one ends', async () => {
    const queue = new Queue();
    queue.waiting = ['a', 'b', 'c'].map((id) => job(id));
    const gates = new Map(['a', 'b', 'c'].map((id) => [id, new Gate()]));
    const gate = (id: string) => gates.get(id) as Gate;
    const { loop, ended } = start(queue, ([one]) => gate(one?.['id'] as string).pass(), { places: 2, perTarget: 2 });
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

  it('passes with each claim the free slots in total, per tenant and per target', async () => {
    const queue = new Queue();
    const gate = new Gate();
    queue.waiting = [job('1', 'live/a', 'x'), job('2', 'live/a', 'x'), job('3', 'live/a', 'y'), job('4', 'live/b')];
    const { loop } = start(queue, () => gate.pass(), { places: 24, perTarget: 2 });
    await gate.reached;
    loop.wake();
    await until(() => queue.rooms.length > 1);
    gate.open();
    await loop.stop(1_000);
    expect(queue.rooms.slice(0, 2)).to.deep.equal([
      { free: 24, perTenant: 8, perTarget: 2, tenants: [], targets: [] },
      {
        free: 20,
        perTenant: 6,
        perTarget: 2,
        tenants: [
          { tenant: 'live/a', held: 3, latest: 'y', room: 4 },
          { tenant: 'live/b', held: 1, latest: '', room: 6 },
        ],
        targets: [
          { tenant: 'live/a', target: 'x', room: 0 },
          { tenant: 'live/a', target: 'y', room: 1 },
          { tenant: 'live/b', target: '', room: 1 },
        ],
      },
    ]);
  });

  it('does not claim again after a job ends if no job was left waiting', async () => {
    const queue = new Queue();
    queue.waiting = [job('a')];
    const { loop, ended } = start(queue, async () => undefined, { places: 24, perTarget: 2 });
    await ended(1);
    queue.waiting = [job('b')];
    loop.wake();
    await ended(2);
    await loop.stop(1_000);
    expect(queue.calls).to.deep.equal(['claimed a', 'done a', 'claimed b', 'done b']);
    expect(queue.rooms).to.have.length(2);
  });

  it('claims again if the job that blocked others ends during a claim', async () => {
    const queue = new Queue();
    const [running, asking] = [new Gate(), new Gate()];
    queue.waiting = [job('a', 'live/t', 'x')];
    const limits = { places: 4, perTarget: 1 };
    const { loop, ended } = start(queue, ([one]) => (one?.['id'] === 'a' ? running.pass() : Promise.resolve()), limits);
    await running.reached;
    queue.beforeClaim = () => asking.pass();
    loop.wake();
    await asking.reached;
    queue.waiting = [job('b', 'live/t', 'x')];
    running.open();
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    queue.beforeClaim = () => undefined;
    asking.open();
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(queue.calls).to.deep.equal(['claimed a', 'done a', 'claimed b', 'done b']);
    await ended(2);
    await loop.stop(1_000);
  });

  it('claims again at once if another worker was faster', async () => {
    const queue = new Queue();
    queue.waiting = [job('a')];
    queue.losing = 3;
    const { loop, ended } = start(queue, async () => undefined);
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(queue.rooms.length).to.be.at.least(4);
    await ended(1);
    await loop.stop(1_000);
    expect(queue.calls).to.deep.equal(['claimed a', 'done a']);
  });

  it('fails a hanging job, frees its slot, and ignores its late result', async () => {
    const queue = new Queue();
    const gate = new Gate();
    queue.waiting = [job('hangs')];
    const { loop, ended } = start(queue, ([one]) => (one?.['id'] === 'hangs' ? gate.pass() : Promise.resolve()), {
      places: 1,
      perTarget: 1,
    });
    await gate.reached;
    loop.giveUp(60_000);
    expect(queue.calls).to.deep.equal(['claimed hangs']);
    loop.giveUp(-1);
    queue.waiting = [job('next')];
    await ended(2);
    gate.open();
    await loop.stop(1_000);
    expect(queue.calls).to.deep.equal([
      'claimed hangs',
      'failed hangs: timed out after -0.001 s',
      'claimed next',
      'done next',
    ]);
  });

  it('aborts the signal of a job that it gives up, and of running jobs when it stops', async () => {
    const queue = new Queue();
    const begun = Promise.withResolvers<void>();
    queue.waiting = [job('hangs')];
    const aborted = (signal: AbortSignal) =>
      new Promise<void>((_, reject) => {
        signal.onabort = () => reject(signal.reason);
        begun.resolve();
      });
    const { loop, ended } = start(queue, (_payloads, signal) => aborted(signal));
    await begun.promise;
    loop.giveUp(-1);
    await ended(1);
    queue.waiting = [job('waits')];
    loop.wake();
    await until(() => queue.calls.includes('claimed waits'));
    await loop.stop(60_000);
    expect(queue.calls).to.deep.equal([
      'claimed hangs',
      'failed hangs: timed out after -0.001 s',
      'claimed waits',
      'failed waits: the process stops',
    ]);
  });

  it('releases a job whose claim returns after the stop', async () => {
    const queue = new Queue();
    const gate = new Gate();
    queue.waiting = [job('a')];
    queue.beforeClaim = () => gate.pass();
    const ran: string[] = [];
    const { loop } = start(queue, async ([one]) => void ran.push(one?.['id'] as string));
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

  it('reports failed jobs, failed claims and failed completions, and continues', async () => {
    const queue = new Queue();
    queue.waiting = [job('bad'), job('good')];
    const { loop, errors, ended } = start(queue, async ([one]) => {
      if (one?.['id'] === 'bad') throw new Error('bad job');
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
    await until(() => errors.length > 1);
    queue.waiting = [job('last')];
    loop.wake();
    await ended(4);
    await loop.stop(1_000);
    expect(errors).to.deep.equal(['no database', 'no claim']);
  });
});

describe('a job that takes a slot before it is written', () => {
  const PLACES = { places: 8, perTarget: 2 };
  const begin = async (queue: Queue, limits = PLACES, writingMsMax?: number) => {
    const gate = new Gate();
    const ran: string[] = [];
    const run = async ([one]: readonly JobPayload[]) => {
      ran.push(one?.['id'] as string);
      await gate.pass();
    };
    const listeners = { onSettled: () => undefined, onError: () => undefined };
    const loop = new JobLoop(queue, { run }, limits, listeners, writingMsMax);
    loop.wake();
    await until(() => queue.rooms.length === 1);
    await new Promise(setImmediate);
    return { loop, gate, ran };
  };

  it('runs once it is written, without a claim, and is kept alive and completed like a claimed job', async () => {
    const queue = new Queue();
    const { loop, gate, ran } = await begin(queue);
    expect(loop.take(job('a'))).to.equal(true);
    await new Promise(setImmediate);
    expect([ran, loop.claims]).to.deep.equal([[], []]);
    const a = job('b');
    expect(loop.take(a)).to.equal(true);
    loop.begin(a);
    expect([ran, idsOf(loop.claims)]).to.deep.equal([['b'], ['b']]);
    gate.open();
    await loop.stop(1_000);
    expect([queue.calls, queue.rooms.length]).to.deep.equal([['done b'], 1]);
  });

  it('takes no slot beyond half of all, its tenant’s share, or its target’s limit', async () => {
    const { loop } = await begin(new Queue());
    const took = (...jobs: readonly ClaimedJob[]) => jobs.map((one) => loop.take(one));
    // Of eight free slots, a tenant may take two. With two of eight held, it may not take a third.
    expect(took(job('1', 'live/a'), job('2', 'live/a'), job('3', 'live/a'))).to.deep.equal([true, true, false]);
    expect(took(job('4', 'live/b'), job('5', 'live/c'), job('6', 'live/d'))).to.deep.equal([true, true, false]);
    const other = await begin(new Queue(), { places: 100, perTarget: 2 });
    const at = (target: string) => other.loop.take(job('x', 'live/a', target));
    expect([at('x'), at('x'), at('x'), at('y')]).to.deep.equal([true, true, false, true]);
  });

  it('counts as a held slot, for takes and claims, until it is given back', async () => {
    const queue = new Queue();
    const { loop } = await begin(queue, { places: 2, perTarget: 2 });
    const [a, b] = [job('a', 'live/a', 'x'), job('b', 'live/b')];
    expect([loop.take(a), loop.take(b)]).to.deep.equal([true, false]);
    loop.wake();
    await until(() => queue.rooms.length === 2);
    expect(queue.rooms[1]).to.deep.equal({
      free: 1,
      perTenant: 1,
      perTarget: 2,
      tenants: [{ tenant: 'live/a', held: 1, latest: 'x', room: 0 }],
      targets: [{ tenant: 'live/a', target: 'x', room: 1 }],
    });
    loop.giveBack(a);
    await until(() => queue.rooms.length === 3);
    await new Promise(setImmediate);
    expect([loop.take(b), loop.take(a)]).to.deep.equal([true, false]);
  });

  it('never precedes jobs that may be waiting', async () => {
    const queue = new Queue();
    const claiming = new Gate();
    const { loop, gate } = await begin(queue);
    queue.beforeClaim = () => claiming.pass();
    queue.waiting = [job('1', 'live/a'), job('2', 'live/a'), job('3', 'live/a')];
    loop.wake();
    expect(loop.take(job('4', 'live/b'))).to.equal(false); // a claim is in flight
    await claiming.reached;
    claiming.open();
    await until(() => loop.claims.length === 3);
    expect(loop.take(job('5', 'live/b'))).to.equal(false); // the claim reached the tenant's limit, so others may be waiting
    gate.open();
    await until(() => loop.take(job('6', 'live/b')));
    expect(idsOf(loop.claims)).to.deep.equal([]);
    expect(queue.calls.filter((call) => call.startsWith('claimed'))).to.deep.equal(['claimed 1,2,3']);
  });

  it('takes no slot while this process may take no work', async () => {
    const queue = new Queue();
    const { loop } = await begin(queue);
    queue.isClosed = true;
    expect(loop.take(job('a'))).to.equal(false);
    queue.isClosed = false;
    expect(loop.take(job('a'))).to.equal(true);
    await loop.stop(1_000);
    expect(loop.take(job('b'))).to.equal(false);
  });

  it('is claimed again if writing it took too long, because its claim may look like one of a dead worker', async () => {
    const queue = new Queue();
    const { loop, ran } = await begin(queue, { places: 8, perTarget: 2 }, -1);
    const a = job('a');
    expect(loop.take(a)).to.equal(true);
    queue.waiting = [a];
    loop.begin(a);
    expect(ran).to.deep.equal([]);
    await until(() => loop.claims.length === 1);
    expect([queue.calls, ran]).to.deep.equal([['released a', 'claimed a'], ['a']]);
    expect(queue.rooms.at(-1)?.free).to.equal(8);
  });

  it('is released if it is written after the loop stopped', async () => {
    const queue = new Queue();
    const { loop, ran } = await begin(queue);
    const a = job('a');
    expect(loop.take(a)).to.equal(true);
    const stopped = loop.stop(1_000);
    loop.begin(a);
    await stopped;
    expect([queue.calls, ran]).to.deep.equal([['released a'], []]);
  });
});

describe('the slots of a lane', () => {
  const places = fc.integer({ min: 1, max: 300 });
  it('are at most half of the free ones for one tenant, and at least one for a tenant without any', () => {
    fc.assert(
      fc.property(places, fc.nat(300), (free, held) => {
        const room = roomOf(held, free);
        expect(room).to.be.at.least(held === 0 ? 1 : 0);
        if (room > 0 && held + room > 1) expect(2 * (held + room)).to.be.at.most(free - room);
      }),
    );
  });
  it('are not exhausted by greedy tenants: of 256, some remain after ten; of 24, after five', () => {
    const leftAfter = (all: number, tenants: number) => {
      let free = all;
      for (let n = 0; n < tenants; n++) free -= roomOf(0, free);
      return free;
    };
    expect([leftAfter(256, 1), leftAfter(256, 10), leftAfter(24, 1), leftAfter(24, 5)]).to.deep.equal([171, 6, 16, 4]);
  });
});

describe('a failure of a job with several payloads', () => {
  it('names the failed payloads', () => {
    const error = new PayloadsFailed([
      { payload: { id: 'a' }, error: new Error('x') },
      { payload: { id: 'b' }, error: new Error('y') },
    ]);
    expect(error.message).to.equal('{"id":"a"}: x; {"id":"b"}: y');
  });
});
