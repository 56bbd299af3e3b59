import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { dump } from '../../../infrastructure/databaseCopy/dump.ts';
import { runCopy } from '../../../infrastructure/databaseCopy/program.ts';
import { restore } from '../../../infrastructure/databaseCopy/restore.ts';
import { COPIED_SCHEMAS, copiedTables } from '../../../infrastructure/databaseCopy/tables.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { TestGateway } from '../../world/gateway.ts';
import { emptyDatabase, migratedDatabase, type TestDatabase } from '../../world/postgres.ts';

/** Of an API key. Its characters separate lines, but PostgreSQL writes all except the last two unescaped. */
const LABEL = 'Loja\u2028 12\u2029\u0085\n\r';

describe('a dump of the database', () => {
  let folder: string;
  let source: TestDatabase;
  let gateway: TestGateway;
  let file: string;
  const pools: PgPool[] = [];
  const databases: TestDatabase[] = [];
  const poolOf = ({ connectionString }: TestDatabase): PgPool => {
    const pool = new PgPool(connectionConfig(connectionString, 'quita test'), 2, () => undefined);
    pools.push(pool);
    return pool;
  };
  const empty = async (): Promise<TestDatabase> => {
    const database = await emptyDatabase();
    databases.push(database);
    return database;
  };
  const rowsOf = async (db: PgPool): Promise<Record<string, readonly string[]>> => {
    const found: Record<string, readonly string[]> = {};
    for (const { name } of await copiedTables(db)) {
      const { rows } = await db.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t ORDER BY 1`);
      found[name] = rows.map(({ row }) => row);
    }
    return found;
  };
  const rewritten = async (change: (lines: string[]) => string[]): Promise<string> => {
    const path = join(folder, `${randomBytes(4).toString('hex')}.dump`);
    const lines = gunzipSync(await readFile(file))
      .toString()
      .split('\n');
    await writeFile(path, gzipSync(change(lines).join('\n')));
    return path;
  };
  const refusal = async (from: string): Promise<{ message: string; database: TestDatabase }> => {
    const database = await empty();
    const error = await restore(database.connectionString, from).then(
      () => null,
      (thrown: Error) => thrown,
    );
    return { message: error?.message ?? 'restored', database };
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quita-dump-'));
    file = join(folder, 'quita.dump');
    source = await migratedDatabase();
    databases.push(source);
    // No workers run, so jobs and timers stay pending.
    const roles = { serves: true, projects: true, works: false };
    gateway = await TestGateway.open({ database: source, roles });
    const customer = { name: 'Ana "\\u0041" Souza\t🎻', document: '12345678909' };
    expect((await gateway.charge({ amount: 1_000, customer })).status).to.equal(201);
    const headers = await gateway.logIn('OWNER');
    const created = await gateway.post('/v1/api-keys', { test: true, label: LABEL }, { key: null, headers });
    expect(created.status).to.equal(201);
    await gateway.untilProjected();
    await gateway.close();
    // No reactor ran, so this row stands for the checkpoint of a process.
    await poolOf(source).query(`UPDATE subscriptions.checkpoints SET name = 'process/' || name WHERE name = 'users'`);
    await dump(poolOf(source), file);
  });
  after(async () => {
    await Promise.all(pools.map((pool) => pool.close()));
    for (const database of databases) await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  it('covers every schema that migrations create, except read models and the views and roles of analysts', async () => {
    const text = `SELECT nspname AS name FROM pg_namespace
      WHERE nspname NOT LIKE 'pg\\_%' AND nspname NOT LIKE 'rm\\_%' AND nspname NOT IN ('information_schema', 'public') ORDER BY 1`;
    const { rows } = await poolOf(source).query<{ name: string }>(text);
    expect(rows.map(({ name }) => name)).to.have.members([...COPIED_SCHEMAS, 'analytics', 'analytics_access']);
  });

  it('is restored row by row without the checkpoints of read models, and a dump of the copy restores the same', async () => {
    const target = await empty();
    const report = await restore(target.connectionString, file);
    const [was, is] = [await rowsOf(poolOf(source)), await rowsOf(poolOf(target))];
    expect(was['event_store.events']).to.have.length.greaterThan(2);
    const ofProcesses = (rows: readonly string[] = []) => rows.filter((row) => row.includes('process/'));
    expect(is).to.deep.equal({ ...was, 'subscriptions.checkpoints': ofProcesses(was['subscriptions.checkpoints']) });
    expect(is['subscriptions.checkpoints']).to.have.length.greaterThan(0);
    expect(report.rows).to.equal(Object.values(was).reduce((sum, rows) => sum + rows.length, 0));

    const again = join(folder, 'again.dump');
    await dump(poolOf(target), again);
    const other = await empty();
    await restore(other.connectionString, again);
    expect(await rowsOf(poolOf(other))).to.deep.equal(is);
  });

  it('keeps the line separators in texts of merchants', async () => {
    const target = await empty();
    await restore(target.connectionString, file);
    const { rows } = await poolOf(target).query<{ label: string }>(
      `SELECT data::json->>'label' AS label FROM event_store.events WHERE type = 'ApiKeyIssued' AND data LIKE '%Loja%'`,
    );
    expect(rows).to.deep.equal([{ label: LABEL }]);
  });

  it('is readable only by its owner, and leaves no other file', async () => {
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    expect((await readdir(folder)).filter((name) => name.includes('unfinished'))).to.deep.equal([]);
  });

  it('restores nothing if it is damaged, and the intact file can be restored afterwards', async () => {
    const isRow = (line: string) => line.startsWith('[');
    const cut = await refusal(await rewritten((lines) => lines.slice(0, -3)));
    expect(cut.message).to.contain('is no complete dump: it ends too early');
    const [events] = (
      await poolOf(cut.database).query<{ n: number }>('SELECT count(*)::int AS n FROM event_store.events')
    ).rows;
    expect(events).to.deep.equal({ n: 0 });
    await restore(cut.database.connectionString, file);
    const lacking = await refusal(await rewritten((lines) => lines.toSpliced(lines.findIndex(isRow), 1)));
    expect(lacking.message).to.match(/has \d+ rows in the dump instead of \d+/);
    const noFile = join(folder, 'no.dump');
    await writeFile(noFile, 'nothing');
    expect((await refusal(noFile)).message).to.contain('is no complete dump');
    for (const at of [0, 1, 2]) {
      const other = await refusal(await rewritten((lines) => lines.with(at, '-- PostgreSQL database dump')));
      expect(other.message).to.contain('is no complete dump: it has a line that is not JSON');
    }
  });

  it('is rejected if a row was changed so that its table can’t take it', async () => {
    const cases: readonly [to: string, why: RegExp][] = [
      ['["1x",', /table event_store\.events rejects a row: invalid input syntax for type bigint: "1x"/],
      ['[1,', /table event_store\.events rejects a row: duplicate key/],
      ['[null,', /table event_store\.events rejects a row: null value in column "position"/],
      ['[2,,', /table event_store\.events rejects a row: invalid input syntax for type json/],
    ];
    for (const [to, why] of cases) {
      const { message, database } = await refusal(
        await rewritten((lines) => {
          const head = lines.findIndex((line) => line.includes('"table":"event_store.events"'));
          expect(lines[head + 2]).to.match(/^\["2",/);
          return lines.with(head + 2, (lines[head + 2] as string).replace('["2",', to));
        }),
      );
      expect(message, to).to.contain('is no complete dump: ').and.to.match(why);
      const { rows } = await poolOf(database).query('SELECT FROM event_store.events');
      expect(rows, to).to.deep.equal([]);
    }
  });

  it('is rejected if its checksum is wrong', async () => {
    const bytes = await readFile(file);
    bytes[bytes.length - 8]! ^= 1; // the checksum and the length, 4 bytes each, end the file
    const path = join(folder, 'checksum.dump');
    await writeFile(path, bytes);
    const { message, database } = await refusal(path);
    expect(message).to.contain('is no complete dump: incorrect data check');
    const { rows } = await poolOf(database).query('SELECT FROM event_store.events');
    expect(rows).to.deep.equal([]);
  });

  it('is rejected if it goes on after its last line', async () => {
    const { message } = await refusal(await rewritten((lines) => [...lines, '[1]']));
    expect(message).to.contain('is no complete dump: it goes on after its last line');
  });

  it('is rejected if another program wrote it', async () => {
    for (const line of ['{"name":"others"}', 'null', '[1]', '{"format":1}', '{"format":"1","migrations":[]}']) {
      const other = await refusal(await rewritten((lines) => [line, ...lines]));
      expect(other.message, line).to.match(/ is no dump of Quita$/);
    }
  });

  it('of a newer release is rejected with the required release', async () => {
    const newer = await refusal(
      await rewritten(([head = '', ...lines]) => [
        head.replace('"migrations":[', '"migrations":["9999_later",'),
        ...lines,
      ]),
    );
    expect(newer.message).to.contain('was written by a newer release (9999_later): restore it with that release');
    const format = await refusal(
      await rewritten(([head = '', ...lines]) => [head.replace('"format":1', '"format":2'), ...lines]),
    );
    expect(format.message).to.contain('a newer release wrote it');
  });

  it('is created and restored by commands, which report problems in one line', async () => {
    const said: string[] = [];
    const out = { write: (text: string) => said.push(text) };
    const target = await empty();
    const run = (what: 'dump' | 'restore', database: TestDatabase, ...words: string[]) =>
      runCopy(what, words, { DATABASE_URL: database.connectionString }, out, out);
    const path = join(folder, 'by-command.dump');
    expect(await run('dump', source, '--out', path)).to.equal(0);
    expect(await run('restore', target, '--from', path)).to.equal(0);
    expect(await run('restore', target, '--from', path)).to.equal(2);
    expect(await run('restore', target, '--from', join(folder, 'missing'))).to.equal(2);
    expect(await run('dump', await empty(), '--out', path)).to.equal(2);
    expect(
      said.map((text) => text.replaceAll(/\d+ rows of \d+/g, 'N rows of N').replaceAll(folder, '…')),
    ).to.deep.equal([
      'N rows of N tables written to …/by-command.dump\n',
      'N rows of N tables restored. Now start the program, which builds the read models\n',
      'quita: the database has data: restore into an empty one\n',
      'quita: there is no file …/missing\n',
      'quita: the database has no Quita schema yet: start the program first, which creates it\n',
    ]);
  });
});
