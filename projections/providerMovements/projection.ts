// Read model of the money that moved at provider connections, for reconciliation (rule V4): one row per movement that Quita ordered or
// posted, and the sums of each civil day. Payments without a connection, such as all of the sandbox, have no rows.
import { isOf, type LoggedEvent } from '../../application/ports/loggedEvent.ts';
import { type Sql, TextArray } from '../../application/ports/sql.ts';
import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import { reading } from '../../domain/kernel/eventGroups.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { PAYMENT_GROUPS } from '../../domain/payment/eventGroups.ts';
import type { PaymentEvent } from '../../domain/payment/payment.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import { PAYOUT_GROUPS, type PayoutEvent } from '../../domain/payout/payout.ts';
import type { TransactionDisputeReturnCounted, TransactionDisputeReturned } from '../../domain/transaction/disputes.ts';
import type { IncomingPayment } from '../../domain/transaction/incomingPayment.ts';
import type { Projection } from '../engine/projection.ts';

/**
 * `received`: by end-to-end id; `returned`: by the id of the return, or `case/<id>/<revision>` if a dispute took the money; `paid_out`: by
 * the id of the payout or refund; `fee`: of the movement with this reference.
 */
type MovementKind = 'received' | 'returned' | 'paid_out' | 'fee';

/** Changes of one batch, in order. */
interface Batch {
  /** Payments of a connection. */
  readonly payments: Row<'payment_id' | 'connection_id' | 'account_id' | 'txid'>[];
  readonly rerouted: Row<'payment_id' | 'connection_id'>[];
  /** The end-to-end id that settled a payment. */
  readonly settled: Row<'payment_id' | 'end_to_end_id'>[];
  /** Movements of payments, by their payment's connection, and of payouts, by `connection_id`. `at` null: ordered, not posted. */
  readonly movements: Movement[];
  /** Further orders of a return that was refused. */
  readonly retried: Row<'payment_id' | 'end_to_end_id' | 'reference' | 'ordinal'>[];
  /** Postings of ordered movements. */
  readonly posted: Row<'kind' | 'reference' | 'end_to_end_id' | 'at' | 'day'>[];
  /** Postings of the latest ordered return of a received Pix, of which a part may have been returned outside Quita since the order. */
  /** `reference`: the confirmed order; null for the latest. */
  readonly sentBack: Row<'payment_id' | 'end_to_end_id' | 'reference' | 'amount' | 'at' | 'day'>[];
  /** Fees of payouts, which belong to the payout's connection. */
  readonly payoutFees: Row<'reference' | 'amount' | 'at' | 'day' | 'ordinal'>[];
}
type Cell = string | number | null;
type Row<Name extends string> = { readonly [name in Name]: Cell };
type Movement = Row<
  | 'kind'
  | 'reference'
  | 'connection_id'
  | 'account_id'
  | 'payment_id'
  | 'end_to_end_id'
  | 'amount'
  | 'at'
  | 'day'
  | 'ordinal'
>;

const readsPayment = reading(PAYMENT_GROUPS, {
  reads: ['creation', 'routing', 'settlement', 'hold', 'rejection', 'returns', 'refund', 'given'],
  nothing: ['TransactionReturnOutcomeUnknown', 'TransactionReturnOutcomeEntered'],
  ignores: ['cancellation', 'end', 'resend', 'methods', 'release', 'approval', 'case', 'verdict', 'erasure'],
});
const readsPayout = reading(PAYOUT_GROUPS, {
  reads: ['request', 'end'],
  ignores: ['review', 'underWay', 'erasure'],
});
const IDLE: ReadonlySet<string> = new Set([...readsPayment.unread, ...readsPayout.unread]);

