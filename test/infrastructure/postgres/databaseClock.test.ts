// All hosts use the database's clock, whatever the host's own clock says and whenever it is changed.
import { expect } from 'chai';
import fc from 'fast-check';
import { DatabaseClock, SKEW_MS_MAX } from '../../../infrastructure/postgres/databaseClock.ts';

const BEGAN_MS = Date.parse('2026-11-21T13:00:00.000Z');

/** A host and a database on a timeline that the test moves. */
class World {
  /** Milliseconds since the start. */
  atMs = 0;
  /** The difference of the host's wall clock from the database's. */
  skewMs: number;
  /** The latency of the request and of the answer. */
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

  it('equals the host’s correct clock to the millisecond, however slow the answers', async () => {
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
    it(`is the database’s on a host that is ${says} it, which is reported until the host is right`, async () => {
      const world = new World(skewMs);
      const clock = await opened(world);
      expect(clock.now()).to.equal(world.databaseNow);
      const fault = `this machine's clock is ${says} the database's; run NTP on both`;
      expect(clock.fault()).to.equal(fault);
      await clock.measure();
      world.skewMs = 0;
      expect(clock.now()).to.equal(world.databaseNow); // before the next measurement
      expect(clock.fault()).to.equal(fault);
      await clock.measure();
      expect([clock.fault(), clock.now()]).to.deep.equal([null, world.databaseNow]);
      expect(world.faults).to.deep.equal([fault, null]);
    });

  it('tolerates a difference of up to 2 s without a report', async () => {
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

  it('reports no difference because of one slow answer', async () => {
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
    it(`reports no difference if all latency is in one direction (${latency.join(', ')} ms)`, async () => {
      const world = new World();
      world.latency = latency;
      expect([(await opened(world)).fault(), world.faults]).to.deep.equal([null, []]);
    });
  it('does not move if the host’s clock is set between two measurements', async () => {
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

  it('follows a change of the database’s clock, but waits instead of a small step back', async () => {
    const world = new World();
    const clock = await opened(world);
    const before = clock.now();
    world.atMs -= 500; // this also moves the steady clock, which can't happen in reality, so only the database's clock and this one step
    await clock.measure();
    expect(clock.now()).to.equal(before);
    world.atMs -= 3_600_000;
    await clock.measure();
    expect(clock.now()).to.equal(world.databaseNow);
  });

  it('never differs from the database by more than an answer takes, and never runs backwards (law)', async () => {
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
          // A step of the wall clock too small to count as a change adds to the difference.
          expect(Math.abs(now - world.databaseNow)).to.be.at.most(2 * uncertainMs + 101);
          last = now;
        }
      }),
    );
  });
});
