// `analytics export` writes the rows of the view to CSV and Parquet, and DuckDB reads both.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect } from 'chai';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { csvFile } from '../../../infrastructure/analytics/commands/exportFiles/csvFile.ts';
import { parquetFile } from '../../../infrastructure/analytics/commands/exportFiles/parquetFile.ts';
import { ANALYST_VIEWS } from '../../../projections/registry.ts';
import { runWords } from '../../support/cli.ts';
import { startedDatabase, TestGateway, type TestTenant } from '../../world/gateway.ts';
import type { TestDatabase } from '../../world/postgres.ts';

const duckDb = async (text: string): Promise<readonly Record<string, unknown>[]> => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const rows = await (await connection.runAndReadAll(text)).getRowObjectsJson();
  connection.closeSync();
  instance.closeSync();
  return rows as readonly Record<string, unknown>[];
};

describe('analytics export', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  let other: TestTenant;
  let folder: string;
  before(async () => {
    database = await startedDatabase();
    gateway = await TestGateway.open({ database });
    other = await gateway.newTenant();
    folder = await mkdtemp(join(tmpdir(), 'quita-export-'));
    for (const [n, { testKey: key }] of [gateway.tenant, gateway.tenant, other].entries()) {
      const charge = { amount: 10_050 + n, payment_method: 'pix' };
      const { body } = await gateway.post<{ id: string }>('/v1/charges', charge, {
        key,
        idempotencyKey: `export-${n}`,
      });
      if (n !== 1) await gateway.post(`/v1/sandbox/charges/${body.id}/pay`, {}, { key });
    }
    await gateway.untilProjected();
  });
  after(async () => {
    await gateway.close();
    await database.drop();
    await rm(folder, { recursive: true });
  });

  const exported = async (table: string, format: string, ...words: string[]): Promise<string> => {
    const out = join(folder, `${table}.${format}`);
    const asked = ['--table', table, '--format', format, '--out', out, ...words];
    const { code, err } = await runWords(database.connectionString, 'analytics', 'export', ...asked);
    expect([code, err]).to.deep.equal([0, '']);
    return out;
  };
  /** Returns the rows of the view as text. */
  const shown = async (table: string) => {
    const { columns } = ANALYST_VIEWS.find(({ name }) => name === table) as (typeof ANALYST_VIEWS)[number];
    const texts = columns.map(({ name }) => `${name}::text AS ${name}`);
    return (await gateway.storage.reads.query<Record<string, unknown>>(`SELECT ${texts} FROM analytics.${table}`)).rows;
  };

  it('leaves the time to pay of an unpaid payment empty in both formats', async () => {
    const rowsOf = (file: string) =>
      duckDb(`SELECT status, seconds_to_pay::text ~ '^[0-9]+$' AS is_timed FROM ${file} ORDER BY 1, 2`);
    const expected = [
      { status: 'paid', is_timed: true },
      { status: 'paid', is_timed: true },
      { status: 'pending', is_timed: null },
    ];
    expect(await rowsOf(`read_csv('${await exported('payments', 'csv')}', all_varchar = true)`)).to.deep.equal(
      expected,
    );
    expect(await rowsOf(`'${await exported('payments', 'parquet')}'`)).to.deep.equal(expected);
  });

  it('writes every view to Parquet, with the values and types of the view', async () => {
    for (const { name, columns } of ANALYST_VIEWS) {
      const out = await exported(name, 'parquet');
      const texts = columns.map((one) => {
        if (one.type === 'timestamptz')
          return `strftime(${one.name} AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M:%S.%g') AS ${one.name}`;
        return `${one.name}::text AS ${one.name}`;
      });
      const rows = await duckDb(`SELECT ${texts} FROM '${out}'`);
      const normalCell = (type: string, text: string | null) => {
        if (text === null) return null;
        if (type === 'numeric') return text.replace(/\.?0+$/, '');
        return type === 'timestamptz' ? new Date(`${text.replace(/\+00$/, '')}Z`).getTime() : text;
      };
      const normal = (all: readonly Record<string, unknown>[]) =>
        all
          .map((row) => columns.map((one) => normalCell(one.type, row[one.name] as string | null)))
          .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
      expect(normal(rows), name).to.deep.equal(normal(await shown(name)));
      const described = await duckDb(`DESCRIBE SELECT * FROM '${out}'`);
      const types = { text: 'VARCHAR', bigint: 'BIGINT', integer: 'INTEGER', boolean: 'BOOLEAN', date: 'DATE' };
      const others = { timestamptz: 'TIMESTAMP WITH TIME ZONE', numeric: 'DECIMAL(38,8)' };
      expect(
        described.map((one) => [one['column_name'], one['column_type']]),
        name,
      ).to.deep.equal(columns.map((one) => [one.name, { ...types, ...others }[one.type]]));
    }
  });

  it('writes CSV that DuckDB reads as the same rows, optionally for one account', async () => {
    const out = await exported('payments', 'csv', '--account', ACCOUNT.idPrefix + gateway.tenant.accountId);
    const rows = await duckDb(
      `SELECT amount_minor, amount, status FROM read_csv('${out}', all_varchar = true) ORDER BY 1`,
    );
    expect(rows).to.deep.equal([
      { amount_minor: '10050', amount: '100.50', status: 'paid' },
      { amount_minor: '10051', amount: '100.51', status: 'pending' },
    ]);
    expect((await readFile(out, 'utf8')).split('\r\n')[0]).to.match(/^payment_id,account_id,mode,created_at,/);
  });

  it('rejects an unknown account instead of writing no rows', async () => {
    const out = join(folder, 'nobody.csv');
    const asked = ['--table', 'payments', '--format', 'csv', '--out', out, '--account', `acct_${'0'.repeat(26)}`];
    const { code, err } = await runWords(database.connectionString, 'analytics', 'export', ...asked);
    expect([code, err]).to.deep.equal([2, 'quita: There is no such account.\n']);
    expect(await readdir(folder)).to.not.include('nobody.csv');
  });

  it('writes only the requested days', async () => {
    const rowsOf = async (...words: string[]) =>
      (await readFile(await exported('payments', 'csv', ...words), 'utf8')).trimEnd().split('\r\n').length - 1;
    expect(await rowsOf('--from', '2000-01-01', '--to', '2000-12-31')).to.equal(0);
    expect(await rowsOf('--from', '2000-01-01')).to.equal(3);
    expect(await rowsOf('--to', '2000-01-01')).to.equal(0);
  });

  it('replaces a file only when the new one is complete, and leaves no partial file', async () => {
    const out = join(folder, 'kept.csv');
    await writeFile(out, 'kept');
    const asked = ['--table', 'payments', '--format', 'csv', '--out'];
    const bad = await runWords(database.connectionString, 'analytics', 'export', ...asked, out, '--from', '2030-02-30');
    expect([bad.code, bad.err]).to.deep.equal([2, 'quita: --from must be a day like 2026-03-31\n']);
    const backwards = ['--from', '2026-03-02', '--to', '2026-03-01'];
    const turned = await runWords(database.connectionString, 'analytics', 'export', ...asked, out, ...backwards);
    expect([turned.code, turned.err]).to.deep.equal([2, 'quita: --to must not be before --from\n']);
    expect(await readFile(out, 'utf8')).to.equal('kept');
    const nowhere = await runWords(
      database.connectionString,
      'analytics',
      'export',
      ...asked,
      join(folder, 'no', 'x.csv'),
    );
    expect(nowhere.err).to.match(/^quita: .*x\.csv can't be written \(ENOENT\)$/m);
    expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).to.deep.equal([]);
  });

  it('writes texts and amounts of every kind', async () => {
    const columns = [
      { name: 'id', type: 'text' },
      { name: 'amount', type: 'numeric' },
      { name: 'sum', type: 'bigint' },
    ] as const;
    const rows = [
      { id: 'a "quoted", text\r\nof two lines', amount: '-0.00000001', sum: '-9223372036854775808' },
      { id: '', amount: '99999999999999999999.99', sum: '9223372036854775807' },
      { id: null, amount: null, sum: null },
      { id: 'São Paulo 🇧🇷', amount: '-12', sum: '0' },
      { id: '=1+1', amount: '-1', sum: '-1' },
    ];
    const [csv, parquet] = [join(folder, 'kinds.csv'), join(folder, 'kinds.parquet')];
    for (const [open, path] of [
      [csvFile, csv],
      [parquetFile, parquet],
    ] as const) {
      const file = await open(path, columns);
      await file.write(rows);
      await file.close();
    }
    expect(await duckDb(`SELECT id, amount::text AS amount, sum::text AS sum FROM '${parquet}'`)).to.deep.equal(
      rows.map(({ amount, ...row }) => ({
        ...row,
        amount: amount && (amount.includes('.') ? amount.padEnd(amount.indexOf('.') + 9, '0') : `${amount}.00000000`),
      })),
    );
    expect(await readFile(csv, 'utf8')).to.equal(
      'id,amount,sum\r\n"a ""quoted"", text\r\nof two lines",-0.00000001,-9223372036854775808\r\n' +
        '"",99999999999999999999.99,9223372036854775807\r\n,,\r\nSão Paulo 🇧🇷,-12,0\r\n\'=1+1,-1,-1\r\n',
    );
  });
});
