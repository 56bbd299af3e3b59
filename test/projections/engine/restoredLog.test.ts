// Running consumers when the log is restored from an older backup: they continue if their checkpoints were restored with it, and stop if
// they have taken events that no longer exist.
import { expect } from 'chai';
import type { Position } from '../../../application/ports/eventStore.ts';
import { liveSchema } from '../../../projections/engine/projection.ts';
import { rebuild } from '../../../projections/engine/rebuild.ts';
import { ensureLive } from '../../../projections/engine/schemaVersions.ts';
import { verify } from '../../../projections/engine/verify.ts';
import { paymentsProjection } from '../../../projections/payments/projection.ts';
import { loseFacts } from '../../support/lostFacts.ts';
import { Followed, Scene, taker } from './scene.ts';

/** A payment has three events. */
const PAYMENT_EVENTS = 3;
const at = (place: number): Position => String(place).padStart(19, '0') as Position;

describe('consumers of a restored log', () => {
  let scene: Scene;
  let other: Scene;
  let followed: Followed[];
  beforeEach(async () => {
    scene = await Scene.open();
    other = await scene.elsewhere();
    followed = [];
  });
  afterEach(async () => {
    for (const each of followed) await each.stop();
    await scene.close();
  });
  const follow = (names: readonly string[] = ['a', 'b']): Followed => {
    const started = new Followed(scene, { consumers: names.map((name) => taker(name)) });
    followed.push(started);
    return started;
  };
  const appendElsewhere = (payments: number) => other.appendPayments(payments);

  it('continue with new events if their checkpoints were restored too', async () => {
    const consumers = follow();
    await scene.appendPayments(1);
    await consumers.caughtUp();
    const { rows: saved } = await scene.log.sql.query('SELECT * FROM subscriptions.checkpoints ORDER BY name');
    await scene.appendPayments(1);
    await consumers.caughtUp();
    for (let twice = 0; twice < 2; twice++) {
      await scene.log.sql.query('DELETE FROM taken WHERE position > $1', [at(PAYMENT_EVENTS)]);
      for (const { name, position, event_id } of saved)
        await scene.log.sql.query('UPDATE subscriptions.checkpoints SET position = $2, event_id = $3 WHERE name = $1', [
          name,
          position,
          event_id,
        ]);
      await scene.log.restore(at(PAYMENT_EVENTS));
      await appendElsewhere(2);
      await consumers.caughtUp();
      for (const name of ['a', 'b']) expect(await scene.taken(name)).to.deep.equal(await scene.positions());
      expect(await scene.positions()).to.have.length(3 * PAYMENT_EVENTS);
    }
    expect(consumers.faults).to.deep.equal([]);
    expect(consumers.parked).to.deep.equal([]);
  });

  for (const payments of [0, 1, 3])
    it(`stop if their checkpoints were not restored, with ${payments} new payments in the log`, async () => {
      const consumers = follow();
      await scene.appendPayments(2);
      await consumers.caughtUp();
      const taken = await scene.taken('a');
      await scene.log.restore(at(PAYMENT_EVENTS));
      await appendElsewhere(payments);
      const { name, message } = await consumers.mismatch;
      expect(name).to.equal('CheckpointMismatch');
      expect(message).to.match(/^a has followed the event store up to /);
      expect(message)
        .to.contain(at(2 * PAYMENT_EVENTS))
        .and.to.contain('was a backup restored');
      await consumers.stop();
      for (const each of ['a', 'b']) expect(await scene.taken(each)).to.deep.equal(taken);
      expect(consumers.subscriptions.isLeading).to.equal(false);
      const again = follow();
      expect((await again.mismatch).message).to.equal(message);
    });

  it('stop if another event now has the checkpoint’s position, recognized by its id', async () => {
    const consumers = follow(['a']);
    await scene.appendPayments(1);
    await consumers.caughtUp();
    await consumers.stop();
    const { rows } = await scene.log.sql.query<{ id: string }>(
      'SELECT id FROM event_store.events ORDER BY position DESC LIMIT 1',
    );
    expect(await scene.eventId('a')).to.equal(rows[0]?.id);
    await loseFacts(scene.log.sql, 'UPDATE event_store.events SET id = gen_random_uuid() WHERE position = $1', [
      PAYMENT_EVENTS,
    ]);
    expect((await follow(['a']).mismatch).message).to.contain(
      `up to event ${rows[0]?.id} at ${at(PAYMENT_EVENTS)}, but there it has event `,
    );
  });

  it('continue from a checkpoint without an event id, and store the id with the next move', async () => {
    const before = follow(['a']);
    await scene.appendPayments(1);
    await before.caughtUp();
    await before.stop();
    await scene.log.sql.query('UPDATE subscriptions.checkpoints SET event_id = NULL');
    const after = follow(['a']);
    await scene.appendPayments(1);
    await after.caughtUp();
    expect(await scene.eventId('a')).to.equal(await scene.store.eventIdAt(at(2 * PAYMENT_EVENTS)));
    expect(await scene.taken('a')).to.deep.equal(await scene.positions());
  });

  it('are rebuilt correctly over a copy that contains lost events', async () => {
    const session = await scene.openSession('test');
    await session.transaction((tx) => ensureLive(tx, paymentsProjection, scene.store.storeId));
    await session.close();
    await scene.appendPayments(2);
    await rebuild([paymentsProjection], scene, scene.openSession);
    expect(await scene.eventId('payments')).to.equal(await scene.store.eventIdAt(at(2 * PAYMENT_EVENTS)));
    for (const payments of [0, 1]) {
      await scene.log.restore(at(PAYMENT_EVENTS));
      await appendElsewhere(payments);
      const { differenceCount } = await verify([paymentsProjection], scene, scene.openSession);
      expect(differenceCount).to.be.above(0);
      await rebuild([paymentsProjection], scene, scene.openSession);
      const { differences } = await verify([paymentsProjection], scene, scene.openSession);
      expect(differences).to.deep.equal([]);
      const { rows } = await scene.log.sql.query(`SELECT FROM ${liveSchema('payments')}.payments`);
      expect(rows).to.have.length(1 + payments);
      if (payments === 0) await scene.appendPayments(1);
      if (payments === 0) await rebuild([paymentsProjection], scene, scene.openSession);
    }
  });
});
