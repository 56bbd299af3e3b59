// The embedded database when a release includes another major version of PostgreSQL (docs/upgrading.md).
import { execFile } from 'node:child_process';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { cli, freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');

describe('an embedded database of another major version of PostgreSQL', () => {
  let dataDir: string;
  let program: Program | null = null;

  beforeEach(async () => {
    dataDir = await newDataDir();
  });
  afterEach(async () => {
    await program?.kill9();
    await removeDataDir(dataDir);
  });

  const start = async () => {
    program = new Program({ dataDir, port: await freePort() });
    return program;
  };
  const stop = async () => expect(await program?.stop()).to.deep.equal({ code: 0, signal: null });
  const tool = async (name: 'dump' | 'restore', ...words: readonly string[]): Promise<string> => {
    const env = { PATH: process.env['PATH'], DATA_DIR: dataDir };
    return (await run(process.execPath, [join(ROOT, `infrastructure/boot/${name}.ts`), ...words], { env })).stdout;
  };
  const ask = async (method: string, path: string, body?: object) => {
    const { testApiKey } = await (program as Program).demo();
    const answer = await fetch(`${program?.baseUrl}${path}`, {
      method,
      headers: { apikey: testApiKey, 'content-type': 'application/json', 'idempotency-key': 'before-the-move-1' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  };

  it('is rejected with instructions, and moves by dump and restore with everything in the data directory', async () => {
    await (await start()).ready();
    const wish = { amount: 1_000, payment_method: 'pix', customer: { name: 'Ana Souza' } };
    const created = await ask('POST', '/v1/charges', wish);
    expect(created.status, created.text).to.equal(201);
    const { id } = JSON.parse(created.text) as { id: string };
    const paid = await ask('POST', `/v1/sandbox/charges/${id}/pay`, {});
    expect(JSON.parse(paid.text)).to.include({ outcome: 'settled' });
    const shown = await ask('GET', `/v1/charges/${id}`);
    await stop();
    const file = join(dataDir, '..', 'quita.dump');
    expect(await tool('dump', '--out', file)).to.match(/^\d+ rows of \d+ tables written to /);

    const cluster = join(dataDir, 'postgres');
    await writeFile(join(cluster, 'PG_VERSION'), '17\n');
    const refused = await (await start()).exited;
    expect(refused).to.deep.equal({ code: 2, signal: null });
    const [line = '', ...others] = (program?.output ?? '').split('\n');
    expect(line).to.match(
      /^quita: The database in \S+ was created by PostgreSQL 17, but this release has PostgreSQL \d+\./,
    );
    expect(line)
      .to.contain('run: npm run dump -- --out quita.dump')
      .and.contain('run with this release: npm run restore -- ');
    expect(others).to.deep.equal(['']);

    await rename(cluster, join(dataDir, 'postgres.17'));
    expect(await tool('restore', '--from', file)).to.match(/restored\. Now start the program/);
    await (await start()).ready();
    expect(await ask('GET', `/v1/charges/${id}`)).to.deep.equal(shown);
    expect(await ask('POST', '/v1/charges', wish)).to.deep.equal(created);
    expect(await cli(dataDir, ['projections', 'verify'])).to.deep.include({ differenceCount: 0, parked: [] });
    expect(await cli(dataDir, ['audit', 'verify'])).to.deep.include({ faults: [] });
    await stop();
  });
});
