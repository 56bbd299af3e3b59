// The sealing lag reads each webhook delivery after the last leaf once, in bounded batches. The lag of a consumer reads a single event.
import { expect } from 'chai';
import { auditStatus, type OperateAuditNeeds } from '../../../application/audit/operateAudit.ts';
import { sealingLagOf } from '../../../application/audit/sealingLag.ts';
import { EVENTS_MAX } from '../../../application/core/lagAfter.ts';
import { listConsumers } from '../../../application/operations/consumers.ts';
import { UnknownPosition } from '../../../application/ports/eventStore.ts';

const PAGE = 1_000;
const NOW = Date.parse('2026-11-29T08:00:00.000Z');
const DELIVERY = 'webhookDelivery-1';
const PAYMENT = 'payment-1';

class World {
  /** The stream of the event at each position, or undefined if the event was deleted. */
  readonly log: (string | undefined)[] = [];
  sealed: number | null = null;
  reads = 0;
  restored: () => void = () => undefined;
  readonly needs = {
    auditClock: { now: () => NOW },
    auditTree: {
      find: async () => ({ position: this.sealed === null ? null : String(this.sealed) }),
      latest: async () => null,
    },
    auditKeys: { list: async () => [] },
    auditSettings: { anchors: [], witnesses: [] },
    store: {
      head: async () => String(this.log.length - 1),
      subscribe: ({ after, batchSize = PAGE }: { after: string | null; batchSize?: number }) =>
        this.#subscribe(after, batchSize),
      onRestored: (listener: () => void) => {
        this.restored = listener;
      },
    },
  } as unknown as OperateAuditNeeds;

  add(stream: string, count = 1): void {
    for (let n = 0; n < count; n++) this.log.push(stream);
  }

  async *#subscribe(after: string | null, pageSize: number) {
    const from = after === null ? 0 : Number(after) + 1;
    if (after !== null && this.log[Number(after)] === undefined) throw new UnknownPosition(after);
    for (let at = from; at < this.log.length; at += pageSize) {
      const page = this.log.slice(at, at + pageSize);
      this.reads += page.length;
      const recordedAt = new Date(NOW - 60_000).toISOString();
      const events = page.flatMap((stream, n) => (stream ? [{ stream, position: String(at + n), recordedAt }] : []));
      yield { kind: 'events', events, position: String(at + page.length - 1) };
    }
    yield { kind: 'caughtUp', position: this.log.length === 0 ? null : String(this.log.length - 1) };
  }
  /** Returns the lag and the number of events read for it. */
  async look(): Promise<readonly [number | null, number]> {
    this.reads = 0;
    return [await sealingLagOf(this.needs).secondsSoon(), this.reads];
  }
}

describe('the sealing lag', () => {
  it('is 0 for an empty or fully sealed log, and otherwise the age of the first unsealed event', async () => {
    const world = new World();
    expect(await world.look()).to.deep.equal([0, 0]);
    world.add(PAYMENT);
    expect(await world.look()).to.deep.equal([60, 1]);
    world.sealed = 0;
    expect(await world.look()).to.deep.equal([0, 0]);
  });

  it('reads each webhook delivery once', async () => {
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

  it('reads a bounded number of events per call', async () => {
    const world = new World();
    world.add(DELIVERY, 2 * EVENTS_MAX);
    world.add(PAYMENT);
    expect(await world.look()).to.deep.equal([0, EVENTS_MAX]);
    expect(await world.look()).to.deep.equal([0, EVENTS_MAX]);
    expect(await world.look()).to.deep.equal([60, 1]);
  });

  it('is complete in the audit status, however many webhook deliveries come first', async () => {
    const world = new World();
    world.add(DELIVERY, 2 * EVENTS_MAX + 1);
    expect((await auditStatus(world.needs)()).lagSeconds).to.equal(0);
    expect(world.reads).to.equal(2 * EVENTS_MAX + 1);
    world.add(DELIVERY, 2 * EVENTS_MAX);
    world.add(PAYMENT);
    expect((await auditStatus(world.needs)()).lagSeconds).to.equal(60);
  });

  it('starts over if the last delivery it read was deleted, and is null if the sealed leaf is missing', async () => {
    const world = new World();
    world.add(PAYMENT);
    world.sealed = 0;
    world.add(DELIVERY);
    expect(await world.look()).to.deep.equal([0, 1]);
    world.log[1] = undefined;
    world.add(PAYMENT);
    expect((await world.look())[0]).to.equal(60);
    world.log[0] = undefined;
    world.restored();
    expect((await world.look())[0]).to.equal(null);
  });

  it('is shared by the gauge and the audit status without reading again', async () => {
    const world = new World();
    world.add(DELIVERY, 2_500);
    expect(await world.look()).to.deep.equal([0, 2_500]);
    world.reads = 0;
    expect((await auditStatus(world.needs)()).lagSeconds).to.equal(0);
    expect(world.reads).to.equal(0);
  });
});

describe('the lag of a read model or process', () => {
  const lagAt = async (world: World, position: string | null): Promise<number | null | undefined> => {
    const standings = async () => new Map([['payments', { position, partitions: [], version: 1 }]]);
    const list = listConsumers({ ...world.needs, consumers: { standings } } as never);
    return (await list()).consumers[0]?.lagSeconds;
  };

  it('is the age of the next event, including webhook deliveries, and reads no other event', async () => {
    const world = new World();
    world.add(PAYMENT);
    world.add(DELIVERY, 2_500);
    expect(await lagAt(world, '0')).to.equal(60);
    expect(world.reads).to.equal(1);
    expect(await lagAt(world, '2500')).to.equal(0);
    expect(world.reads).to.equal(1);
  });

  it('is null if its position no longer exists in the log', async () => {
    const world = new World();
    world.add(PAYMENT, 2);
    world.log[0] = undefined;
    expect(await lagAt(world, '0')).to.equal(null);
  });
});
