// The CLI partitions read models and processes.
import { expect } from 'chai';
import { type CliRun, runWords } from '../../support/cli.ts';
import { startedDatabase, TestGateway } from '../../world/gateway.ts';
import type { TestDatabase } from '../../world/postgres.ts';

describe('projections partition', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  before(async () => {
    database = await startedDatabase();
    gateway = await TestGateway.open({ database });
    await gateway.charge();
  });
  after(async () => {
    await gateway.close();
    await database.drop();
  });
  const run = <T>(...words: string[]): Promise<CliRun<T>> => runWords<T>(database.connectionString, ...words);
  const statusOf = async (consumer: string): Promise<readonly string[]> => {
    const lines = (await run('projections', 'status')).out
      .split('\n')
      .map((line) => line.trim().replaceAll(/ {2,}/g, '|'));
    const at = lines.findIndex((line) => line.startsWith(`${consumer}|`));
    return lines.slice(at, at + 3).map((line) => line.replace(/\|\d+\|/, '|…|'));
  };

  it('shows each partition, and no partitions after a merge into one', async () => {
    await gateway.untilStored('refunds');
    expect((await run('projections', 'partition', 'refunds', '2')).out).to.equal('refunds has 2 partitions\n');
    const partitions = ['partition 0 of 2|…|caught up', 'partition 1 of 2|…|caught up'];
    expect(await statusOf('refunds')).to.deep.equal(['refunds|…|caught up', ...partitions]);
    const token = await gateway.logIn('OPERATOR');
    type Listed = { readonly data: readonly { readonly name: string; readonly partitions: readonly object[] }[] };
    const { body } = await gateway.get<Listed>('/ops/v1/projections', { key: null, headers: token });
    const listed = body.data.filter(({ partitions: own }) => own.length > 0);
    expect(listed.map(({ name, partitions: own }) => [name, own.length])).to.deep.equal([['refunds', 2]]);
    await gateway.charge();
    await gateway.untilProjected('refunds');
    expect(await run('projections', 'partition', 'refunds', '1', '--json')).to.deep.include({
      ...{ code: 0, json: { consumer: 'refunds', partitions: 1, isEven: true } },
    });
    expect((await statusOf('refunds')).slice(1).join()).to.not.include('partition');
  });

  it('lets doctor name a partition that is behind', async () => {
    await run('projections', 'partition', 'process/expiry', '2');
    await gateway.gateway.reactor?.stop();
    await gateway.charge();
    type Said = { readonly findings: readonly { readonly check: string; readonly says: string }[] };
    const { json } = await run<Said>('doctor', '--json');
    const found = (json as Said).findings.find(({ check }) => check === 'read models and processes');
    expect(found?.says).to.match(/^behind the log: .*process\/expiry#0\/2, process\/expiry#1\/2/);
  });

  for (const [words, message] of [
    [['users', '2'], /users can't be divided: .* These can: payments, refunds, /],
    [['wallet', '2'], /wallet can't be divided/],
    [['payments', '3'], /'3' is invalid for argument 'partitions'. Allowed choices are 1, 2, 4, 8, 16, 32, 64/],
    [['nobody', '2'], /'nobody' is invalid for argument 'consumer'/],
  ] as const)
    it(`rejects ${words.join(' ')}`, async () => {
      const { code, err } = await run('projections', 'partition', ...words);
      expect(code).to.equal(2);
      expect(err).to.match(message);
    });
});
