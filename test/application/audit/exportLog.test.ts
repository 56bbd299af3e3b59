// Exports of a real log. The standalone verifier accepts them, and a resumed export has the same bytes.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { EventMetadata } from '../../../application/ports/loggedEvent.ts';
import type { AccountId } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import { openEventStoreDb } from '../../../infrastructure/eventStore/eventStoreDb/eventStoreDb.ts';
import { ACCOUNT, EVER, SealedLog } from '../../support/audit/sealedLog.ts';
import { logKeyOf, ORIGIN } from '../../support/audit/syntheticExport.ts';
import { byFunction } from '../../support/audit/verifiers.ts';
import { EventStoreDbServer } from '../../support/eventStoreDb/server.ts';
import { loseFacts } from '../../support/lostFacts.ts';
import { createPostgresEventLog, type PostgresEventLog } from '../../support/postgresEventLog.ts';

const KEY = logKeyOf('the log');
const LATER_KEY = logKeyOf('the log after the rotation');
const TRUST = { keys: [KEY.vkey, LATER_KEY.vkey], checkpoints: [] };

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .toSorted();
const contentsOf = (folder: string) =>
  filesIn(folder).map((name) => [name, readFileSync(join(folder, name)).toString('base64')]);

interface Line {
  readonly index: number;
  readonly entry: { readonly stream: string; readonly recordedAt: string; readonly metadata: unknown };
}
const entriesIn = (folder: string): readonly Line[] =>
  readFileSync(join(folder, 'entries.ndjson'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const rejected = (exporting: Promise<unknown>): Promise<string> =>
  exporting.then(
    () => 'exported',
    (error: Error) => error.message,
  );
const HOUR = ['2026-10-01T10:00:00.000Z', '2026-10-01T11:00:00.000Z', '2026-10-01T12:00:00.000Z'] as const;
const time = (text: string) => text as Timestamp;

describe('an audit export', () => {
  let database: PostgresEventLog;
  let log: SealedLog;
  let root: string;
  const inRoot = (name: string) => join(root, name);
  const all = () => inRoot('all');

  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'quita-export-'));
    database = await createPostgresEventLog();
    const writer = await database.connect();
    log = new SealedLog(database.connectionString, writer, [KEY, LATER_KEY]);
    for (const [n, size] of [100, 300, 600].entries()) {
      await log.append((size - (await log.size())) / 4);
      await loseFacts(database.sql, 'UPDATE event_store.events SET recorded_at = $1 WHERE recorded_at > $2', [
        HOUR[n],
        HOUR[2],
      ]);
      await log.reread(await database.connect());
      await log.seal(size);
      await log.query('UPDATE audit.checkpoints SET signed_at = $1 WHERE size = $2', [HOUR[n], size]);
      if (n === 1) await log.auditKeys.rotate();
    }
    await log.export(all());
  });
  after(async () => {
    await log.close();
    await database.dispose();
    rmSync(root, { recursive: true });
  });

  it('contains all entries except webhook deliveries, all tiles and the signed checkpoints, and verifies', async () => {
    expect(JSON.parse(readFileSync(join(all(), 'manifest.json'), 'utf8'))).to.deep.equal({
      format: 'quita-audit-export/2',
      origin: ORIGIN,
      keys: [KEY.vkey, LATER_KEY.vkey],
      from: null,
      to: null,
      account: null,
      first: 0,
      end: 600,
      size: 600,
    });
    expect(filesIn(all())).to.deep.equal([
      ...['checkpoints/100', 'checkpoints/300', 'checkpoints/600'],
      ...['entries.ndjson', 'manifest.json'],
      ...['tile/0/000', 'tile/0/001', 'tile/0/002.p/88', 'tile/1/000.p/2'],
    ]);
    const streams = entriesIn(all()).map(({ entry }) => entry.stream.split('-')[0]);
    expect(streams).to.deep.equal(Array(600).fill('payment'));
    expect(await byFunction(all(), TRUST)).to.deep.equal([]);
  });

  it('fails verification with another key, or with only the old key after a rotation', async () => {
    const by = (keys: readonly string[]) => byFunction(all(), { keys, checkpoints: [] });
    expect(await by([logKeyOf('another').vkey])).to.include('entries 0 to 599: covered by no trusted checkpoint');
    expect(await by([KEY.vkey])).to.deep.equal([
      `checkpoint 600 is not signed by a trusted key of ${ORIGIN}`,
      'entries 300 to 599: covered by no trusted checkpoint',
    ]);
  });

  it('resumes after an interruption and ends with the same bytes', async () => {
    const expected = contentsOf(all());
    const { size } = statSync(join(all(), 'entries.ndjson'));
    for (const [n, cut] of [0, 1, Math.floor(size / 3), size - 1, size].entries()) {
      const folder = inRoot(`cut-${n}`);
      cpSync(all(), folder, { recursive: true });
      truncateSync(join(folder, 'entries.ndjson'), cut);
      for (const tile of ['tile/0/001', 'tile/1'].slice(n % 2)) rmSync(join(folder, tile), { recursive: true });
      await log.export(folder);
      expect(contentsOf(folder), `cut at ${cut}`).to.deep.equal(expected);
      await log.export(folder);
      expect(contentsOf(folder), 'exported again').to.deep.equal(expected);
    }
    const unbegun = inRoot('unbegun');
    cpSync(join(all(), 'checkpoints'), join(unbegun, 'checkpoints'), { recursive: true });
    writeFileSync(join(unbegun, 'checkpoints', '601'), 'of a begin that was killed');
    await log.export(unbegun);
    expect(contentsOf(unbegun)).to.deep.equal(expected);
  });

  it('resumes an export without an end of an earlier build, which stored the time of the newest checkpoint', async () => {
    const folder = inRoot('of-earlier-build');
    cpSync(all(), folder, { recursive: true });
    const file = join(folder, 'manifest.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"to": null', `"to": "${HOUR[2]}"`));
    const expected = contentsOf(folder);
    truncateSync(join(folder, 'entries.ndjson'), 5_000);
    await log.export(folder, { ...EVER, to: time(HOUR[2]) });
    expect(contentsOf(folder)).to.deep.equal(expected);
  });

  it('keeps its original end if the log grows before it is resumed', async () => {
    const folder = inRoot('grown');
    cpSync(all(), folder, { recursive: true });
    truncateSync(join(folder, 'entries.ndjson'), 5_000);
    await log.append(1);
    await log.seal(604);
    await log.export(folder);
    expect(contentsOf(folder)).to.deep.equal(contentsOf(all()));
    const now = inRoot('now');
    expect((await log.export(now)).end).to.equal(604);
    expect(await byFunction(now, { ...TRUST, checkpoints: [join(all(), 'checkpoints', '600')] })).to.deep.equal([]);
  });

  it('contains the entries recorded in its period, the one before and the one after', async () => {
    const of = async (from: string | null, to: string | null) => {
      const folder = inRoot(`period-${from}-${to}`);
      const { first, end } = await log.export(folder, { ...EVER, from: from as Timestamp, to: to as Timestamp });
      expect(await byFunction(folder, TRUST)).to.deep.equal([]);
      const indexes = entriesIn(folder).map(({ index }) => index);
      return [first, end, indexes[0], indexes.at(-1), indexes.length];
    };
    expect(await of(HOUR[1], HOUR[2])).to.deep.equal([100, 300, 99, 300, 202]);
    expect(await of(null, HOUR[1])).to.deep.equal([0, 100, 0, 100, 101]);
    expect(await of(HOUR[2], '2026-10-02T00:00:00.000Z')).to.deep.equal([300, 600, 299, 600, 302]);
    expect(await of('2026-10-01T10:00:00.001Z', '2026-10-01T10:59:59.999Z')).to.deep.equal([100, 100, 99, 100, 2]);
    expect(await of(HOUR[2], HOUR[1])).to.deep.equal([300, 300, 299, 300, 2]);
  });

  it('contains only the entries of the given account, none around the period, and verification finds a missing entry', async () => {
    const folder = inRoot('account');
    await log.export(folder, { ...EVER, to: time('2026-10-02T00:00:00.000Z'), account: ACCOUNT as AccountId });
    const entries = entriesIn(folder);
    expect(entries.length).to.equal(300);
    expect(new Set(entries.map(({ entry }) => (entry.metadata as EventMetadata).account))).to.deep.equal(
      new Set([ACCOUNT]),
    );
    expect(await byFunction(folder, TRUST)).to.deep.equal([]);
    const lines = readFileSync(join(folder, 'entries.ndjson'), 'utf8').split('\n');
    writeFileSync(join(folder, 'entries.ndjson'), lines.toSpliced(5, 1).join('\n'));
    expect(await byFunction(folder, TRUST)).to.deep.equal(['entry 10: revision 2 of its stream follows revision 0']);
  });

  it('is rejected for a folder with other content or a log without a checkpoint', async () => {
    expect(await rejected(log.export(all(), { ...EVER, from: time(HOUR[1]) }))).to.equal(
      'The folder holds an export of another period or account.',
    );
    const ended = inRoot('ended');
    await log.export(ended, { ...EVER, to: time(HOUR[2]) });
    const before = contentsOf(ended);
    const other = 'The folder holds an export of another period or account.';
    expect(await rejected(log.export(ended))).to.equal(other);
    expect(contentsOf(ended)).to.deep.equal(before);
    expect(await rejected(log.export(all(), { ...EVER, to: time(HOUR[2]) }))).to.equal(other);
    const earlier = inRoot('earlier');
    cpSync(all(), earlier, { recursive: true });
    const manifest = readFileSync(join(earlier, 'manifest.json'), 'utf8');
    writeFileSync(join(earlier, 'manifest.json'), manifest.replace('quita-audit-export/2', 'quita-audit-export/1'));
    expect(await rejected(log.export(earlier))).to.equal(
      'The folder holds an export in another format. Use an empty folder.',
    );
    expect(await rejected(log.export(root))).to.equal('The folder is not empty, and holds no export.');
    const empty = await createPostgresEventLog();
    const unsealed = new SealedLog(empty.connectionString, await empty.connect(), [KEY]);
    expect(await rejected(unsealed.export(inRoot('unsealed')))).to.equal('Nothing has been sealed yet.');
    await unsealed.close();
    await empty.dispose();
  });
});

describe('an audit export of a log in EventStoreDB', () => {
  it('has the same entries as an export from PostgreSQL, except for their times', async () => {
    const root = mkdtempSync(join(tmpdir(), 'quita-export-'));
    const server = await EventStoreDbServer.start();
    const database = await createPostgresEventLog();
    const stores = [await database.connect(), await openEventStoreDb({ connectionString: server.connectionString })];
    const found: unknown[] = [];
    for (const [n, store] of stores.entries()) {
      const tables = await createPostgresEventLog();
      const log = new SealedLog(tables.connectionString, store, [KEY]);
      await log.append(80);
      await log.seal(320);
      const folder = join(root, String(n));
      await log.export(folder);
      expect(await byFunction(folder, { keys: [KEY.vkey], checkpoints: [] })).to.deep.equal([]);
      found.push(entriesIn(folder).map(({ entry: { recordedAt: _, ...entry } }) => entry));
      await log.close();
      await store.close();
      await tables.dispose();
    }
    expect(found[1]).to.deep.equal(found[0]);
    await server.stop();
    await database.dispose();
    rmSync(root, { recursive: true });
  });
});