const TABLES = (schema: string) => `
    CREATE TABLE ${schema}.payment_connections (payment_id text COLLATE "C" PRIMARY KEY, connection_id text COLLATE "C" NOT NULL,
      account_id text COLLATE "C" NOT NULL, txid text COLLATE "C" NOT NULL, end_to_end_id text COLLATE "C");
    CREATE TABLE ${schema}.movements (reference text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL,
      connection_id text COLLATE "C" NOT NULL, account_id text COLLATE "C" NOT NULL, payment_id text COLLATE "C",
      end_to_end_id text COLLATE "C", amount bigint NOT NULL, at timestamptz, day date, ordinal integer NOT NULL,
      PRIMARY KEY (reference, kind, connection_id));
    CREATE INDEX ON ${schema}.movements (connection_id, day, at) WHERE at IS NOT NULL;
    CREATE INDEX ON ${schema}.movements (payment_id) WHERE kind = 'returned';
    CREATE TABLE ${schema}.days (connection_id text COLLATE "C" NOT NULL, day date NOT NULL, kind text COLLATE "C" NOT NULL,
      amount bigint NOT NULL, PRIMARY KEY (connection_id, day, kind));`;

export const providerMovementsProjection: Projection<'providerMovements'> = {
  name: 'providerMovements',
  version: 4,
  categories: ['payment', 'payout'],
  skips: ({ type }) => IDLE.has(type),
  tables: [
    { name: 'payment_connections', key: ['payment_id'] },
    { name: 'movements', key: ['reference', 'kind', 'connection_id'] },
    { name: 'days', key: ['connection_id', 'day', 'kind'] },
  ],
  ddl: TABLES,
  writer: (schema) => ({
    reset: () => {}, // nothing is cached
    apply: async (events, tx) => {
      const orders = { movements: [], retried: [], posted: [], sentBack: [], payoutFees: [] };
      const batch: Batch = { payments: [], rerouted: [], settled: [], ...orders };
      for (const logged of events) if (logged.mode === 'live') collect(batch, logged);
      await write(schema, batch, tx);
    },
  }),
};

const collect = (batch: Batch, logged: LoggedEvent): void => {
  if (isOf(logged, PAYMENT)) collectPayment(batch, logged);
  else if (isOf(logged, PAYOUT)) collectPayout(batch, logged);
};

const dated = (at: Timestamp) => ({ at, day: saoPauloDay(at) });
const ORDERED = { at: null, day: null } as const;

/** A movement of a payment whose connection the read model knows. */
const ofPayment = (
  { subject, account, revision }: LoggedEvent,
  kind: MovementKind,
  reference: string,
  rest: { readonly amount: number; readonly at: string | null; readonly day: string | null },
  endToEndId: string | null = null,
): Movement => ({
  ...{ kind, reference, connection_id: null, account_id: account, payment_id: subject, end_to_end_id: endToEndId },
  ...{ amount: rest.amount, at: rest.at, day: rest.day, ordinal: revision },
});

const received = (logged: LoggedEvent, { providerPaymentId, amount, paidAt }: IncomingPayment): Movement =>
  ofPayment(logged, 'received', providerPaymentId, { amount, ...dated(paidAt) }, providerPaymentId);

const collectPayment = (batch: Batch, logged: LoggedEvent & { readonly event: PaymentEvent }): void => {
  const { event, subject } = logged;
  if (!readsPayment(event)) return;
  const { payments, rerouted, settled, movements, sentBack } = batch;
  switch (event.type) {
    case 'ChargeCreated': {
      const { connectionId, txid } = event.data;
      if (connectionId !== null)
        payments.push({ payment_id: subject, connection_id: connectionId, account_id: logged.account, txid });
      return;
    }
    case 'ChargeRerouted':
      rerouted.push({ payment_id: subject, connection_id: event.data.connectionId });
      return;
    case 'TransactionSettled': {
      const { incoming, providerFee } = event.data;
      settled.push({ payment_id: subject, end_to_end_id: incoming.providerPaymentId });
      movements.push(received(logged, incoming));
      pushFee(batch, logged, incoming.providerPaymentId, providerFee, incoming.paidAt);
      return;
    }
    case 'TransactionHeld':
      return void movements.push(received(logged, event.data.incoming));
    case 'TransactionPaymentRejected':
      pushRejected(batch, logged, event.data);
      return;
    case 'TransactionHeldRejected': {
      const { providerPaymentId, returnId, amount } = event.data;
      movements.push(orderedReturn(logged, returnId, amount, providerPaymentId));
      return;
    }
    case 'TransactionPaymentReturned': {
      const { providerPaymentId, returnId: reference, amount, at } = event.data;
      sentBack.push({ payment_id: subject, end_to_end_id: providerPaymentId, reference, amount, ...dated(at) });
      return;
    }
    case 'TransactionReturnedOutside': {
      const { providerPaymentId, id, amount, at } = event.data;
      const reference = `outside/${providerPaymentId}/${id}`; // the id is unique only for the Pix
      movements.push(ofPayment(logged, 'returned', reference, { amount, ...dated(at) }, providerPaymentId));
      return;
    }
    case 'TransactionDisputeReturned':
    case 'TransactionDisputeReturnCounted':
      pushGiven(batch, logged, event.data);
      return;
    case 'TransactionReturnRetried': {
      const { providerPaymentId, returnId } = event.data;
      const again = { payment_id: subject, end_to_end_id: providerPaymentId, reference: returnId };
      batch.retried.push({ ...again, ordinal: logged.revision });
      return;
    }
    case 'TransactionReturnRefused':
    case 'TransactionHeldWrittenOff':
    case 'TransactionLateConfirmationWrittenOff':
      return; // nothing moved at the institution
    case 'TransactionRefundReserved':
    case 'TransactionHeldPayoutRequested':
    case 'TransactionRefundCompleted':
    case 'TransactionRefundConfirmedLate':
    case 'TransactionHeldPayoutPaid':
    case 'TransactionReturnConfirmedLate':
    case 'TransactionRefundReleased':
    case 'TransactionHeldPayoutFailed':
      collectOrder(batch, logged, event);
      return;
    default:
      event satisfies never;
  }
};

