// pg-boss's tables as the program needs them, and every statement of the program against the installed schema.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import pg from 'pg';
import { JOBS_SCHEMA_VERSION, OtherJobsSchema } from '../../../infrastructure/jobs/schema.ts';
import * as statements from '../../../infrastructure/jobs/statements.ts';
import { QueueUnderTest, request } from './queueUnderTest.ts';
import { Worked } from './worked.ts';

const pgBoss = JSON.parse(readFileSync(new URL('../../../node_modules/pg-boss/package.json', import.meta.url), 'utf8'));
/** Indexes are created and dropped, not planned. */
const CHANGES = ['NEWEST_INDEX', 'CREATE_INDEXES', 'DROP_OLD_INDEX'];
const texts = Object.entries(statements).flatMap(([name, statement]): [string, string][] => {
  if (CHANGES.includes(name) || typeof statement === 'number') return [];
  return [[name, typeof statement === 'string' ? statement : statement.text]];
});

/** The interval at which this test deletes old jobs. */
const ROUND_MS = 700;

describe('the job tables', () => {
  let test: QueueUnderTest;
  beforeEach(async () => {
    test = await QueueUnderTest.create();
  });
  afterEach(() => test.close());

  const INDEXES = ['quita_deferred', 'quita_deferred_lines', 'quita_failed', 'quita_ready', 'quita_ready_lines'];
  const indexes = async (): Promise<readonly string[]> => {
    const text = "SELECT relname FROM pg_class WHERE relname LIKE 'quita%' AND relkind = 'I' ORDER BY relname";
    return (await test.rows<{ relname: string }>(text)).map(({ relname }) => relname);
  };
  /** Locks the table of jobs in another session until `end`. */
  const holding = async (mode: string) => {
    const session = new pg.Client({ connectionString: test.connectionString });
    await session.connect();
    await session.query(`BEGIN; LOCK TABLE jobs.job IN ${mode} MODE`);
    return session;
  };
  /** Resolves when a statement waits for a lock. */
  const whileWaiting = (like: string) =>
    test.backends.until(async () => {
      const text = `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`;
      return (await test.rows(text, [like])).length > 0;
    });

  it('have the version that the installed pg-boss creates', async () => {
    await test.open();
    expect(await test.rows('SELECT version FROM jobs.version')).to.deep.equal([{ version: JOBS_SCHEMA_VERSION }]);
    expect(pgBoss.pgboss.schema).to.equal(JOBS_SCHEMA_VERSION);
  });

  it('stay unchanged if their version is newer, and the start fails', async () => {
    await (await test.open()).stop(0);
    await test.rows('UPDATE jobs.version SET version = 99');
    for (const attempt of [1, 2]) {
      const refused = await test.open().catch((error: unknown) => error);
      expect(refused, `${attempt}`).to.be.instanceOf(OtherJobsSchema);
      expect((refused as Error).message).to.equal(
        `the job tables (schema "jobs") have version 99, but this program needs version ${JOBS_SCHEMA_VERSION}: a newer version of the program used this database`,
      );
    }
    expect(await test.rows('SELECT version FROM jobs.version')).to.deep.equal([{ version: 99 }]);
  });

  it('apply new options to existing queues', async () => {
    await (await test.open()).stop(0);
    await test.rows(
      'UPDATE jobs.queue SET deletion_seconds = 604800, retry_limit = 2, expire_seconds = 120, retry_delay_max = NULL',
    );
    await test.open();
    expect(
      await test.rows(
        'SELECT DISTINCT deletion_seconds, retention_seconds, retry_limit, expire_seconds, retry_delay_max, retry_backoff FROM jobs.queue WHERE name = ANY ($1)',
        [['settle', 'deliver', 'fanOut']],
      ),
    ).to.deep.equal([
      {
        deletion_seconds: 30 * 86_400,
        retention_seconds: 30 * 86_400,
        retry_limit: 30,
        expire_seconds: 86_400,
        retry_delay_max: 120,
        retry_backoff: true,
      },
    ]);
  });

  it('keep a failed job for 30 days', async () => {
    const jobs = await test.open();
    await jobs.enqueue([request('x')]);
    expect(
      await test.rows(
        "SELECT deletion_seconds, round(extract(epoch FROM keep_until - created_on))::int AS kept FROM jobs.job WHERE name = 'settle'",
      ),
    ).to.deep.equal([{ deletion_seconds: 30 * 86_400, kept: 30 * 86_400 }]);
  });

  it('accept every statement of the program', async () => {
    await test.open();
    expect(texts.map(([name]) => name)).to.include.members([
      'INSERT',
      'CLAIM',
      'DONE',
      'FAIL',
      'REOPEN',
      'LIST_FAILED',
    ]);
    for (const [name, text] of texts)
      await test
        .rows(`EXPLAIN (GENERIC_PLAN) ${text}`)
        .catch((error: Error) => expect.fail(`${name}: ${error.message}`));
  });

  it('are vacuumed like other queues of the program', async () => {
    await test.open();
    const unset = `SELECT relname FROM pg_class WHERE relnamespace = 'jobs'::regnamespace AND relkind = 'r'
      AND NOT coalesce(reloptions, '{}') @> '{autovacuum_vacuum_scale_factor=0.05}'`;
    expect(await test.rows(unset)).to.deep.equal([]);
  });

  it('lose indexes of earlier versions, even if an earlier version ran again meanwhile', async () => {
    await (await test.open()).stop(0);
    await test.rows('CREATE INDEX quita_lines ON jobs.job (name, group_id)');
    await test.open();
    expect(await indexes()).to.deep.equal(INDEXES);
  });

  it('keep an old index while a dump reads them, without blocking the running version', async () => {
    const running = await test.open();
    await test.rows('CREATE INDEX quita_lines ON jobs.job (name, group_id)');
    const dump = await holding('ACCESS SHARE');
    const starting = test.open();
    await Promise.all([starting, whileWaiting('%DROP INDEX%').then(() => running.enqueue([request('x')]))]);
    expect(await indexes()).to.deep.equal([...INDEXES, 'quita_lines'].toSorted());
    await dump.end();
    await test.open();
    expect(await indexes()).to.deep.equal(INDEXES);
  });

  it('get a missing index after a long transaction, without blocking the running version', async () => {
    const running = await test.open();
    await test.rows('DROP INDEX jobs.quita_failed');
    const writer = await holding('ROW EXCLUSIVE');
    const starting = test.open();
    const enqueued = whileWaiting('%CREATE INDEX%').then(() => running.enqueue([request('x')]));
    await Promise.race([enqueued, starting]);
    await writer.end();
    await Promise.all([starting, enqueued]);
    expect(await indexes()).to.deep.equal(INDEXES);
  });

  it('delete 2,500 jobs that failed more than 30 days ago, in few rounds', async () => {
    const jobs = await test.open({ deleteMs: ROUND_MS });
    await jobs.enqueue([request('x')]);
    await test.rows(
      `INSERT INTO jobs.job SELECT (jsonb_populate_record(j, jsonb_build_object('id', gen_random_uuid(), 'state', 'failed',
        'completed_on', now() - interval '31 days'))).* FROM jobs.job j, generate_series(1, 2500)`,
    );
    const left = async () => (await test.rows<{ left: number }>('SELECT count(*)::int AS left FROM jobs.job'))[0]?.left;
    expect(await left()).to.equal(2_501);
    const beganAtMs = performance.now();
    jobs.work('refund', new Worked(), { places: 1, perTarget: 1 });
    await test.backends.until(async () => (await left()) === 1);
    // Batches of 1,000 would need a third round, which would end later.
    expect(performance.now() - beganAtMs).to.be.below(3 * ROUND_MS);
    expect(test.errors).to.deep.equal([]);
  });

  it('delete only jobs that failed or waited more than 30 days ago', async () => {
    const jobs = await test.open({ deleteMs: 20 });
    const failed = "state = 'failed', completed_on = now()";
    const waiting = "created_on = now() - interval '31 days', keep_until = now()";
    for (const [id, change] of [
      ['failed long ago', `${failed} - interval '31 days'`],
      ['failed lately', `${failed} - interval '29 days'`],
      ['waited long', `${waiting} - interval '1 day'`],
      ['waits for a retry', `${waiting} - interval '1 day', state = 'retry', start_after = now() + interval '1 h'`],
      ['waited long and was tried again', `${waiting} + interval '1 day'`],
      ['runs long', `${waiting} - interval '1 day', state = 'active', heartbeat_on = now() + interval '1 day'`],
    ] as const) {
      await jobs.enqueue([request(id)]);
      await test.rows(`UPDATE jobs.job SET ${change} WHERE data->'payloads'->0->>'id' = $1`, [id]);
    }
    jobs.work('refund', new Worked(), { places: 1, perTarget: 1 });
    const left = async () =>
      (await test.rows<{ id: string }>("SELECT data->'payloads'->0->>'id' AS id FROM jobs.job ORDER BY 1")).map(
        ({ id }) => id,
      );
    await test.backends.until(async () => (await left()).length === 3);
    expect(await left()).to.deep.equal(['failed lately', 'runs long', 'waited long and was tried again']);
    expect(test.errors).to.deep.equal([]);
  });
});
