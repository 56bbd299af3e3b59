// Facts are never deleted: the database rejects every deletion except of whole streams of deliveries (ADR 0008).

import { expect } from 'chai';
import type { EndedDelivery } from '../../../../application/ports/deliveryRetention.ts';
import type { EventStore } from '../../../../application/ports/eventStore.ts';
import { CATEGORIES } from '../../../../domain/aggregates.ts';
import { readStreamName } from '../../../../domain/kernel/aggregate.ts';
import type { DeliveryId, PaymentId, StreamName } from '../../../../domain/kernel/ids.ts';
import { deleteDeliveries } from '../../../../infrastructure/eventStore/postgres/deletion.ts';
import { collect, newEvents, newStream } from '../../../conformance/eventStore/harness.ts';
import { createPostgresEventLog, type PostgresEventLog } from '../../../support/postgresEventLog.ts';

describe('the log in Postgres on deletion', () => {
  let log: PostgresEventLog;
  let store: EventStore;
  before(async () => {
    log = await createPostgresEventLog();
    store = await log.connect();
  });
  after(() => log.dispose());

  const written = async (category: string, count: number): Promise<StreamName> => {
    const stream = newStream(category);
    expect((await store.append(stream, -1, newEvents(count))).ok).to.equal(true);
    return stream;
  };
  /** Returns the database's error, or null if the statement succeeded. */
  const refusal = (text: string, values: unknown[] = []): Promise<string | null> =>
    log.sql.query(text, values).then(
      () => null,
      ({ code, message }: Error & { code: string }) => `${code} ${message}`,
    );
  const everything = async () => (await log.sql.query('SELECT count(*)::int AS n FROM event_store.events')).rows[0].n;

  const MONEY = 'QU002 facts are never deleted: only streams of deliveries are';
  for (const category of CATEGORIES.filter((each) => each !== 'webhookDelivery'))
    it(`rejects the deletion of a ${category}, alone and among deliveries`, async () => {
      const [delivery, other] = [await written('webhookDelivery', 1), await written(category, 2)];
      await written('account', 1);
      const before = await everything();
      for (const streams of [[other], [delivery, other]])
        expect(await refusal('DELETE FROM event_store.events WHERE stream = ANY ($1)', [streams])).to.equal(MONEY);
      expect(await everything()).to.equal(before);
    });

  it('rejects a deletion of all events', async () => {
    const before = await everything();
    expect(await refusal('DELETE FROM event_store.events')).to.equal(MONEY);
    expect(await refusal('TRUNCATE event_store.events')).to.equal('QU002 facts are never deleted');
    expect(await everything()).to.equal(before);
  });

  it('rejects a deletion of part of a stream and of the newest event', async () => {
    const stream = await written('webhookDelivery', 2);
    const newest = await written('webhookDelivery', 1);
    const deleteAt = 'DELETE FROM event_store.events WHERE stream = $1 AND revision = $2';
    for (const revision of [0, 1])
      expect(await refusal(deleteAt, [stream, revision])).to.equal('QU002 a stream is deleted as a whole');
    expect(await refusal(deleteAt, [newest, 0])).to.equal(
      'QU002 the newest event is never deleted: its position would be given a second time',
    );
    expect((await collect(store.readStream(stream))).length).to.equal(2);
    await written('payment', 1);
    expect(await refusal('DELETE FROM event_store.events WHERE stream = $1', [stream])).to.equal(null);
    expect(await refusal(deleteAt, [newest, 0])).to.equal(null);
  });

  it('deletes only deliveries, whatever IDs are given', async () => {
    const payment = await written('payment', 1);
    await written('account', 1);
    const { id } = readStreamName(payment);
    const before = await everything();
    const ids = [id, payment, `webhookDelivery-${id}`, '', `x' OR stream LIKE 'payment-%`] as DeliveryId[];
    await log.transaction((tx) =>
      deleteDeliveries(
        ids.map((one) => ({ id: one, revision: 0 })),
        '9999-12-31',
        tx,
      ),
    );
    expect(await everything()).to.equal(before);
    // @ts-expect-error The id of a payment is none of a delivery.
    const wrong: EndedDelivery = { id: id as PaymentId, revision: 0 };
    expect(wrong.id).to.equal(id);
  });

  it('rejects a deletion from a sealed log, and in a transaction that can’t see concurrent appends', async () => {
    const stream = await written('webhookDelivery', 1);
    await written('account', 1);
    const ended = [{ id: readStreamName(stream).id as DeliveryId, revision: 0 }];
    const tried = (begin?: string) =>
      log
        .transaction(async (tx) => {
          if (begin) await tx.query(begin);
          return deleteDeliveries(ended, '9999-12-31', tx);
        })
        .then(
          () => null,
          ({ code }: Error & { code: string }) => code,
        );
    await log.sql.query("UPDATE event_store.store SET use = 'sealed', other_id = 'x', other_address = 'y'");
    expect(await tried()).to.equal('QU001');
    await log.sql.query("UPDATE event_store.store SET use = 'inUse', other_id = NULL, other_address = NULL");
    expect(await tried('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')).to.equal('25000');
    expect((await collect(store.readStream(stream))).length).to.equal(1);
    expect(await tried()).to.equal(null);
    expect(await collect(store.readStream(stream))).to.deep.equal([]);
  });
});
