// Requests per minute, counted across several processes (rule E8, ADR 0010).
import { expect } from 'chai';
import fc from 'fast-check';
import type { ShareGrant, ShareRequest, TakeShares } from '../../../application/ports/requestShares.ts';
import { type Judged, type MinuteLimit, MinuteWindows } from '../../../http/kernel/minuteWindows.ts';

/** In-memory version of operations.take_request_shares; requestShares.test.ts compares it with the real function. */
class Deployment {
  nowMs = 1_000;
  batches = 0;
  /** Batches waiting for their answer; null: batches are answered at once. */
  held: (() => void)[] | null = null;
  isAway = false;
  readonly #minutes = new Map<string, { began: number; taken: number }>();

  readonly takeShares: TakeShares = async (requests) => {
    this.batches += 1;
    if (this.isAway) throw new Error('away');
    if (this.held !== null) await new Promise<void>((resolve) => this.held?.push(resolve));
    return new Map(requests.flatMap((request) => this.#take(request)));
  };

  #take({ name, perMinute, began, owed, waiting, ahead }: ShareRequest): readonly [string, ShareGrant][] {
    const known = this.#minutes.get(name);
    const running = known !== undefined && this.nowMs < known.began + 60_000 ? known : null;
    if (began !== null && running?.began !== began) return [];
    const minute = running ?? { began: this.nowMs, taken: 0 };
    const free = Math.max(perMinute - owed - minute.taken, 0);
    const granted = owed + Math.min(free, waiting + Math.min(ahead, Math.ceil(free / 4)));
    minute.taken += granted;
    this.#minutes.set(name, minute);
    return [[name, { began: minute.began, leftMs: minute.began + 60_000 - this.nowMs, granted, taken: minute.taken }]];
  }

  process(): MinuteWindows {
    return new MinuteWindows({ remembered: 100, takeShares: this.takeShares, now: () => this.nowMs });
  }
}

const exactly = (perMinute: number): MinuteLimit => ({ perMinute, credit: 0 });
const settled = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

describe('requests per minute, counted across processes', () => {
  let deployment: Deployment;
  let opened: MinuteWindows[];
  beforeEach(() => {
    deployment = new Deployment();
    opened = [];
  });
  afterEach(() => {
    for (const process of opened) process.close();
  });
  const open = (count: number): readonly MinuteWindows[] => {
    opened = Array.from({ length: count }, () => deployment.process());
    return opened;
  };
  const ask = (process: MinuteWindows, limit: MinuteLimit, times: number): Promise<Judged[]> =>
    Promise.all(Array.from({ length: times }, () => process.count('key', limit)));
  const letIn = (all: readonly Judged[]): number => all.filter(({ isIn }) => isIn).length;

  it('enforce a small limit exactly with ten processes: 20 requests, not 200', async () => {
    const all = await Promise.all(open(10).map((process) => ask(process, exactly(20), 30)));
    expect(letIn(all.flat())).to.equal(20);
  });
  it('give the whole limit to one process if only it serves the key', async () => {
    const [only] = open(10);
    const lefts = (await ask(only as MinuteWindows, exactly(600), 601)).map(({ isIn, left }) => [isIn, left]);
    expect(lefts.slice(0, 2)).to.deep.equal([
      [true, 599],
      [true, 598],
    ]);
    expect(lefts.slice(-2)).to.deep.equal([
      [true, 0],
      [false, 0],
    ]);
  });
  it('use fewer than 30 batches for 600 consecutive requests, and never a batch within a request', async () => {
    const [only] = open(1);
    for (let i = 0; i < 600; i++) {
      expect((await (only as MinuteWindows).count('key', { perMinute: 600, credit: 2 })).isIn).to.equal(true);
      deployment.nowMs += 50;
      only?.tick();
      await settled();
    }
    expect(deployment.batches).to.be.below(30);
  });
  it('don’t wait for the database with a rarely used key, and include it in the next batch', async () => {
    const [only, other] = open(2);
    const limit = { perMinute: 600, credit: 2 };
    for (let i = 0; i < 10; i++) {
      expect(only?.count('key', limit)).not.to.be.instanceOf(Promise);
      deployment.nowMs += 4_000;
      only?.tick();
      await settled();
    }
    expect((await (other as MinuteWindows).count('key', limit)).left).to.equal(599); // on credit: it hasn’t asked the database yet
    other?.tick();
    await settled();
    expect((await (other as MinuteWindows).count('key', limit)).left).to.be.within(570, 586);
  });
  it('return unused shares, so other processes can use them', async () => {
    const [first, second] = open(2) as readonly [MinuteWindows, MinuteWindows];
    const limit = exactly(100);
    expect(letIn(await ask(first, limit, 50))).to.equal(50);
    const before = await ask(second, limit, 50);
    expect(letIn(before)).to.be.below(50);
    deployment.nowMs += 2_000;
    first.tick();
    await settled();
    second.tick();
    await settled();
    expect(letIn(before) + letIn(await ask(second, limit, 50))).to.equal(48); // The first process keeps 2 % for itself.
  });
  it('keep shares that are being returned, so that no request within the limit is rejected meanwhile', async () => {
    const [only] = open(1) as readonly [MinuteWindows];
    await ask(only, exactly(100), 10);
    deployment.nowMs += 2_000;
    deployment.held = [];
    only.tick();
    await settled();
    const waiting = ask(only, exactly(100), 91);
    for (let i = 0; i < 10; i++) {
      for (const answer of deployment.held.splice(0)) answer();
      await settled();
    }
    deployment.held = null;
    const all = await waiting;
    expect([letIn(all), all[0]?.left]).to.deep.equal([90, 89]);
  });
  it('start a minute with the first request and end it for all processes at once, with a full limit afterwards', async () => {
    const [first, second] = open(2) as readonly [MinuteWindows, MinuteWindows];
    await ask(first, exactly(5), 5);
    deployment.nowMs += 40_000;
    const [refused] = await ask(second, exactly(5), 1);
    expect(refused).to.deep.equal({ isIn: false, left: 0, isFirst: true, secondsLeft: 20 });
    expect((await ask(second, exactly(5), 1))[0]).to.deep.equal({ ...refused, isFirst: false });
    deployment.nowMs += 19_999;
    expect(letIn([...(await ask(first, exactly(5), 5)), ...(await ask(second, exactly(5), 5))])).to.equal(0);
    deployment.nowMs += 1;
    expect(letIn([...(await ask(first, exactly(5), 9)), ...(await ask(second, exactly(5), 9))])).to.equal(5);
  });
  it('count a request in the next minute if the minute ended while it waited', async () => {
    const [first] = open(1) as readonly [MinuteWindows];
    await ask(first, exactly(9), 9);
    deployment.nowMs += 59_999;
    deployment.held = [];
    const waiting = ask(first, exactly(15), 4);
    await settled();
    deployment.nowMs += 1;
    for (let i = 0; i < 10; i++) {
      for (const answer of deployment.held.splice(0)) answer();
      await settled();
    }
    deployment.held = null;
    expect(letIn(await waiting)).to.equal(4);
  });

  describe('while the database is away', () => {
    it('are counted by each process up to its limit, and reported once the database is back', async () => {
      const [first, second] = open(2) as readonly [MinuteWindows, MinuteWindows];
      expect(letIn(await ask(first, exactly(30), 10))).to.equal(10);
      deployment.isAway = true;
      expect(letIn(await ask(first, exactly(30), 50))).to.equal(20);
      expect(letIn(await ask(second, exactly(30), 50))).to.equal(30);
      deployment.isAway = false;
      deployment.nowMs += 1_000;
      for (const process of [first, second]) process.tick();
      await settled();
      const third = deployment.process();
      opened = [...opened, third];
      expect(letIn(await ask(third, exactly(30), 5))).to.equal(0);
    });
    it('query it once a second, however many requests arrive', async () => {
      const [only] = open(1) as readonly [MinuteWindows];
      deployment.isAway = true;
      for (let i = 0; i < 50; i++) {
        await ask(only, exactly(1_000), 3);
        deployment.nowMs += 100;
        only.tick();
        await settled();
      }
      expect(deployment.batches).to.be.within(4, 6);
    });
    it('don’t wait for a late answer', async () => {
      const [only] = open(1) as readonly [MinuteWindows];
      deployment.held = [];
      const waiting = ask(only, exactly(3), 2);
      await settled();
      deployment.nowMs += 500;
      only.tick();
      expect(letIn(await waiting)).to.equal(2);
      expect(letIn(await ask(only, exactly(3), 5))).to.equal(1);
      expect(deployment.batches).to.equal(1);
    });
    it('don’t wait once the process stops', async () => {
      const [only] = open(1) as readonly [MinuteWindows];
      deployment.held = [];
      const waiting = ask(only, exactly(3), 5);
      await settled();
      only.close();
      expect(letIn(await waiting)).to.equal(3);
    });
  });

  it('take nothing from the next minute when an answer arrives after the minute ended', async () => {
    const limit = { perMinute: 300, credit: 2 };
    const [only] = open(1) as readonly [MinuteWindows];
    expect((await only.count('key', limit)).left).to.equal(299);
    only.tick();
    await settled();
    deployment.held = [];
    for (let left = 298; left >= 294; left--) expect((await only.count('key', limit)).left).to.equal(left);
    only.tick();
    expect([deployment.batches, deployment.held.length]).to.deep.equal([2, 1]);
    deployment.nowMs += 60_000;
    expect((await only.count('key', limit)).left).to.equal(299);
    for (const answer of deployment.held.splice(0)) answer();
    await settled();
    expect((await only.count('key', limit)).left).to.equal(298);
  });

  it('request no shares for forgotten keys', async () => {
    const few = new MinuteWindows({ remembered: 2, takeShares: deployment.takeShares, now: () => deployment.nowMs });
    opened = [few];
    for (let i = 0; i < 50; i++) few.count(`key ${i}`, { perMinute: 300, credit: 1 });
    few.tick();
    await settled();
    expect(deployment.batches).to.equal(1);
    expect((await few.count('key 0', { perMinute: 300, credit: 1 })).left).to.equal(299);
  });

  const STEP = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('ask' as const),
        of: fc.nat(9),
        times: fc.integer({ min: 1, max: 40 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 50, 100, 700, 2_100) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('hold' as const) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('answer' as const) }) },
  );
  it('never exceed the limit plus each process’s credit, finally use nearly all of it, and never report growing remainders', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 1, max: 400 }),
        fc.integer({ min: 0, max: 3 }),
        fc.array(STEP, { maxLength: 40 }),
        async (count, perMinute, credit, steps) => {
          const world = new Deployment();
          const limit = { perMinute, credit };
          const processes = Array.from({ length: count }, () => world.process());
          const least = processes.map(() => Number.POSITIVE_INFINITY);
          let accepted = 0;
          const waiting: Promise<void>[] = [];
          const askOne = (n: number): void => {
            const judged = (processes[n] as MinuteWindows).count('key', limit);
            const take = ({ isIn, left }: Judged) => {
              if (isIn) accepted += 1;
              expect(left).to.be.at.most(least[n] as number);
              least[n] = left;
            };
            if (judged instanceof Promise) waiting.push(judged.then(take));
            else take(judged);
          };
          const answer = async (): Promise<void> => {
            for (const give of world.held?.splice(0) ?? []) give();
            await settled();
          };
          const began = world.nowMs;
          for (const step of steps) {
            if (step.kind === 'ask') for (let i = 0; i < step.times; i++) askOne(step.of % count);
            if (step.kind === 'hold') world.held ??= [];
            if (step.kind === 'answer') await answer();
            // Answers arrive before they count as late; this property does not cover late answers.
            if (step.kind === 'pass' && world.nowMs + step.ms < began + 30_000) {
              while (step.ms > 100 && (world.held?.length ?? 0) > 0) await answer();
              world.nowMs += step.ms;
              for (const process of processes) process.tick();
            }
            await settled();
            if (step.kind === 'pass') await answer();
          }
          for (let i = 0; i < 20 && world.held !== null; i++) await answer();
          world.held = null;
          // In the end, one process requests the whole limit.
          for (let round = 0; round < 12; round++) {
            world.nowMs += 2_100;
            for (const process of processes) process.tick();
            await settled();
            for (let i = 0; i < perMinute; i++) askOne(0);
            await settled();
          }
          await Promise.all(waiting);
          for (const process of processes) process.close();
          expect(accepted).to.be.at.most(perMinute + count * credit);
          expect(accepted).to.be.at.least(perMinute - (count - 1) * Math.max(credit, Math.floor(perMinute / 50)));
        },
      ),
      { numRuns: 200 },
    );
  });
});
