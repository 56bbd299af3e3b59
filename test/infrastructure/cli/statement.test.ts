// Statements from the CLI in every format.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { saoPauloDay } from '../../../domain/kernel/civilDay.ts';
import { fromMillis } from '../../../domain/kernel/time.ts';
import { PROJECTIONS } from '../../../projections/registry.ts';
import { type CliRun, runWords } from '../../support/cli.ts';
import { pdfText } from '../../support/pdfText.ts';
import { startedDatabase, TestGateway } from '../../world/gateway.ts';
import type { TestDatabase } from '../../world/postgres.ts';

describe('statement', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  let folder: string;
  let account: string;
  let month: string;
  before(async () => {
    database = await startedDatabase();
    gateway = await TestGateway.open({ database });
    folder = await mkdtemp(join(tmpdir(), 'quita-statement-'));
    account = `acct_${gateway.tenant.accountId}`;
    month = saoPauloDay(fromMillis(Date.now())).slice(0, 7);
    const { body } = await gateway.charge<{ id: string }>({ amount: 5_000 });
    await gateway.post(`/v1/sandbox/charges/${body.id}/pay`);
    await gateway.untilProjected('wallet');
  });
  after(async () => {
    await gateway.close();
    await database.drop();
    await rm(folder, { recursive: true });
  });
  const run = <T>(...words: string[]): Promise<CliRun<T>> =>
    runWords<T>(database.connectionString, 'statement', ...words);
  const written = async (format: string, mode: string): Promise<Buffer> => {
    const file = join(folder, `${mode}.${format}`);
    const { code, err, json } = await run(account, month, '--format', format, '--mode', mode, '--out', file, '--json');
    expect(code, err).to.equal(0);
    expect(json).to.deep.equal({ file, account, month, isProvisional: true });
    return readFile(file);
  };

  it('writes the same CSV as the route, and also OFX and PDF', async () => {
    const { text } = await gateway.get(`/v1/statements/${month}?format=csv`);
    const lines = (all: string) => all.split('\r\n').slice(0, -2);
    expect(lines(text)).to.have.length(3);
    expect(lines((await written('csv', 'test')).toString())).to.deep.equal(lines(text));
    expect((await written('csv', 'live')).toString()).to.not.contain('payment');
    expect((await written('ofx', 'test')).toString()).to.contain('<BALAMT>49.40</BALAMT>');
    expect(pdfText(await written('pdf', 'test'))).to.include('Pagamento recebido');
  });

  for (const [words, message] of [
    [['2026-13'], '"2026-13" is not a month: use a year and a month, such as 2026-11'],
    [['2999-01'], 'The month 2999-01 has not begun yet.'],
    [['2026-01', '--currency', 'real'], '--currency must be a code such as BRL'],
    [['2026-01', '--currency', 'USDT', '--format', 'ofx'], 'OFX has no currency USDT: use --format csv or pdf'],
  ] as const)
    it(`rejects ${words.join(' ')}`, async () => {
      const { code, err } = await run(account, ...words);
      expect([code, err]).to.deep.equal([2, `quita: ${message}\n`]);
    });

  it('warns if the newest movements may be missing', async () => {
    await gateway.close();
    const others = PROJECTIONS.filter(({ name }) => name !== 'wallet');
    gateway = await TestGateway.open({ database, projections: others });
    account = `acct_${gateway.tenant.accountId}`;
    const { body } = await gateway.charge<{ id: string }>({ amount: 7_000 });
    await gateway.post(`/v1/sandbox/charges/${body.id}/pay`);
    const { code, err } = await run(account, month, '--out', join(folder, 'early'));
    expect([code, err]).to.deep.equal([
      0,
      'quita: the read models are behind the log (wallet): the newest events may be missing\n',
    ]);
    await gateway.close();
    gateway = await TestGateway.open({ database });
    expect((await written('csv', 'test')).toString()).to.match(/70[.,]00/);
  });

  it('rejects an unknown account', async () => {
    const { code, err } = await run(`acct_${'0'.repeat(26)}`, '2026-01');
    expect([code, err]).to.deep.equal([2, 'quita: There is no such account.\n']);
  });
});
