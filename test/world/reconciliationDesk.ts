// Reconciliation of one connection in a database: an institution in memory, and the events of payments and payouts to compare with it.

import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { Known, ProviderReturn, ReceivedPayment } from '../../application/ports/paymentProvider.ts';
import type { Finding, Look } from '../../application/ports/providerBooks.ts';
import type { OpenConnection, Page, SentPayment } from '../../application/ports/providerConnections.ts';
import type { ConnectionPayment } from '../../application/ports/readModels/connectionPayments.ts';
import type { ReconciliationReport } from '../../application/ports/readModels/providerMovements.ts';
import { type CompareNeeds, takeStep } from '../../application/reconciliation/compareConnection.ts';
import { operateReconciliation } from '../../application/reconciliation/operateReconciliation.ts';
import type { ReconcileNeeds } from '../../application/reconciliation/reconcileConnections.ts';
import type { Fact } from '../../domain/kernel/decider.ts';
import type { AccountId, ConnectionId, PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import type { PaymentEvent } from '../../domain/payment/payment.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import type { PayoutEvent, PayoutId } from '../../domain/payout/payout.ts';
import type { PgPool } from '../../infrastructure/postgres/session.ts';
import { findingReads, reconciliationFindings } from '../../infrastructure/reconciliation/findings.ts';
import { reconciliationLooks, reconciliationRuns } from '../../infrastructure/reconciliation/looks.ts';
import { systemStopwatch } from '../../infrastructure/system/system.ts';
import { createSchema } from '../../projections/engine/schemaVersions.ts';
import { providerMovementsProjection } from '../../projections/providerMovements/projection.ts';
import { movementReads, providerMovements } from '../../projections/providerMovements/queries.ts';
import { ACCOUNT_ID, incoming, settled, terms } from '../support/samples.ts';
import { connectionTerms } from './fakeConnections.ts';

const SCHEMA = 'rm_provider_movements';

const idOf = (item: ReceivedPayment | SentPayment): string =>
  'incoming' in item ? item.incoming.providerPaymentId : item.id;

/** An institution in memory. It returns lists in pages of `pageSize`. */
export class FakeInstitution {
  readonly received: ReceivedPayment[] = [];
  readonly sent: SentPayment[] = [];
  /** Ids of items that Quita can't read. */
  readonly unreadable = new Set<string>();
  pageSize = 100;
  /** Calls of lists, in order. */
  readonly calls: string[] = [];
  /** Called before each response, and may throw. With `unknown` the response is unknown. */
  before: (call: string) => 'unknown' | undefined = () => undefined;
  listsSent = true;

  connection(connectionId: ConnectionId): OpenConnection {
    const statement = {
      listReceived: (from: Timestamp, to: Timestamp, cursor: string | null) =>
        this.#page('received', this.received, ({ incoming: { paidAt } }) => from <= paidAt && paidAt <= to, cursor),
      ...(this.listsSent && {
        listSent: (from: Timestamp, to: Timestamp, cursor: string | null) =>
          this.#page('sent', this.sent, ({ at }) => from <= at && at <= to, cursor),
      }),
    };
    const findPayment = async (_: unknown, id: string): Promise<Known<ReceivedPayment | null>> => {
      if (this.#called(`find ${id}`) === 'unknown') return { kind: 'unknown' };
      return { kind: 'known', value: this.received.find((one) => one.incoming.providerPaymentId === id) ?? null };
    };
    const opened = { terms: connectionTerms(connectionId), provider: { findPayment }, rail: null, statement };
    return opened as unknown as OpenConnection;
  }

  async #page<Item extends ReceivedPayment | SentPayment>(
    name: string,
    all: readonly Item[],
    isListed: (item: Item) => boolean,
    cursor: string | null,
  ): Promise<Known<Page<Item>>> {
    if (this.#called(`${name} ${cursor ?? 0}`) === 'unknown') return { kind: 'unknown' };
    const start = Number(cursor ?? 0);
    const listed = all.filter(isListed);
    const end = start + this.pageSize;
    return {
      kind: 'known',
      value: {
        items: listed.slice(start, end).filter((one) => !this.unreadable.has(idOf(one))),
        unreadable: listed
          .slice(start, end)
          .map((one) => ({ id: idOf(one), at: null }))
          .filter(({ id }) => this.unreadable.has(id)),
        next: end < listed.length ? String(end) : null,
      },
    };
  }
  #called(call: string): 'unknown' | undefined {
    this.calls.push(call);
    return this.before(call);
  }
}

export const receivedPix = (
  endToEndId: string,
  txid: string | null,
  amount: number,
  paidAt: Timestamp,
  returns: readonly ProviderReturn[] = [],
): ReceivedPayment => ({
  txid,
  incoming: incoming({ providerPaymentId: endToEndId, amount: amount as never, paidAt }),
  isPlain: true,
  returns,
});
export const returnOf = (
  id: string,
  amount: number,
  at: Timestamp,
  over: Partial<ProviderReturn> = {},
): ProviderReturn => ({
  ...{
    id,
    returnId: null,
    nature: 'ordinary',
    status: 'done',
    amount: amount as never,
    requestedAt: at,
    settledAt: at,
  },
  ...{ reason: null, ...over },
});

export class ReconciliationDesk {
  readonly pool: PgPool;
  readonly connectionId: ConnectionId;
  readonly institution = new FakeInstitution();
  /** Ids of payments by txid. */
  readonly charges = new Map<string, ConnectionPayment>();
  /** References of stored notifications, and descriptions of started jobs. */
  readonly notified: string[] = [];
  /** Findings reported to operators. */
  readonly alerts: Finding[] = [];
  /** Repeated failures reported to operators. */
  readonly stalled: string[] = [];
  readonly #revisions = new Map<string, number>();

  constructor(pool: PgPool, connectionId: ConnectionId) {
    this.pool = pool;
    this.connectionId = connectionId;
  }

  static async prepare(pool: PgPool): Promise<void> {
    await pool.transaction((tx) => createSchema(tx, providerMovementsProjection, SCHEMA));
  }
  /** Empties the read model. */
  static async empty(pool: PgPool): Promise<void> {
    await pool.query(`TRUNCATE ${SCHEMA}.payment_connections, ${SCHEMA}.movements, ${SCHEMA}.days`);
  }

  /** Applies events to the read model, as one batch. */
  async project(...events: readonly (readonly [subject: string, event: PaymentEvent | PayoutEvent])[]): Promise<void> {
    const logged = events.map(([subject, event]) => this.#logged(subject, event));
    await this.pool.transaction((tx) => providerMovementsProjection.writer(SCHEMA).apply(logged, tx));
  }
  #logged(subject: string, event: Fact<string, unknown>): LoggedEvent {
    const revision = (this.#revisions.get(subject) ?? -1) + 1;
    this.#revisions.set(subject, revision);
    const category = event.type.startsWith('Payout') ? PAYOUT.category : PAYMENT.category;
    return { category, subject, event, revision, account: ACCOUNT_ID, mode: 'live' } as unknown as LoggedEvent;
  }

  created(paymentId: string, txid: string, accountId: AccountId = ACCOUNT_ID): readonly [string, PaymentEvent] {
    const { connectionId } = this;
    this.charges.set(txid, { tenant: { accountId, mode: 'live' }, paymentId: paymentId as PaymentId, connectionId });
    const about = { paymentId: paymentId as PaymentId, txid, connectionId, mode: 'live' as const };
    return [paymentId, { type: 'ChargeCreated', data: { ...terms(about), fingerprint: { version: 1, hash: 'h' } } }];
  }
  settled(paymentId: string, endToEndId: string, amount: number, paidAt: Timestamp): readonly [string, PaymentEvent] {
    return [
      paymentId,
      settled({
        incoming: incoming({ providerPaymentId: endToEndId, amount: amount as never, paidAt }),
        ...{ providerFee: 10 as never, platformFee: 0 as never, netAmount: (amount - 10) as never },
      }),
    ];
  }
  requestedPayout(payoutId: string, amount: number, at: Timestamp): readonly [string, PayoutEvent] {
    const about = { payoutId: payoutId as PayoutId, accountId: ACCOUNT_ID, mode: 'live', amount, fee: 50, at };
    const data = { ...about, connectionId: this.connectionId, currency: 'BRL', destination: 'a@example.com' };
    return [payoutId, { type: 'PayoutRequested', data } as unknown as PayoutEvent];
  }
  paidPayout(payoutId: string, amount: number, at: Timestamp): readonly [string, PayoutEvent] {
    const data = { amount, fee: 50, currency: 'BRL', at, endToEndId: null };
    return [payoutId, { type: 'PayoutPaid', data } as unknown as PayoutEvent];
  }
  refunded(paymentId: string, refundId: string, amount: number, at: Timestamp | null): [string, PaymentEvent][] {
    const about = { refundId, amount, currency: 'BRL', fee: 0, feePaidBy: 'merchant', at };
    const reserved = { type: 'TransactionRefundReserved', data: { ...about, strategy: 'devolution' } };
    const completed = { type: 'TransactionRefundCompleted', data: { ...about, endToEndId: null } };
    const events = (at === null ? [reserved] : [reserved, completed]) as unknown as PaymentEvent[];
    return events.map((event) => [paymentId, event]);
  }

  get needs(): CompareNeeds & ReconcileNeeds {
    const { pool } = this;
    const caughtUp = async () => ({ head: null, isCaughtUp: true });
    return {
      commands: null as never,
      looks: reconciliationLooks(pool),
      findings: reconciliationFindings(pool),
      findingAlerts: {
        found: (finding) => void this.alerts.push(finding),
        stalled: (_, { failures, reason }) => void this.stalled.push(`${failures} ${reason}`),
      },
      providerMovements: providerMovements(pool, pool, caughtUp),
      connectionPayments: {
        byTxid: async (txids) => new Map([...this.charges].filter(([txid]) => txids.includes(txid))),
      },
      notifications: {
        store: async ({ reference }) => {
          if (this.notified.includes(reference)) return false;
          this.notified.push(reference);
          return true;
        },
        startJob: async (_, kind, payload) => void this.notified.push(`${kind} ${JSON.stringify(payload)}`),
      },
      stopwatch: systemStopwatch,
      providerConnections: { callable: async () => [this.connection] },
      runs: reconciliationRuns(pool),
    };
  }
  get connection(): OpenConnection {
    return this.institution.connection(this.connectionId);
  }

  /** Starts a look over a span, or continues one in progress. */
  async look(until: Timestamp, target: Timestamp): Promise<Look> {
    const { looks } = this.needs;
    const before = (await looks.of(this.connectionId)).find(({ name }) => name === 'latest') ?? null;
    if (before !== null && before.step !== 'done') return before;
    const look = await looks.start(before, { connectionId: this.connectionId, name: 'latest', until, target });
    if (look === null) throw new Error('another process was faster');
    return look;
  }
  /** Compares a span completely. Returns the number of steps. */
  async compare(until: Timestamp, target: Timestamp): Promise<number> {
    const work = { ...this.needs, connection: this.connection, takeReturns: [] };
    let steps = 0;
    for (let look: Look | null = await this.look(until, target); look?.step !== 'done'; steps += 1) {
      if (look === null) throw new Error('another process has continued the look');
      look = await takeStep(work, look);
    }
    return steps;
  }

  async report(day: string): Promise<ReconciliationReport> {
    const found = await this.operate().reportReconciliation(this.connectionId, day);
    if (isRejection(found)) throw new Error(found.message);
    return found;
  }
  get operateNeeds() {
    const { pool } = this;
    return {
      commands: {
        load: async (_: unknown, stream: string) =>
          ({ state: stream.endsWith(this.connectionId) ? this.connection : { status: 'absent' } }) as never,
      },
      connections: { all: async () => [] },
      runs: reconciliationRuns(pool),
      findingReads: findingReads(pool),
      movementReads: movementReads(pool),
      stopwatch: systemStopwatch,
    };
  }
  operate() {
    return operateReconciliation(this.operateNeeds);
  }
  /** Returns kind and reference of each finding, oldest movement first. */
  async findings(all = false): Promise<readonly string[]> {
    const { findings } = await findingReads(this.pool).list({ connectionId: this.connectionId, all }, 1_000);
    return findings.map(({ kind, reference }) => `${kind} ${reference}`).reverse();
  }
}
