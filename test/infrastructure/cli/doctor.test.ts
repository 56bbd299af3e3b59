// `npm run cli -- doctor` as an operator runs it, on EventStoreDB.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import type { Diagnosis } from '../../../infrastructure/eventStore/eventStoreDb/eventStoreDb.ts';
import { migrate } from '../../../infrastructure/postgres/migrate.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { SecretsKeyring } from '../../../infrastructure/secrets/keyring.ts';
import { isRightKeyring } from '../../../infrastructure/secrets/secretsKey.ts';
import { EventStoreDbServer } from '../../support/eventStoreDb/server.ts';
import { RECEIVER } from '../../support/tls/certificates.ts';

const CLI = fileURLToPath(new URL('../../../infrastructure/boot/cli.ts', import.meta.url));
const CERTIFICATE = fileURLToPath(new URL('../../support/tls/receiver.cert.pem', import.meta.url));
const USERS = { ana: { password: 'secret', admin: true }, bia: { password: 'secret', admin: false } };

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('doctor on EventStoreDB', () => {
  let dataDir: string;
  /** As durable as in production. The shared test server is not, and doctor would report it. */
  let database: EmbeddedPostgres;
  let server: EventStoreDbServer;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'quita-doctor-'));
    database = await startEmbeddedPostgres({ dataDir });
    await migrate(database.connectionString);
  });
  after(async () => {
    await database.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  beforeEach(async () => {
    server = await EventStoreDbServer.start({ tls: RECEIVER, users: USERS });
  });
  afterEach(() => server.stop());

  const doctor = (user: string, ...args: readonly string[]): Promise<Ended> => doctorWith({}, user, ...args);
  const doctorWith = (more: NodeJS.ProcessEnv, user: string, ...args: readonly string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const env = {
        ...more,
        PATH: process.env['PATH'] ?? '',
        DATABASE_URL: database.connectionString,
        EVENTSTORE_URL: `${server.connectionString.replace('://127.0.0.1', `://${user}:secret@localhost`)}&tlsCAFile=${CERTIFICATE}`,
      };
      execFile(process.execPath, [CLI, 'doctor', ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
  const findingsOf = ({ stdout }: Ended): readonly Diagnosis[] =>
    (JSON.parse(stdout) as { findings: readonly Diagnosis[] }).findings;

  it('reports the server beside the database', async () => {
    const ended = await doctor('ana', '--json');
    expect([ended.code, ended.stderr]).to.deep.equal([0, '']);
    const findings = findingsOf(ended);
    expect(findings.map(({ check }) => check)).to.include.members(['database version', 'event store', 'jobs']);
    expect(findings.slice(-5).map(({ check, isGood }) => [check, isGood])).to.deep.equal([
      ['event store version', true],
      ['event store nodes', true],
      ['event store access', true],
      ['event store clock', true],
      ['event store appends', true],
    ]);
  });

  it('compares SECRETS_KEY with the sealed secrets: none yet, the right key, a wrong key', async () => {
    const [key, other] = [randomBytes(32), randomBytes(32)];
    const said = async (secretsKey: Buffer) => {
      const ended = await doctorWith({ SECRETS_KEY: secretsKey.toString('base64') }, 'ana', '--json');
      const found = findingsOf(ended).find(({ check }) => check === 'secrets key');
      return [ended.code, found?.isGood, found?.says.split(':')[0]];
    };
    expect(await said(key)).to.deep.equal([0, true, 'nothing is sealed yet']);
    const pool = new PgPool(connectionConfig(database.connectionString, 'test'), 1, () => undefined);
    expect(await isRightKeyring(pool, new SecretsKeyring([key]))).to.equal(true);
    await pool.close();
    expect(await said(key)).to.deep.equal([0, true, 'it opens the secrets in the database']);
    const wrong = 'SECRETS_KEY is not the key that sealed this database’s secrets';
    expect(await said(other)).to.deep.equal([1, false, wrong]);
  });

  it('reports a read model that followed another log', async () => {
    const pool = new PgPool(connectionConfig(database.connectionString, 'test'), 1, () => undefined);
    await pool.query(
      "INSERT INTO subscriptions.checkpoints (name, version, store_id) VALUES ('payments', 1, 'another')",
    );
    const ended = await doctor('ana', '--json');
    await pool.query("DELETE FROM subscriptions.checkpoints WHERE name = 'payments'");
    await pool.close();
    const found = findingsOf(ended).find(({ check }) => check === 'read models and processes');
    expect([ended.code, found?.isGood]).to.deep.equal([1, false]);
    expect(found?.says).to.match(/^payments has followed event store another, but this one is [-0-9a-f]{36}: restore/);
  });

  it('exits with code 1 and prints one line if the server’s clock is off', async () => {
    server.shiftClock(-90_000);
    const { code, stdout } = await doctor('ana');
    expect(code).to.equal(1);
    expect(stdout).to.match(
      /^BAD {3}event store clock {10}the event store's clock differs from this machine's by -\d+ ms: run NTP on both/m,
    );
  });

  it('reports why the log can’t be opened, and exits with code 2', async () => {
    const ended = await doctor('bia', '--json');
    expect([ended.code, ended.stderr]).to.deep.equal([2, '']);
    const bad = findingsOf(ended).filter(({ isGood }) => !isGood);
    expect(bad.map(({ check }) => check)).to.deep.equal(['event store', 'event store access']);
    expect(bad[0]?.says).to.contain("can't be opened: EventStoreDB cannot be read: EventStoreDB denied access");
    expect(bad[1]?.says).to.contain('the user bia may not read $all');
  });

  it('reports that the server is unreachable, and exits with code 2', async () => {
    await server.stop();
    const ended = await doctor('ana', '--json');
    expect([ended.code, ended.stderr]).to.deep.equal([2, '']);
    expect(findingsOf(ended).map(({ check, isGood }) => [check, isGood])).to.deep.equal([
      ['event store', false],
      ['event store connection', false],
    ]);
  });
});
