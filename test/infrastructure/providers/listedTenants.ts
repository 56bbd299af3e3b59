// A database with sandbox payments of many tenants, all of them known, and a run of the reconciliation on it.
import { NOTIFIED_WORK } from '../../../application/capabilities.ts';
import { compareWithProvider } from '../../../application/payments/reconciliation.ts';
import type { PaymentProvider } from '../../../application/ports/paymentProvider.ts';
import type { SqlPool } from '../../../application/ports/sql.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { providerNotifications } from '../../../infrastructure/providers/providerNotifications.ts';
import { reconciliations } from '../../../infrastructure/providers/reconciliations.ts';
import { bookedBetween } from '../../../infrastructure/providers/sandbox/books.ts';
import { RecordingJobs } from '../../support/operations.ts';
import { FakeProvider } from '../../world/fakeProvider.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';

export interface RoundCost {
  readonly statements: number;
  /** The CPU time of this process. */
  readonly cpuMs: number;
  /** The total time of the statements. */
  readonly databaseMs: number;
}

export class ListedTenants {
  readonly #pool: PgPool;
  readonly #database: TestDatabase;

  private constructor(pool: PgPool, database: TestDatabase) {
    this.#pool = pool;
    this.#database = database;
  }

  /** Creates `each` payments per tenant, all booked within the last hour. */
  static async create(tenants: number, each: number): Promise<ListedTenants> {
    const database = await migratedDatabase();
    const pool = new PgPool(connectionConfig(database.connectionString, 'test'), 2, () => undefined);
    await pool.query(
      `INSERT INTO sandbox_bank.payments (account_id, provider_payment_id, txid, amount, paid_at, booked_at)
       SELECT 'a' || n % $1::integer, 'E' || n, lpad(n::text, 32, '0'), n, now(), now() - n * interval '50 minutes' / ($1::integer * $2::integer)
       FROM generate_series(1, $1::integer * $2::integer) n`,
      [tenants, each],
    );
    await pool.query(
      `INSERT INTO operations.provider_notifications (account_id, mode, reference, kind, payment_id)
       SELECT account_id, 'test', provider_payment_id, 'payment', 'p' FROM sandbox_bank.payments`,
    );
    await pool.query('ANALYZE');
    return new ListedTenants(pool, database);
  }

  async round(): Promise<RoundCost> {
    let [statements, databaseMs] = [0, 0];
    const db: SqlPool = {
      query: async (...args) => {
        statements++;
        const began = performance.now();
        const result = await this.#pool.query<never>(...args);
        databaseMs += performance.now() - began;
        return result;
      },
      transaction: (work) => this.#pool.transaction(work),
    };
    const provider = Object.assign(new FakeProvider(), {
      bookedBetween: async (...part: Parameters<NonNullable<PaymentProvider['bookedBetween']>>) => ({
        ...{ kind: 'known' as const, value: await bookedBetween(db, ...part) },
      }),
    });
    const unexpected = (): never => {
      throw new Error('nothing is missing');
    };
    const needs = {
      clock: { now: () => Date.now() },
      providers: provider,
      notifications: providerNotifications(db, new RecordingJobs(), NOTIFIED_WORK),
      reconciliations: reconciliations(db),
      payments: { byTxid: unexpected },
      ledger: { disputesRests: async () => [], sums: unexpected },
      alerts: { unmatchedPayments: unexpected, disputesRest: unexpected },
    };
    const before = process.cpuUsage();
    await compareWithProvider(needs, 'test');
    const { user, system } = process.cpuUsage(before);
    return { statements, cpuMs: (user + system) / 1_000, databaseMs };
  }

  async close(): Promise<void> {
    await this.#pool.close();
    await this.#database.drop();
  }
}
