// The job queue on its own database, opened as often as a test needs workers.

import type { JobKind, JobRequest } from '../../../application/ports/jobs.ts';
import type { AccountId, Mode, Tenant } from '../../../domain/kernel/ids.ts';
import type { JobFailure } from '../../../infrastructure/jobs/claims.ts';
import { PgBossJobs, type PgBossJobsOptions } from '../../../infrastructure/jobs/pgBossJobs.ts';
import { NotificationListener } from '../../../infrastructure/postgres/notificationListener.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';
import { type Backends, watchBackends } from '../postgres/backends.ts';

export const tenant = (name: string, mode: Mode = 'live'): Tenant => ({ accountId: name as AccountId, mode });

/** Returns a kind of job whose payload is an ID, with optional further properties. */
export const kindOf = (name: string): JobKind => ({
  name,
  schema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  subjectOf: ({ id }) => String(id).replace(/@.*$/, ''),
  timer: null,
});
/** Owed work of `fanOut` is stored with its jobs. The kind `expire` limits the number of payloads per job. */
export const QUEUES_UNDER_TEST = ['settle', 'refund', 'expire', 'deliver', 'fanOut'].map((name) => ({
  kind: { ...kindOf(name), ...(name === 'expire' && { payloadsPerJob: 3 }) },
  isOwedByRow: name === 'fanOut',
}));

export class QueueUnderTest {
  readonly failures: JobFailure[] = [];
  readonly errors: string[] = [];
  readonly putBack: string[] = [];
  readonly pool: PgPool;
  readonly backends: Backends;
  readonly #database: TestDatabase;
  readonly #opened: { readonly jobs: PgBossJobs; readonly notices: NotificationListener }[] = [];

  private constructor(database: TestDatabase, backends: Backends) {
    this.#database = database;
    this.backends = backends;
    this.pool = new PgPool(connectionConfig(database.connectionString, 'jobs'), 4, () => undefined);
  }

  static async create(): Promise<QueueUnderTest> {
    const database = await migratedDatabase();
    return new QueueUnderTest(database, await watchBackends(database.connectionString));
  }

  get connectionString(): string {
    return this.#database.connectionString;
  }

  /** Opens a process. */
  async open(
    often: Partial<Pick<PgBossJobsOptions, 'deleteMs' | 'heartbeatMs' | 'hangsMs' | 'pool' | 'queues'>> = {},
  ): Promise<PgBossJobs> {
    const notices = new NotificationListener(connectionConfig(this.#database.connectionString, 'notices'));
    await notices.open();
    try {
      const jobs = await PgBossJobs.open({
        pool: this.pool,
        notices,
        queues: QUEUES_UNDER_TEST,
        onError: (error, failure) => {
          this.errors.push(error.message);
          this.failures.push(failure);
        },
        onPutBack: (queue, { message }) => this.putBack.push(`${queue}: ${message}`),
        ...often,
      });
      this.#opened.push({ jobs, notices });
      return jobs;
    } catch (error) {
      await notices.close();
      throw error;
    }
  }

  async rows<Row = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> {
    const { rows } = await this.backends.sql.query(text, values);
    return rows as Row[];
  }

  /** Resolves when no payload is waiting or running. */
  rest(jobs: PgBossJobs, queue: string): Promise<unknown> {
    return this.backends.until(async () => (await jobs.open(queue)) === 0);
  }

  async close(): Promise<void> {
    for (const { jobs, notices } of this.#opened) {
      await jobs.stop(1_000);
      await notices.close();
    }
    await this.pool.close();
    await this.backends.close();
    await this.#database.drop();
  }
}

export const idOf = ({ payload }: JobRequest): string => payload['id'] as string;
export const request = (id: string, more: Partial<JobRequest> = {}): JobRequest => ({
  queue: 'settle',
  tenant: tenant('acct'),
  payload: { id },
  ...more,
});
