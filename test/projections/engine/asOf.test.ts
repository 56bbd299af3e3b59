// Building, resuming, rejecting and dropping read models as of a moment. test/system/asOf.test.ts compares them with the live ones.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Position } from '../../../application/ports/eventStore.ts';
import { AlreadyRunning, AsOfRefused } from '../../../application/ports/readModelWork.ts';
import type { OpenLeaderSession } from '../../../application/ports/sql.ts';
import { LOG_CONSUMER } from '../../../domain/logConsumer/logConsumer.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { buildAsOf, dropAsOf, lastRecordedBy } from '../../../projections/engine/asOf.ts';
import { paymentsProjection } from '../../../projections/payments/projection.ts';
import { walletProjection } from '../../../projections/wallet/projection.ts';
import { ACCOUNT_ID, at } from '../../support/samples.ts';
import { UNKNOWN } from '../../world/poison.ts';
import { interceptingCommits, newPaymentId, Scene } from './scene.ts';

const PROJECTIONS = [paymentsProjection, walletProjection];
const SCHEMA = 'back_then';
const NEVER = new AbortController().signal;
/** A payment has three events; a batch has 1,000. */
const TWO_BATCHES = 400;

describe('read models as of a moment', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
  });
  afterEach(() => scene.close());

  const head = async () => (await scene.store.head()) as Position;
  const build = (asOf: Position, over: Partial<Parameters<typeof buildAsOf>[1]> = {}, projections = PROJECTIONS) =>
    buildAsOf(projections, { ...scene, openSession: scene.openSession, schema: SCHEMA, asOf, ...over });
  const rows = async (schema = SCHEMA) => {
    const all: Record<string, readonly string[]> = {};
    for (const { tables } of PROJECTIONS)
      for (const { name, key } of tables) {
        const text = `SELECT t::text AS row FROM ${schema}.${name} t ORDER BY ${key}`;
        all[name] = (await scene.log.sql.query<{ row: string }>(text)).rows.map(({ row }) => row);
      }
    return all;
  };
  const sql = async (text: string) => (await scene.log.sql.query(text)).rows;
  const refused = async (work: Promise<unknown>, kind: new () => Error, words: string) => {
    const error = await work.then(
      () => null,
      (reason: Error) => reason,
    );
    expect(error).to.be.instanceOf(kind);
    expect(error?.message).to.contain(words);
  };

  it('contain the events up to the position, and change no live copy, checkpoint or parked stream', async () => {
    await scene.appendPayments(3);
    const then = await head();
    await scene.appendPayments(2);
    expect(await build(then)).to.deep.equal([
      { readModel: 'payments', events: 9, parked: 0 },
      { readModel: 'wallet', events: 3, parked: 0 },
    ]);
    const { payments, entries } = await rows();
    expect([payments?.length, entries?.length]).to.deep.equal([3, 3]);
    expect(await sql("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rm\\_%'")).to.deep.equal([]);
    expect(await sql('SELECT name FROM subscriptions.checkpoints')).to.deep.equal([]);
    expect(await sql('SELECT stream FROM subscriptions.parked_streams')).to.deep.equal([]);
  });

  it('are the same when built again, accept another read model, and reject another moment', async () => {
    await scene.appendPayments(3);
    const then = await head();
    const once = await build(then, {}, [paymentsProjection]);
    expect(await build(then, {}, [paymentsProjection])).to.deep.equal(once);
    expect((await build(then)).map(({ readModel }) => readModel)).to.deep.equal(['payments', 'wallet']);
    const before = await rows();
    await scene.appendPayments(1);
    await refused(build(await head()), AsOfRefused, `holds read models as of ${then}`);
    expect(await rows()).to.deep.equal(before);
  });

  it('resume after an abort between batches and a failure within one, with the same result', async () => {
    await scene.appendPayments(TWO_BATCHES);
    const then = await head();
    await build(then, { schema: 'whole' });
    const stop = new AbortController();
    let batches = 0;
    const onTaken = () => {
      if (++batches === 1) stop.abort();
    };
    await refused(build(then, { signal: stop.signal, onTaken }), Error, 'stopped');
    const [{ position } = { position: null }] = (await sql(
      `SELECT position FROM ${SCHEMA}.quita_as_of WHERE read_model = 'payments'`,
    )) as { position: string | null }[];
    expect(position).to.not.be.oneOf([null, then]);
    let commits = 0;
    const failing: OpenLeaderSession = interceptingCommits(scene.openSession, () => {
      if (++commits === 2) throw new Error('killed before the commit'); // The first commit only checks whether the copy exists.
    });
    await refused(build(then, { openSession: failing }), Error, 'killed before the commit');
    expect(await build(then)).to.deep.equal(await build(then, { schema: 'whole' }));
    expect(await rows()).to.deep.equal(await rows('whole'));
  });

  it('park and report a stream with an unreadable event, every time they are built', async () => {
    const paymentId = await scene.appendPayment();
    const before = await head();
    const event = { id: randomUUID(), type: UNKNOWN, data: '{}' };
    const metadata = JSON.stringify({ account: ACCOUNT_ID, mode: 'test', v: 1 });
    await scene.store.append(PAYMENT.stream(paymentId), 2, [{ ...event, metadata }]);
    await scene.appendPayment();
    const then = await head();
    const parked = [
      { readModel: 'payments', events: 7, parked: 1 },
      { readModel: 'wallet', events: 3, parked: 1 },
    ];
    expect(await build(then)).to.deep.equal(parked);
    expect(await build(then)).to.deep.equal(parked);
    expect((await rows())['payments']).to.have.length(2);
    expect((await build(before, { schema: 'earlier' })).map((one) => one.parked)).to.deep.equal([0, 0]);
  });

  it('ignore an event that an operator had skipped by then, but not one skipped later', async () => {
    const paymentId = newPaymentId();
    await scene.appendPayment(paymentId);
    const event = { id: randomUUID(), type: UNKNOWN, data: '{}' };
    const metadata = JSON.stringify({ account: ACCOUNT_ID, mode: 'test', v: 1 });
    await scene.store.append(PAYMENT.stream(paymentId), 2, [{ ...event, metadata }]);
    const unskipped = await head();
    const skip = {
      consumer: 'payments',
      stream: PAYMENT.stream(paymentId),
      revision: 3,
      eventId: event.id,
      eventType: UNKNOWN,
    };
    const encoded = await scene.codec.encode({
      serde: LOG_CONSUMER.serde,
      stream: LOG_CONSUMER.stream('payments'),
      after: -1,
      events: [
        {
          type: 'LogConsumerEventSkipped',
          data: { ...skip, reason: 'x', operator: 'x', isForced: true, at: at('13:00:00') },
        },
      ],
      commandId: randomUUID(),
      metadata: {
        account: ACCOUNT_ID,
        mode: 'test',
        actor: 'operator:x',
        requestId: null,
        correlationId: 'x',
        causationId: 'x',
      },
    });
    await scene.store.append(LOG_CONSUMER.stream('payments'), -1, encoded);
    expect((await build(await head()))[0]?.parked).to.equal(0);
    expect((await build(unskipped, { schema: 'earlier' }))[0]?.parked).to.equal(1);
  });

  it('reject foreign schemas, invalid names, and a concurrent builder', async () => {
    await scene.appendPayment();
    const then = await head();
    await sql('CREATE SCHEMA books; CREATE TABLE books.payments (id text)');
    await refused(build(then, { schema: 'books' }), AsOfRefused, 'was not made by this command');
    await refused(dropAsOf('books', scene.openSession), AsOfRefused, 'was not made by this command');
    await refused(dropAsOf('nowhere', scene.openSession), AsOfRefused, 'there is no schema nowhere');
    for (const schema of [
      '',
      'rm_wallet',
      'pg_x',
      'Upper',
      'a-b',
      'a;b',
      'a"b',
      '1a',
      'table',
      'user',
      'é',
      'a'.repeat(61),
    ])
      await refused(build(then, { schema }), AsOfRefused, "can't be a schema");
    const other = await scene.openSession('test');
    expect(await other.tryLead(`as-of ${SCHEMA}`)).to.equal(true);
    await refused(build(then), AlreadyRunning, 'another process');
    await refused(dropAsOf(SCHEMA, scene.openSession), AlreadyRunning, 'another process');
    await other.close();
    await build(then);
    await dropAsOf(SCHEMA, scene.openSession);
    expect(await sql("SELECT nspname FROM pg_namespace WHERE nspname IN ('books', 'back_then')")).to.deep.equal([
      { nspname: 'books' },
    ]);
  });

  it('reject a copy of another log or another version', async () => {
    await scene.appendPayment();
    const then = await head();
    await build(then);
    const newer = [{ ...paymentsProjection, version: paymentsProjection.version + 1 }];
    await refused(build(then, {}, newer as never), AsOfRefused, 'another version');
    await sql(`UPDATE ${SCHEMA}.quita_as_of SET store_id = 'another'`);
    await refused(build(then), AsOfRefused, 'of event store another');
  });

  it('resolve a time to the last event recorded by then', async () => {
    for (let n = 0; n < 5; n++) await scene.appendPayments(2);
    const events = (await sql(
      'SELECT lpad(position::text, 19, \'0\') AS position, to_char(recorded_at, \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\') AS at FROM event_store.events ORDER BY 1',
    )) as { position: string; at: string }[];
    const lastAt = (time: string) => events.findLast((one) => one.at <= time)?.position ?? null;
    const millis = events.map((one) => Date.parse(one.at));
    for (const milli of new Set(millis.flatMap((one) => [one - 1, one, one + 1]))) {
      const time = new Date(milli).toISOString();
      expect(await lastRecordedBy(scene.store, time, NEVER), time).to.equal(lastAt(time));
    }
    expect(await lastRecordedBy(scene.store, '2000-01-01T00:00:00.000Z', NEVER)).to.equal(null);
    expect(await lastRecordedBy(scene.store, '2999-01-01T00:00:00.000Z', NEVER)).to.equal(await head());
  });
});
