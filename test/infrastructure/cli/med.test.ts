// `med review`: operators let outcomes of disputes count, or not, beside the running program (rules Q3, O1); and all rows still follow.
import { expect } from 'chai';
import { CaseDesk, netOf } from '../../http/caseDesk.ts';
import { runWords } from '../../support/cli.ts';
import { TestGateway } from '../../support/gateway.ts';
import { migratedDatabase, type TestDatabase } from '../../support/postgres.ts';

interface Waiting {
  readonly waiting: readonly { readonly caseId: string; readonly because: string; readonly result: string | null }[];
}

describe('med review', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  before(async () => {
    database = await migratedDatabase();
    gateway = await TestGateway.open({ database });
  });
  after(async () => {
    await gateway.close();
    await database.drop();
  });
  const run = <T>(...words: string[]) => runWords<T>(database.connectionString, ...words);
  const good = async <T>(...words: string[]): Promise<T> => {
    const { code, err, json } = await run<T>(...words, '--json');
    expect(code, err).to.equal(0);
    return json;
  };
  const list = async () => {
    await gateway.untilProjected();
    const { waiting } = await good<Waiting>('med', 'review', 'list');
    return waiting.map(({ caseId, because, result }) => [caseId, because, result]);
  };

  it('lists what waits, approves and refuses', async () => {
    const desk = await CaseDesk.open(gateway);
    expect(await list()).to.deep.equal([]);
    expect((await run('med', 'review', 'list')).out).to.equal('nothing waits for a review\n');
    const { approved, refused, mismatch } = await desk.waiting();
    expect((await list()).toSorted()).to.deep.equal(
      [
        [approved.id, 'review', 'agreed'],
        [refused.id, 'review', 'agreed'],
        [mismatch.id, 'amount_mismatch', null],
      ].toSorted(),
    );
    const done = await good('med', 'review', 'approve', approved.id);
    expect(done).to.deep.equal({ caseId: approved.id, status: 'rejected', moneyOutcome: 'lost' });
    const kept = await good('med', 'review', 'reject', refused.id);
    expect(kept).to.deep.equal({ caseId: refused.id, status: 'open', moneyOutcome: null });
    expect((await run('med', 'review', 'approve', refused.id)).code).to.equal(2);
    expect((await run('med', 'review', 'approve', 'x')).code).to.equal(2);
    expect((await list()).map(([id]) => id)).to.deep.equal([mismatch.id]);
    await gateway.untilProjected();
    expect((await desk.accept(refused.id)).money_outcome).to.equal('lost');
    expect(await desk.wallet()).to.deep.equal({ available: 3 * netOf(1_000) - 2_000, retained: 0 });
    const { code, out } = await run('projections', 'verify');
    expect(code, out).to.equal(0);
    expect((await run('projections', 'rebuild', 'disputes')).code).to.equal(0);
    expect((await desk.read(approved.id)).status).to.equal('rejected');
  });
});
