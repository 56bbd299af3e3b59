// `med review` and `med settle`: operators decide the outcomes of disputes (rules Q3, O1), and the read models stay correct.
import { expect } from 'chai';
import { runWords } from '../../support/cli.ts';
import { CaseDesk, netOf } from '../../world/caseDesk.ts';
import { startedDatabase, TestGateway } from '../../world/gateway.ts';
import type { TestDatabase } from '../../world/postgres.ts';

interface Waiting {
  readonly waiting: readonly { readonly caseId: string; readonly because: string; readonly result: string | null }[];
}

describe('med review', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  before(async () => {
    database = await startedDatabase();
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

  it('settles a mismatch once, in exactly one of three ways', async () => {
    const desk = await CaseDesk.open(gateway);
    const chargeId = await desk.paid(10_000);
    const { id } = await desk.dispute(chargeId, { amount: 14_000 });
    const settle = (...words: string[]) => run('med', 'settle', id, ...words);
    const why = ['--reason', 'asked the bank'];
    for (const words of [
      why,
      ['--lost', '1'],
      ['--held', '1', '--nothing', ...why],
      ['--lost', '0', ...why],
      ['--lost', '1.5', ...why],
      ['--lost', '10001', ...why],
      ['--nothing', '--reason', ' '],
    ]) {
      const { code, err } = await settle(...words);
      expect(code, `${words.join(' ')}: ${err}`).to.equal(2);
    }
    const settled = await good('med', 'settle', id, '--lost', '10000', ...why);
    expect(settled).to.deep.equal({ caseId: id, status: 'rejected', moneyOutcome: 'lost' });
    expect((await settle('--nothing', ...why)).code).to.equal(2);
    await gateway.untilProjected();
    expect(await desk.wallet()).to.deep.equal({ available: netOf(10_000) - 10_000, retained: 0 });
    const { out } = await run('ledger', 'check');
    expect(out).to.include('BRL disputes: 10000 left, the platform’s gain');
    const { json } = await run<{ disputes: { rest: number }[] }>('ledger', 'check', '--json');
    expect(json.disputes.map(({ rest }) => rest)).to.deep.equal([10_000]);
    expect((await list()).filter(([caseId]) => caseId === id)).to.deep.equal([]);
  });
  it('dismisses a report that can’t open a case, by the bank’s case ID', async () => {
    const desk = await CaseDesk.open(gateway);
    const chargeId = await desk.paid();
    const { id } = await desk.dispute(chargeId);
    await desk.decide(id, { result: 'agreed' });
    const said = { owed: true, provider_case_id: 'never-1' };
    expect((await desk.post(`/v1/sandbox/charges/${chargeId}/med`, said)).status).to.equal(202);
    await desk.merchant.flushed();
    const found = (await list()).filter(([, because]) => because === 'report_not_taken');
    expect(found).to.have.length(1);
    expect((await run('med', 'review', 'list')).out).to.include('can’t open a case: the charge was lost in an earlier');
    const dismiss = () => run('med', 'review', 'dismiss', 'never-1', '--reason', 'asked the bank');
    expect((await run('med', 'review', 'dismiss', 'never-1')).code).to.equal(2);
    expect((await dismiss()).code).to.equal(0);
    await gateway.untilProjected();
    expect((await dismiss()).code).to.equal(2);
    expect((await list()).filter(([, because]) => because === 'report_not_taken')).to.deep.equal([]);
  });
  it('lists pending reviews, approves and rejects them', async () => {
    const desk = await CaseDesk.open(gateway);
    expect(await list()).to.deep.equal([]);
    expect((await run('med', 'review', 'list')).out).to.equal('nothing to review\n');
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
