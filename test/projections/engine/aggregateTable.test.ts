// The usual read model has one row per stream. A row never goes back to an older state, whatever the order and size of the batches.

import { expect } from 'chai';
import { readDecoded } from '../../../application/ports/eventCodec.ts';
import type { LoggedEvent } from '../../../application/ports/loggedEvent.ts';
import { asTimestamp } from '../../../application/ports/sql.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { connectionConfig, PgSession } from '../../../infrastructure/postgres/session.ts';
import type { ColumnValues } from '../../../projections/engine/aggregateTable.ts';
import type { ProjectionWriter } from '../../../projections/engine/projection.ts';
import { paymentsProjection } from '../../../projections/payments/projection.ts';
import { paymentOf, selectPayment } from '../../../projections/payments/row.ts';
import { CREATED_AT, created, issued, paymentAfter, SETTLED_AT, settled } from '../../support/samples.ts';
import { newPaymentId, Scene } from './scene.ts';

const SCHEMA = 'rm_test';

describe('a folded table', () => {
  let scene: Scene;
  let session: PgSession;
  let writer: ProjectionWriter;
  let paymentId: PaymentId;
  let events: readonly LoggedEvent[];
  beforeEach(async () => {
    scene = await Scene.open();
    session = await PgSession.open(connectionConfig(scene.log.connectionString, 'test'));
    await session.query(`CREATE SCHEMA ${SCHEMA}`);
    await session.query(paymentsProjection.ddl(SCHEMA));
    writer = paymentsProjection.writer(SCHEMA);
    paymentId = await scene.appendPayment();
    events = await eventsOf(paymentId);
  });
  afterEach(async () => {
    await session.close();
    await scene.close();
  });
  const eventsOf = async (id: PaymentId): Promise<LoggedEvent[]> => {
    const logged: LoggedEvent[] = [];
    for await (const page of readDecoded(scene, PAYMENT.stream(id))) logged.push(...(page as LoggedEvent[]));
    return logged;
  };
  /** Returns the identity and the state of each row, and some columns derived from the state. */
  const rows = async () => {
    const { rows: found } = await session.query<ColumnValues>(
      `SELECT ${selectPayment('p', SCHEMA)}, revision, status, awaits_at, held_since, customer_key, ${asTimestamp('status_since')} AS status_since
       FROM ${SCHEMA}.payments p ORDER BY id`,
    );
    return found.map((row) => {
      const { id, account_id, mode, revision, status, awaits_at, held_since, customer_key, status_since } = row;
      const state = paymentOf(row);
      return { id, account_id, mode, revision, status, awaits_at, held_since, customer_key, status_since, state };
    });
  };
  const settledRow = async () => {
    const state = paymentAfter(created({ paymentId }), issued(), settled());
    const { account, mode } = events[0] as LoggedEvent;
    return [
      {
        id: paymentId,
        account_id: account,
        mode,
        revision: 2,
        state,
        status: 'PAID',
        awaits_at: null,
        held_since: null,
        customer_key: '99991111140',
        status_since: SETTLED_AT,
      },
    ];
  };

  it('stores the fold of the stream and the columns for searches', async () => {
    await writer.apply(events, session);
    expect(await rows()).to.deep.equal(await settledRow());
  });

  it('stores the same when events come one by one and the writer’s cache is empty', async () => {
    for (const event of events) {
      writer.reset();
      await writer.apply([event], session);
    }
    expect(await rows()).to.deep.equal(await settledRow());
  });

  it('does not change when events are applied again, all or some, by this writer or another', async () => {
    await writer.apply(events, session);
    const before = await session.query(`SELECT xmin, * FROM ${SCHEMA}.payments`);
    await writer.apply(events, session);
    await writer.apply(events.slice(0, 1), session);
    const other = paymentsProjection.writer(SCHEMA);
    await other.apply(events.slice(1), session);
    await other.apply(events.slice(1, 2), session);
    await other.apply(events, session);
    expect((await session.query(`SELECT xmin, * FROM ${SCHEMA}.payments`)).rows).to.deep.equal(before.rows);
  });

  it('keeps derived tables unchanged when events are applied again', async () => {
    const beside = async () => {
      const all: unknown[] = [];
      for (const { name } of paymentsProjection.tables)
        all.push((await session.query(`SELECT t::text AS row FROM ${SCHEMA}.${name} t ORDER BY 1`)).rows);
      return all;
    };
    await writer.apply(events, session);
    const before = await beside();
    await writer.apply(events.slice(-1), session);
    await writer.apply([...events, ...events], session);
    expect(await beside()).to.deep.equal(before);
  });

  it('does not overwrite a newer row with a state from the writer’s cache', async () => {
    await writer.apply(events.slice(0, 1), session);
    await paymentsProjection.writer(SCHEMA).apply(events.slice(1), session);
    await writer.apply(events.slice(1, 2), session);
    expect(await rows()).to.deep.equal(await settledRow());
  });

  it('continues from the stored row and keeps streams apart', async () => {
    const second = newPaymentId();
    await scene.appendPayment(second, [created({ paymentId: second })]);
    await writer.apply([...events.slice(0, 2), ...(await eventsOf(second))], session);
    writer.reset();
    await scene.append(PAYMENT.stream(second), 0, [issued()]);
    await writer.apply([events[2] as LoggedEvent, (await eventsOf(second))[1] as LoggedEvent], session);
    const found = new Map(
      (await rows()).map((row) => [row['id'], [row['revision'], row['status_since'], row['state']]]),
    );
    expect(found).to.deep.equal(
      new Map([
        [paymentId, [2, SETTLED_AT, paymentAfter(created({ paymentId }), issued(), settled())]],
        [second, [1, CREATED_AT, paymentAfter(created({ paymentId: second }), issued())]],
      ]),
    );
  });

  it('rejects an event after a gap, also for a stream without a row', async () => {
    const gapBefore = async (at: number) =>
      writer.apply(events.slice(at), session).catch((error: Error) => `${error.name}: ${error.message}`);
    expect(await gapBefore(1)).to.equal(`RevisionGap: payment-${paymentId}: event 1 after event none`);
    await writer.apply(events.slice(0, 1), session);
    writer.reset();
    expect(await gapBefore(2)).to.equal(`RevisionGap: payment-${paymentId}: event 2 after event 0`);
    writer.reset();
    expect((await rows()).map(({ revision }) => revision)).to.deep.equal([0]);
    await writer.apply([{ ...(events[2] as LoggedEvent), previousRevision: 0 }], session); // An operator had the event before skipped.
    expect((await rows()).map(({ revision }) => revision)).to.deep.equal([2]);
  });

  it('continues from the stored row after a rolled-back batch and a reset', async () => {
    await writer.apply(events.slice(0, 1), session);
    const rolledBack = session.transaction(async (tx) => {
      await writer.apply(events.slice(1), tx);
      throw new Error('no');
    });
    expect(await rolledBack.catch((error: Error) => error.message)).to.equal('no');
    writer.reset();
    expect((await rows()).map(({ revision }) => revision)).to.deep.equal([0]);
    await writer.apply(events.slice(1), session);
    expect(await rows()).to.deep.equal(await settledRow());
  });

  it('remembers with all its partitions no more rows than undivided', async () => {
    const [first] = events as [LoggedEvent];
    const ids = Array.from({ length: 2_001 }, (_, n) => String(n).padStart(26, '0'));
    const readOf = async (
      of: ProjectionWriter,
      known: readonly string[],
      asked: string,
    ): Promise<readonly string[]> => {
      const read: string[][] = [];
      const tx = {
        query: async (_: unknown, values?: readonly (readonly string[])[]) => {
          if (values?.length === 1) read.push([...(values[0] as readonly string[])]);
          return { rows: [], rowCount: 0 };
        },
      } as unknown as Parameters<ProjectionWriter['apply']>[1];
      await of.apply(
        known.map((subject) => ({ ...first, subject })),
        tx,
      );
      read.length = 0;
      await of.apply([{ ...first, subject: asked, revision: 1 }], tx).catch(() => undefined);
      return read.flat();
    };
    for (const [partitions, kept] of [
      [1, 2_000],
      [4, 500],
    ] as const) {
      const open = () => paymentsProjection.writer(SCHEMA, partitions);
      const [oldest = ''] = ids;
      expect(await readOf(open(), ids.slice(0, kept), oldest), String(partitions)).to.deep.equal([]);
      expect(await readOf(open(), ids.slice(0, kept + 1), oldest), String(partitions)).to.deep.equal([oldest]);
    }
  });
});