type Order = Extract<
  PaymentEvent,
  {
    readonly type:
      | 'TransactionRefundReserved'
      | 'TransactionHeldPayoutRequested'
      | 'TransactionRefundCompleted'
      | 'TransactionRefundConfirmedLate'
      | 'TransactionHeldPayoutPaid'
      | 'TransactionReturnConfirmedLate'
      | 'TransactionRefundReleased'
      | 'TransactionHeldPayoutFailed';
  }
>;

/** Collects refunds and Pix-outs, which are ordered before they are posted. */
const collectOrder = (batch: Batch, logged: LoggedEvent, event: Order): void => {
  const { movements, posted } = batch;
  switch (event.type) {
    case 'TransactionRefundReleased':
    case 'TransactionHeldPayoutFailed':
      return; // the order was refused
    case 'TransactionRefundReserved': {
      const { refundId, strategy, amount } = event.data;
      const kind = strategy === 'cashout' ? 'paid_out' : 'returned';
      movements.push(ofPayment(logged, kind, refundId, { amount, ...ORDERED }));
      return;
    }
    case 'TransactionHeldPayoutRequested': {
      const { payoutId, amount } = event.data;
      movements.push(ofPayment(logged, 'paid_out', payoutId, { amount, ...ORDERED }));
      return;
    }
    case 'TransactionRefundCompleted':
    case 'TransactionRefundConfirmedLate': {
      const { refundId, endToEndId, fee, at } = event.data;
      for (const kind of ['paid_out', 'returned'] as const)
        posted.push({ kind, reference: refundId, end_to_end_id: endToEndId, ...dated(at) });
      pushFee(batch, logged, refundId, fee, at);
      return;
    }
    case 'TransactionHeldPayoutPaid': {
      const { payoutId, endToEndId, fee, at } = event.data;
      posted.push({ kind: 'paid_out', reference: payoutId, end_to_end_id: endToEndId, ...dated(at) });
      pushFee(batch, logged, payoutId, fee, at);
      return;
    }
    case 'TransactionReturnConfirmedLate': {
      const { id, providerPaymentId, returnId: reference, amount, fee, at } = event.data;
      // The late confirmation of a return has the id of the received Pix, that of a Pix-out its own.
      if (id === providerPaymentId)
        batch.sentBack.push({ payment_id: logged.subject, end_to_end_id: id, reference, amount, ...dated(at) });
      else posted.push({ kind: 'paid_out', reference: id, end_to_end_id: null, ...dated(at) });
      pushFee(batch, logged, id, fee, at);
      return;
    }
    default:
      event satisfies never;
  }
};

const orderedReturn = (logged: LoggedEvent, returnId: string, amount: number, endToEndId: string): Movement =>
  ofPayment(logged, 'returned', returnId, { amount, ...ORDERED }, endToEndId);

