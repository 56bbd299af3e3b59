// Exports of a real log: the stand-alone verifier accepts them; an interrupted one ends with the same bytes.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ACCOUNT, EVER, SealedLog } from '../../support/audit/sealedLog.ts';
import { logKeyOf } from '../../support/audit/syntheticExport.ts';
import { byFunction } from '../../support/audit/verifiers.ts';
import { createPostgresEventLog, type PostgresEventLog } from '../../support/postgresEventLog.ts';

const KEY = logKeyOf('the log');
const TRUST = { keys: [KEY.vkey], checkpoints: [] };

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .toSorted();
const contentsOf = (folder: string) =>
  filesIn(folder).map((name) => [name, readFileSync(join(folder, name)).toString('base64')]);

describe('an audit export', () => {
  let database: PostgresEventLog;
  let log: SealedLog;
  let root: string;

  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'quita-export-'));
    database = await createPostgresEventLog();
    log = new SealedLog(database.connectionString, await database.connect(), [KEY]);
    await log.append(50);
    await log.seal(200);
    await log.append(100);
    await log.seal(600);
  });
  after(async () => {
    await log.close();
    await database.dispose();
    rmSync(root, { recursive: true });
  });

  it('has every entry, every tile and the signed checkpoints, and verifies', async () => {
    const folder = join(root, 'all');
    const manifest = await log.export(folder);
    expect([manifest.first, manifest.end, manifest.size, manifest.keys]).to.deep.equal([0, 600, 600, [KEY.vkey]]);
    expect(filesIn(folder)).to.deep.equal([
      'checkpoints/600',
      'entries.ndjson',
      'manifest.json',
      ...['tile/0/000', 'tile/0/001', 'tile/0/002.p/88', 'tile/1/000.p/2'],
    ]);
    expect(await byFunction(folder, TRUST)).to.deep.equal([]);
  });
});
