// One clock for all hosts: whatever this host believes, and whenever somebody sets its clock, time is the database's.
import { expect } from 'chai';
import fc from 'fast-check';
import { DatabaseClock, SKEW_MS_MAX } from '../../../infrastructure/postgres/databaseClock.ts';

const BEGAN_MS = Date.parse('2026-11-21T13:00:00.000Z');

/** A host and a database on a line of time that the test moves. */
class World {
  /** Since the beginning. */
  atMs = 0;
  /** Of the wall clock of this host, against the database’s. */
  skewMs: number;
  /** On the way there, and back. */
  latency: readonly [number, number] = [0, 0];
  readonly faults: (string | null)[] = [];

  constructor(skewMs = 0) {
    this.skewMs = skewMs;
  }
  get databaseNow(): number {
    return BEGAN_MS + this.atMs;
  }
  open(): Promise<DatabaseClock> {
    return DatabaseClock.open({
      db: {
        query: async <Row>() => {
          this.atMs += this.latency[0];
          const rows = [{ now: this.databaseNow }] as Row[];
          this.atMs += this.latency[1];
          return { rows, rowCount: 1 };
        },
      },
      wallNow: () => this.databaseNow + this.skewMs,
      steadyNow: () => this.atMs + 77,
      onFault: (fault) => this.faults.push(fault),
      onError: () => undefined,
      everyMs: 1_000_000,
    });
  }
}

describe('the clock of the database', () => {
  const clocks: DatabaseClock[] = [];
  const opened = async (world: World): Promise<DatabaseClock> => {
    const clock = await world.open();
    clocks.push(clock);
    return clock;
  };
  afterEach(async () => {
    await Promise.all(clocks.splice(0).map((clock) => clock.close()));
  });

  it('is the host’s own to the millisecond where that is right, however slow the answers', async () => {
    const world = new World();
    world.latency = [3, 900];
    const clock = await opened(world);
    for (let n = 0; n < 5; n++) {
      world.atMs += 333;
      expect(clock.now()).to.equal(world.databaseNow);
      await clock.measure();
    }
    expect([clock.fault(), world.faults]).to.deep.equal([null, []]);
  });

  for (const [skewMs, says] of [
    [6_000, '6.0 s ahead of'],
    [-6_000, '6.0 s behind'],
  ] as const)
    it(`is the database’s on a host that is ${says} it, which says so, and again when it is right`, async () => {
      const world = new World(skewMs);
      const clock = await opened(world);
      expect(clock.now()).to.equal(world.databaseNow);
      const fault = `this machine's clock is ${says} the database's; run NTP on both`;
      expect(clock.fault()).to.equal(fault);
      await clock.measure();
      world.skewMs = 0;
      expect(clock.now()).to.equal(world.databaseNow); // before anybody has measured
      expect(clock.fault()).to.equal(fault);
      await clock.measure();
      expect([clock.fault(), clock.now()]).to.deep.equal([null, world.databaseNow]);
      expect(world.faults).to.deep.equal([fault, null]);
    });

  it('bears up to 2 s without a word, and no more', async () => {
    for (const [skewMs, isOff] of [
      [SKEW_MS_MAX, false],
      [-SKEW_MS_MAX, false],
      [SKEW_MS_MAX + 1, true],
      [-SKEW_MS_MAX - 1, true],
    ] as const) {
      const world = new World(skewMs);
      const clock = await opened(world);
      expect(clock.fault() !== null, String(skewMs)).to.equal(isOff);
      expect(clock.now()).to.equal(world.databaseNow);
    }
  });

  it('accuses nobody on the word of a slow answer', async () => {
    const world = new World(2_500);
    world.latency = [1_500, 0];
    const clock = await opened(world);
    expect(clock.fault()).to.equal(null);
    world.latency = [10, 10];
    await clock.measure();
    expect(clock.fault()).to.match(/2\.5 s ahead/);
  });

  for (const latency of [
    [0, 5_000],
    [5_000, 0],
  ] as const)
    it(`accuses nobody whose clock is right when all of a delay lies on one way (${latency.join(', ')} ms)`, async () => {
      const world = new World();
      world.latency = latency;
      expect([(await opened(world)).fault(), world.faults]).to.deep.equal([null, []]);
    });
  it('does not move when somebody sets the host’s clock between two measurements', async () => {
    const world = new World();
    const clock = await opened(world);
    for (const skewMs of [6_000, -6_000, 3_600_000, 0]) {
      world.skewMs = skewMs;
      world.atMs += 10;
      expect(clock.now()).to.equal(world.databaseNow);
      await clock.measure();
      world.atMs += 10;
      expect(clock.now()).to.equal(world.databaseNow);
    }
  });

  it('follows the database when that one is set, and waits out a small step back', async () => {
    const world = new World();
    const clock = await opened(world);
    const before = clock.now();
    world.atMs -= 500; // of both: the steady clock can’t do that, so that only the database’s and ours stepped
    await clock.measure();
    expect(clock.now()).to.equal(before);
    world.atMs -= 3_600_000;
    await clock.measure();
    expect(clock.now()).to.equal(world.databaseNow);
  });

  it('law: never farther from the database than half an answer takes, and never backwards, whatever happens to the host', async () => {
    const step = fc.record({
      passMs: fc.integer({ min: 0, max: 5_000 }),
      setMs: fc.option(fc.integer({ min: -100_000_000, max: 100_000_000 }), { nil: null, freq: 4 }),
      latency: fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 400 })),
      measures: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: -100_000, max: 100_000 }), fc.array(step), async (skewMs, steps) => {
        const world = new World(skewMs);
        const clock = await opened(world);
        let last = clock.now();
        let uncertainMs = 0;
        for (const { passMs, setMs, latency, measures } of steps) {
          world.atMs += passMs;
          if (setMs !== null) world.skewMs = setMs;
          world.latency = latency;
          if (measures) {
            await clock.measure();
            uncertainMs = Math.max(uncertainMs, (latency[0] + latency[1]) / 2);
          }
          const now = clock.now();
          expect(now).to.be.at.least(last);
          // A step of the wall below what counts as set adds to it.
          expect(Math.abs(now - world.databaseNow)).to.be.at.most(2 * uncertainMs + 101);
          last = now;
        }
      }),
    );
  });
});
