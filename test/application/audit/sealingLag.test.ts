// The gauge of sealing reads each delivery after the last leaf once, and a bounded number of them at a time.
import { expect } from 'chai';
import { EVENTS_MAX, SealingLag } from '../../../application/audit/sealingLag.ts';
import { UnknownPosition } from '../../../application/ports/eventStore.ts';

const PAGE = 1_000;
const NOW = Date.parse('2026-11-29T08:00:00.000Z');
const DELIVERY = 'webhookDelivery-1';
const PAYMENT = 'payment-1';

class World {
  /** Streams by position; undefined: deleted. */
  readonly log: (string | undefined)[] = [];
  sealed: number | null = null;
  reads = 0;
  readonly lag = new SealingLag({
    auditClock: { now: () => NOW },
    auditTree: { find: async () => ({ position: this.sealed === null ? null : String(this.sealed) }) },
    store: { subscribe: ({ after }: { after: string | null }) => this.#subscribe(after) },
  } as never);

  add(stream: string, count = 1): void {
    for (let n = 0; n < count; n++) this.log.push(stream);
  }

  async *#subscribe(after: string | null) {
    const from = after === null ? 0 : Number(after) + 1;
    if (after !== null && this.log[Number(after)] === undefined) throw new UnknownPosition(after);
    for (let at = from; at < this.log.length; at += PAGE) {
      const page = this.log.slice(at, at + PAGE);
      this.reads += page.length;
      const recordedAt = new Date(NOW - 60_000).toISOString();
      const events = page.flatMap((stream, n) => (stream ? [{ stream, position: String(at + n), recordedAt }] : []));
      yield { kind: 'events', events, position: String(at + page.length - 1) };
    }
    yield { kind: 'caughtUp', position: this.log.length === 0 ? null : String(this.log.length - 1) };
  }
  /** Returns the lag, and how many events were read for it. */
  async look(): Promise<readonly [number | null, number]> {
    this.reads = 0;
    return [await this.lag.seconds(), this.reads];
  }
}

describe('the lag of sealing', () => {
  it('is 0 for an empty log, and the age of the first event that is not sealed', async () => {
    const world = new World();
    expect(await world.look()).to.deep.equal([0, 0]);
    world.add(PAYMENT);
    expect(await world.look()).to.deep.equal([60, 1]);
    world.sealed = 0;
    expect(await world.look()).to.deep.equal([0, 0]);
  });

  it('reads each delivery once', async () => {
    const world = new World();
    world.add(PAYMENT);
    world.sealed = 0;
    world.add(DELIVERY, 2_500);
    expect(await world.look()).to.deep.equal([0, 2_500]);
    expect(await world.look()).to.deep.equal([0, 0]);
    world.add(DELIVERY, 3);
    world.add(PAYMENT);
    expect(await world.look()).to.deep.equal([60, 4]);
    expect(await world.look()).to.deep.equal([60, 4]);
  });

  it('reads a bounded number of them at a time', async () => {
    const world = new World();
    world.add(DELIVERY, 2 * EVENTS_MAX);
    world.add(PAYMENT);
    expect(await world.look()).to.deep.equal([0, EVENTS_MAX]);
    expect(await world.look()).to.deep.equal([0, EVENTS_MAX]);
    expect(await world.look()).to.deep.equal([60, 1]);
  });

  it('begins again if the last delivery it read has expired, and is null if the leaf is missing', async () => {
    const world = new World();
    world.add(PAYMENT);
    world.sealed = 0;
    world.add(DELIVERY);
    expect(await world.look()).to.deep.equal([0, 1]);
    world.log[1] = undefined;
    world.add(PAYMENT);
    expect((await world.look())[0]).to.equal(60);
    world.log[0] = undefined;
    world.lag.forget();
    expect((await world.look())[0]).to.equal(null);
  });
});
