// Two workers seal one log. One is killed, the other stopped and resumed. No leaf is lost or added twice, and no fork is signed (rule U2).
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { auditTree } from '../../infrastructure/audit/auditTree.ts';
import { expectSound, leavesOf } from '../infrastructure/audit/auditWorld.ts';
import { TestGateway } from '../world/gateway.ts';
import { pollUntil } from '../world/pollUntil.ts';
import { migratedDatabase, type TestDatabase } from '../world/postgres.ts';
import { freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';

const PUBLIC_URL = 'https://quita.example';
const ORIGIN = 'quita.example/audit/log';
const SECRETS_KEY = randomBytes(32);
const PATIENCE_MS = 120_000;
const CHARGES = 15;

describe('two sealers under kill -9 and SIGSTOP', function suite() {
  this.timeout(600_000);
  let database: TestDatabase;
  let gateway: TestGateway;
  let dataDir: string;
  const workers: Program[] = [];

  const startWorker = async (): Promise<Program> => {
    const { connectionString: DATABASE_URL } = database;
    const env = { DATABASE_URL, SECRETS_KEY: SECRETS_KEY.toString('base64'), PUBLIC_URL };
    const worker = new Program({ dataDir, port: await freePort(), env, role: 'worker' });
    workers.push(worker);
    return await worker.ready();
  };
  /** Creates charges and waits until a checkpoint covers them. */
  const sealMore = async (): Promise<void> => {
    for (let n = 0; n < CHARGES; n++) expect((await gateway.charge()).status).to.equal(201);
    const { length } = await leavesOf(gateway.storage.store);
    const tree = auditTree(gateway.storage.operations);
    const covered = async () => (((await tree.latest())?.size ?? 0) >= length ? true : null);
    expect(await pollUntil(gateway.gateway.projected, PATIENCE_MS, covered), 'sealed in time').to.equal(true);
  };

  before(async () => {
    database = await migratedDatabase();
    dataDir = await newDataDir();
    const roles = { serves: true, projects: true, works: false };
    gateway = await TestGateway.open({ database, isAlone: false, roles, secretsKeys: [SECRETS_KEY] });
  });
  after(async () => {
    for (const worker of workers) await worker.kill9();
    await gateway.close();
    await database.drop();
    await removeDataDir(dataDir);
  });

  it('seal every entry once and sign one tree', async () => {
    const first = await startWorker();
    await sealMore();
    const second = await startWorker();
    first.signal('SIGSTOP'); // It leads and has just signed.
    await sealMore();
    first.signal('SIGCONT');
    await Promise.all([sealMore(), second.kill9()]);
    const { store, operations } = gateway.storage;
    await expectSound(store, operations, ORIGIN);
    expect((await auditTree(operations).find())?.size).to.equal((await leavesOf(store)).length);
    expect((await auditTree(operations).find())?.stopped).to.equal(null);
  });
});
