// The tables of the payments projection, without a log, in the schema where the queries read them.
import type { Position } from '../../../application/ports/eventStore.ts';
import type { LoggedEvent } from '../../../application/ports/loggedEvent.ts';
import type { PaymentId, Tenant } from '../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import type { PaymentEvent } from '../../../domain/payment/payment.ts';
import { connectionConfig, PgSession } from '../../../infrastructure/postgres/session.ts';
import type { ProjectionWriter } from '../../../projections/engine/projection.ts';
import { createSchema, dropSchema } from '../../../projections/engine/schemaVersions.ts';
import { paymentsProjection } from '../../../projections/payments/projection.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';

const LIVE = 'rm_payments';

/** One event of a payment's stream. */
export interface Step {
  readonly paymentId: PaymentId;
  readonly revision: number;
  readonly event: PaymentEvent;
}

export const logged = ({ accountId, mode }: Tenant, steps: readonly Step[]): LoggedEvent<PaymentEvent>[] =>
  steps.map(({ paymentId, revision, event }, n) => ({
    category: 'payment',
    stream: PAYMENT.stream(paymentId),
    subject: paymentId,
    id: `${n}`,
    revision,
    position: String(n).padStart(19, '0') as Position,
    account: accountId,
    mode,
    correlationId: paymentId,
    recordedAt: '2026-11-21T13:00:00.000Z',
    event,
  }));

export class PaymentTables {
  readonly db: PgSession;
  readonly #database: TestDatabase;

  private constructor(db: PgSession, database: TestDatabase) {
    this.db = db;
    this.#database = database;
  }

  static async open(): Promise<PaymentTables> {
    const database = await migratedDatabase();
    return new PaymentTables(await PgSession.open(connectionConfig(database.connectionString, 'test')), database);
  }

  /** Creates empty tables and returns a new writer. Statements prepared for the former tables don’t work with the new ones. */
  async fresh(): Promise<ProjectionWriter> {
    await createSchema(this.db, paymentsProjection, LIVE);
    return paymentsProjection.writer(LIVE);
  }

  /** Returns every row of every table as text, in key order. */
  async rows(): Promise<{ readonly [table: string]: readonly string[] }> {
    const all: Record<string, readonly string[]> = {};
    for (const { name, key, counts = 'true' } of paymentsProjection.tables) {
      const text = `SELECT t::text AS row FROM ${LIVE}.${name} t WHERE ${counts} ORDER BY ${key}`;
      all[name] = (await this.db.query<{ row: string }>(text)).rows.map(({ row }) => row);
    }
    return all;
  }

  async close(): Promise<void> {
    await dropSchema(this.db, LIVE);
    await this.db.close();
    await this.#database.drop();
  }
}
