// pg-boss's tables as the program needs them, and what is done to them: every statement against the installed schema.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { JOBS_SCHEMA_VERSION, OtherJobsSchema } from '../../../infrastructure/jobs/schema.ts';
import * as statements from '../../../infrastructure/jobs/statements.ts';
import { QueueUnderTest, request } from './queueUnderTest.ts';

const pgBoss = JSON.parse(readFileSync(new URL('../../../node_modules/pg-boss/package.json', import.meta.url), 'utf8'));
const texts = Object.entries(statements).flatMap(([name, statement]): [string, string][] =>
  typeof statement === 'string'
    ? name === 'LINES_INDEX' || name.startsWith('CREATE_')
      ? []
      : [[name, statement]]
    : 'text' in statement
      ? [[name, statement.text]]
      : [],
);

describe('the job tables', () => {
  let test: QueueUnderTest;
  beforeEach(async () => {
    test = await QueueUnderTest.create();
  });
  afterEach(() => test.close());

  it('are of the version that the installed pg-boss makes', async () => {
    await test.open();
    expect(await test.rows('SELECT version FROM jobs.version')).to.deep.equal([{ version: JOBS_SCHEMA_VERSION }]);
    expect(pgBoss.pgboss.schema).to.equal(JOBS_SCHEMA_VERSION);
  });

  it('are left alone when they are of a newer version, and the start is refused', async () => {
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

  it('take new options of queues that are there', async () => {
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

  it('take every statement of ours', async () => {
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

  it('find waiting jobs by tenant and target through an index', async () => {
    await test.open();
    await test.rows(
      `INSERT INTO jobs.job (name, data, group_id, group_tier, policy)
       SELECT 'settle', '{"items": ["x"]}', 'live/t' || n % 100, '', 'standard' FROM generate_series(1, 20000) n`,
    );
    await test.rows('ANALYZE jobs.job');
    const plan = (await test.rows<{ 'QUERY PLAN': string }>(`EXPLAIN (GENERIC_PLAN) ${statements.CLAIM.text}`))
      .map((row) => row['QUERY PLAN'])
      .join('\n');
    expect(plan).to.match(/Index (Only )?Scan using job_common_name_group_id_group_tier_start_after_idx/);
    expect(plan).not.to.contain('Seq Scan on job');
  });
});
