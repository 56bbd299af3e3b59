// `jobs list` and `jobs redrive` show failed jobs and run them again, beside the running program.
import { expect } from 'chai';
import { QUEUES } from '../../../application/capabilities.ts';
import { runWords } from '../../support/cli.ts';
import { startedDatabase, TestGateway } from '../../world/gateway.ts';
import { Merchant } from '../../world/merchant.ts';
import type { TestDatabase } from '../../world/postgres.ts';
import { Receiver } from '../../world/receiver.ts';

interface Listed {
  readonly jobs: readonly Record<string, unknown>[];
  readonly total: number;
}

describe('the job commands', () => {
  let database: TestDatabase;
  let test: TestGateway;
  let receiver: Receiver;
  before(async () => {
    database = await startedDatabase();
    test = await TestGateway.open({ database });
    receiver = await Receiver.open();
  });
  after(async () => {
    await test.close();
    await receiver.close();
    await database.drop();
  });

  const run = <T = Record<string, unknown>>(...words: string[]) => runWords<T>(database.connectionString, ...words);
  const refused = async (message: string, ...words: string[]) => {
    const { code, out, err } = await run(...words);
    // The line before is the security log's entry for the attempt.
    expect([code, out, err.trimEnd().split('\n').at(-1)]).to.deep.equal([2, '', `quita: ${message}`]);
  };

  it('report that no job has failed, and reject invalid arguments', async () => {
    expect((await run('jobs', 'list')).out).to.equal('no failed jobs\n');
    expect((await run('jobs', 'list', '--json')).json).to.deep.equal({ jobs: [], total: 0 });
    expect((await run('jobs', 'redrive', '--all', '--json')).json).to.deep.equal({ redriven: [] });
    expect((await run('jobs', 'redrive', '--queue', 'deliver')).out).to.equal('no permanently failed jobs\n');
    const which = 'give exactly one of a job id, --queue <value> and --all';
    await refused(which, 'jobs', 'redrive');
    await refused(which, 'jobs', 'redrive', '--all', '--queue', 'deliver');
    await refused('"x" is not a job id; npm run cli -- jobs list shows them', 'jobs', 'redrive', 'x');
    const id = '00000000-0000-4000-8000-000000000000';
    await refused(`no permanently failed job has the id ${id}`, 'jobs', 'redrive', id);
    for (const command of ['list', 'redrive'])
      await refused(
        `option '--queue <value>' argument 'fanout' is invalid. Allowed choices are ${QUEUES.join(', ')}. (npm run cli -- jobs ${command} --help explains it)`,
        ...['jobs', command, '--queue', 'fanout'],
      );
  });

  it('show a permanently failed fan-out, and redrive it so that its message is sent once', async () => {
    const shop = await Merchant.open(test);
    await shop.register(receiver.url, ['charge.created']);
    const { operations } = test.storage;
    await operations.query(
      'CREATE FUNCTION jobs.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.state := \'failed\'; NEW.retry_count := 30; NEW.started_on := now(); NEW.completed_on := now(); NEW.output := \'{"message": "no"}\'; RETURN NEW; END $$',
    );
    await operations.query(
      "CREATE TRIGGER fail BEFORE INSERT ON jobs.job_common FOR EACH ROW WHEN (NEW.name = 'fanOut') EXECUTE FUNCTION jobs.fail()",
    );
    await shop.charge();
    expect(await test.gateway.reacted.caughtUp(30_000)).to.equal(true);
    await operations.query('DROP TRIGGER fail ON jobs.job_common');

    const { json } = await run<Listed>('jobs', 'list', '--queue', 'fanOut', '--json');
    expect(json.total).to.equal(1);
    const { id, payloads, failedAt, ...job } = json.jobs[0] as Record<string, unknown>;
    expect(job).to.deep.equal({
      queue: 'fanOut',
      state: 'failed',
      accountId: `acct_${shop.tenant.accountId}`,
      mode: 'test',
      attempts: 31,
      error: 'no',
      failures: [],
      nextAttemptAt: null,
    });
    expect((await run('jobs', 'list')).out).to.equal(
      `${failedAt}  ${id}  fanOut  failed permanently  acct_${shop.tenant.accountId} test  31 attempts  ${(payloads as object[]).map((one) => JSON.stringify(one)).join(' ')}  no\n`,
    );
    expect((await run('jobs', 'redrive', id as string)).out).to.equal('retrying 1 jobs with 1 payloads\n');
    await receiver.until(() => true);
    await shop.flush();
    await refused(`no permanently failed job has the id ${id}`, 'jobs', 'redrive', id as string);
    expect(receiver.got).to.have.length(1);
    expect((await run('jobs', 'list')).out).to.equal('no failed jobs\n');
  });
});
