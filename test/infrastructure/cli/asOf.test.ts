// The CLI builds read models as of an earlier moment.
import { expect } from 'chai';
import { type CliRun, runWords } from '../../support/cli.ts';
import { startedDatabase, TestGateway } from '../../world/gateway.ts';
import type { TestDatabase } from '../../world/postgres.ts';

describe('projections as-of', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  let then: string;
  before(async () => {
    database = await startedDatabase();
    gateway = await TestGateway.open({ database });
    await gateway.charge();
    await gateway.untilProjected();
    then = (await gateway.storage.store.head()) as string;
    await gateway.charge();
  });
  after(async () => {
    await gateway.close();
    await database.drop();
  });
  const run = <T>(...words: string[]): Promise<CliRun<T>> =>
    runWords<T>(database.connectionString, 'projections', 'as-of', ...words);
  const charges = async (schema: string) =>
    (await gateway.storage.reads.query(`SELECT FROM ${schema}.payments`)).rowCount;

  it('builds the named read models at a position, and drops them', async () => {
    const { code, err, json } = await run(then, '--into', 'back_then', '--only', 'payments,wallet', '--json');
    expect(code, err).to.equal(0);
    expect(json).to.deep.include({ schema: 'back_then', position: then });
    expect(
      (json as { readModels: { readModel: string; parked: number }[] }).readModels.map((one) => one.readModel),
    ).to.deep.equal(['payments', 'wallet']);
    expect(await charges('back_then')).to.equal(1);
    expect((await run('--into', 'back_then', '--drop')).out).to.equal('dropped back_then\n');
    expect((await run('--into', 'back_then', '--drop')).err).to.contain('quita: there is no schema back_then\n');
  });

  it('builds all read models at a given time', async () => {
    const { code, out, err } = await run(new Date().toISOString(), '--into', 'just_now');
    expect(code, err).to.equal(0);
    expect(out).to.match(/^payments: \d+ events\n(.*\n)+just_now is as of \d+\n$/);
    expect(await charges('just_now')).to.equal(2);
    expect((await run(then, '--into', 'just_now')).err).to.contain('quita: schema just_now holds read models as of');
  });

  it('keeps erased personal data, so that a scrub fails until its schemas are dropped', async () => {
    const scrub = () => runWords(database.connectionString, 'privacy', 'scrub');
    expect((await run(then, '--into', 'still_there', '--only', 'payments')).code).to.equal(0);
    const { code, err } = await scrub();
    expect(code).to.equal(2);
    expect(err).to.match(/Schemas with earlier read models still hold personal data: .*still_there/);
    for (const schema of ['still_there', 'just_now']) expect((await run('--into', schema, '--drop')).code).to.equal(0);
    expect((await scrub()).code).to.equal(0);
  });

  for (const [words, message] of [
    [['2000-01-01T00:00Z', '--into', 'x_y'], 'no event was recorded at or before 2000-01-01T00:00:00.000Z'],
    [['2026-11-01', '--into', 'x_y'], 'a date needs a time and an offset, such as 2026-11-01T00:00-03:00'],
    [['yesterday', '--into', 'x_y'], 'yesterday is no position of this log, which ends at '],
    [['9999999999999999999', '--into', 'x_y'], '9999999999999999999 is no position of this log, which ends at '],
    [['2026-11-01T00:00Z', '--into', 'x_y', '--only', 'walet'], '"walet" is no read model: use payments, '],
    [['2026-11-01T00:00Z', '--into', 'x_y', '--drop'], 'projections as-of: give either a moment or --drop'],
    [['--into', 'x_y'], 'projections as-of: give either a moment or --drop'],
    [['2026-11-01T00:00Z'], "required option '--into"],
  ] as const)
    it(`rejects ${words.join(' ')}`, async () => {
      const { code, err } = await run(...words);
      expect(code).to.equal(2);
      expect(err).to.contain(`quita: ${message}`);
    });
});