const pushRejected = (
  { movements }: Batch,
  logged: LoggedEvent,
  { incoming, returnId }: { readonly incoming: IncomingPayment; readonly returnId: string },
): void => {
  const { amount, providerPaymentId } = incoming;
  movements.push(received(logged, incoming), orderedReturn(logged, returnId, amount, providerPaymentId));
};

/** The banks may return the money of a case in several parts. Somebody else may make the return that a ruling announced. */
const pushGiven = (
  { movements }: Batch,
  logged: LoggedEvent,
  data: TransactionDisputeReturned['data'] | TransactionDisputeReturnCounted['data'],
): void => {
  const { caseId, at } = data;
  const amount = 'posted' in data ? -data.posted : data.amount;
  if (amount === 0) return;
  movements.push(ofPayment(logged, 'returned', `case/${caseId}/${logged.revision}`, { amount, ...dated(at) }));
};

const pushFee = ({ movements }: Batch, logged: LoggedEvent, reference: string, fee: number, at: Timestamp): void => {
  if (fee !== 0) movements.push(ofPayment(logged, 'fee', reference, { amount: fee, ...dated(at) }));
};

const collectPayout = (batch: Batch, logged: LoggedEvent & { readonly event: PayoutEvent }): void => {
  const { event, subject, account, revision } = logged;
  if (!readsPayout(event)) return;
  switch (event.type) {
    case 'PayoutRequested': {
      const { connectionId, amount } = event.data;
      if (connectionId === null) return;
      batch.movements.push({
        ...{ kind: 'paid_out', reference: subject, connection_id: connectionId, account_id: account, payment_id: null },
        ...{ end_to_end_id: null, amount, ...ORDERED, ordinal: revision },
      });
      return;
    }
    case 'PayoutPaid':
    case 'PayoutConfirmedLate': {
      const { endToEndId, fee, at } = event.data;
      batch.posted.push({ kind: 'paid_out', reference: subject, end_to_end_id: endToEndId, ...dated(at) });
      if (fee !== 0) batch.payoutFees.push({ reference: subject, amount: fee, ...dated(at), ordinal: revision });
      return;
    }
    case 'PayoutAbandoned':
    case 'PayoutCancelled':
    case 'PayoutFailed':
      return; // nothing moved at the institution
    default:
      event satisfies never;
  }
};

/** Returns the rows as parameters of `unnest`, column by column. */
const columnsOf = <Name extends string>(rows: readonly Row<Name>[], names: readonly Name[]) =>
  names.map((name) => new TextArray(rows.map((row) => row[name]?.toString() ?? null)));
const unnest = (names: readonly string[], casts: { readonly [name: string]: string } = {}): string =>
  `SELECT ${names.map((name, n) => `unnest($${n + 1}::text[])::${casts[name] ?? 'text'} AS ${name}`)}`;

const CASTS = { amount: 'bigint', at: 'timestamptz', day: 'date', ordinal: 'integer' };
const MOVEMENT = ['reference', 'kind', 'connection_id', 'account_id', 'payment_id', 'end_to_end_id', 'amount', 'at'];

const write = async (schema: string, batch: Batch, tx: Sql): Promise<void> => {
  const run = async <Name extends string>(
    rows: readonly Row<Name>[],
    names: readonly Name[],
    text: (from: string) => string,
  ): Promise<void> => {
    if (rows.length > 0) await tx.query(text(`(${unnest(names, CASTS)})`), columnsOf(rows, names));
  };
  const counted = (changed: string) => `WITH changed AS (${changed} RETURNING m.connection_id, m.day, m.kind, m.amount)
    INSERT INTO ${schema}.days AS d (connection_id, day, kind, amount)
      SELECT connection_id, day, kind, sum(amount) FROM changed WHERE day IS NOT NULL GROUP BY 1, 2, 3
      ON CONFLICT (connection_id, day, kind) DO UPDATE SET amount = d.amount + excluded.amount`;
  const columns = `${MOVEMENT}, day, ordinal`;
  await run(
    batch.payments,
    ['payment_id', 'connection_id', 'account_id', 'txid'],
    (rows) =>
      `INSERT INTO ${schema}.payment_connections (payment_id, connection_id, account_id, txid) SELECT * FROM ${rows} v ON CONFLICT (payment_id) DO NOTHING`,
  );
  await run(
    [...new Map(batch.rerouted.map((row) => [row.payment_id, row])).values()],
    ['payment_id', 'connection_id'],
    (rows) =>
      `UPDATE ${schema}.payment_connections p SET connection_id = v.connection_id FROM ${rows} v WHERE p.payment_id = v.payment_id`,
  );
  await run(
    batch.settled,
    ['payment_id', 'end_to_end_id'],
    (rows) =>
      `UPDATE ${schema}.payment_connections p SET end_to_end_id = v.end_to_end_id FROM ${rows} v WHERE p.payment_id = v.payment_id`,
  );
  const names = ['reference', 'kind', 'connection_id', 'account_id', 'payment_id', 'end_to_end_id'] as const;
  await run(batch.movements, [...names, 'amount', 'at', 'day', 'ordinal'], (rows) =>
    counted(`INSERT INTO ${schema}.movements AS m (${columns})
      SELECT v.reference, v.kind, coalesce(v.connection_id, p.connection_id), v.account_id, v.payment_id,
        coalesce(v.end_to_end_id, CASE v.kind WHEN 'returned' THEN p.end_to_end_id END), v.amount, v.at, v.day, v.ordinal
      FROM ${rows} v LEFT JOIN ${schema}.payment_connections p ON p.payment_id = v.payment_id
      WHERE coalesce(v.connection_id, p.connection_id) IS NOT NULL ON CONFLICT (reference, kind, connection_id) DO NOTHING`),
  );
  await run(
    batch.retried,
    ['payment_id', 'end_to_end_id', 'reference', 'ordinal'],
    (rows) => `INSERT INTO ${schema}.movements (${columns})
      SELECT v.reference, 'returned', m.connection_id, m.account_id, m.payment_id, m.end_to_end_id, m.amount, NULL, NULL, v.ordinal
      FROM ${rows} v CROSS JOIN LATERAL (SELECT * FROM ${schema}.movements m WHERE m.payment_id = v.payment_id AND m.kind = 'returned'
        AND m.end_to_end_id = v.end_to_end_id ORDER BY m.ordinal LIMIT 1) m ON CONFLICT (reference, kind, connection_id) DO NOTHING`,
  );
  await run(batch.posted, ['kind', 'reference', 'end_to_end_id', 'at', 'day'], (rows) =>
    // A return keeps the id of the received Pix; that of the return itself is not needed.
    counted(`UPDATE ${schema}.movements m SET at = v.at, day = v.day,
        end_to_end_id = CASE m.kind WHEN 'paid_out' THEN v.end_to_end_id ELSE m.end_to_end_id END
      FROM ${rows} v WHERE m.reference = v.reference AND m.kind = v.kind AND m.at IS NULL`),
  );
  await run(batch.sentBack, ['payment_id', 'end_to_end_id', 'reference', 'amount', 'at', 'day'], (rows) =>
    counted(`UPDATE ${schema}.movements m SET at = v.at, day = v.day, amount = v.amount
      FROM ${rows} v CROSS JOIN LATERAL (SELECT l.reference, l.connection_id FROM ${schema}.movements l WHERE l.payment_id = v.payment_id
        AND l.kind = 'returned' AND l.end_to_end_id = v.end_to_end_id AND l.at IS NULL
          AND l.reference = coalesce(v.reference, l.reference) ORDER BY l.ordinal DESC LIMIT 1) l
      WHERE m.reference = l.reference AND m.kind = 'returned' AND m.connection_id = l.connection_id`),
  );
  await run(batch.payoutFees, ['reference', 'amount', 'at', 'day', 'ordinal'], (rows) =>
    counted(`INSERT INTO ${schema}.movements AS m (${columns})
      SELECT v.reference, 'fee', o.connection_id, o.account_id, NULL, NULL, v.amount, v.at, v.day, v.ordinal
      FROM ${rows} v JOIN ${schema}.movements o ON o.reference = v.reference AND o.kind = 'paid_out'
      ON CONFLICT (reference, kind, connection_id) DO NOTHING`),
  );
};
