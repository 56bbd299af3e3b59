import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { acquireInstanceLock } from '../../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import { becomesTrue } from '../../../infrastructure/embeddedPostgres/postmaster.ts';
import {
  COMPLETE,
  guardPidIn,
  inUse,
  isLive,
  isOver,
  leaveOrphan,
  postmasterPidIn,
  query,
  refusal,
  useEmbeddedPostgres,
} from '../../world/embeddedPostgres.ts';
import { startPostgresProxy } from '../../world/tcpProxy.ts';

describe('embedded PostgreSQL', () => {
  const t = useEmbeddedPostgres();

  describe('start and stop', () => {
    it('creates a database if there is none', async () => {
      t.dataDir = join(t.folder, 'missing', 'folders');
      const database = await t.start();
      expect(await query(database.connectionString, 'SELECT 1 AS one')).to.deep.equal([{ one: 1 }]);
      expect(database.adopted).to.equal(false);
      expect((await readdir(t.dataDir)).sort()).to.deep.equal(COMPLETE);
      const modes = await Promise.all(
        ['.', ...COMPLETE].map(async (name) => ((await stat(join(t.dataDir, name))).mode & 0o777).toString(8)),
      );
      expect(modes).to.deep.equal(['755', '700', '600', '600', '600']);
    });

    it('runs with durable settings, sorts by code point, and listens on no port', async () => {
      const { connectionString } = await t.start();
      const names = ['fsync', 'synchronous_commit', 'full_page_writes', 'server_encoding', 'listen_addresses'];
      const more = ['lc_messages', 'max_connections', 'reserved_connections', 'TimeZone', 'password_encryption'];
      const settings: Record<string, unknown> = {};
      for (const name of [...names, ...more]) {
        const [row] = await query(connectionString, `SELECT current_setting('${name}') AS value`);
        settings[name] = row?.['value'];
      }
      expect(settings).to.deep.equal({
        fsync: 'on',
        synchronous_commit: 'on',
        full_page_writes: 'on',
        server_encoding: 'UTF8',
        listen_addresses: '',
        lc_messages: 'C',
        max_connections: '60',
        reserved_connections: '0',
        TimeZone: 'UTC',
        password_encryption: 'scram-sha-256',
      });
      const sorted = await query(connectionString, "SELECT v FROM unnest(ARRAY['é', 'b', 'A', 'a', 'B']) v ORDER BY v");
      expect(sorted.map((row) => row['v'])).to.deep.equal(['A', 'B', 'a', 'b', 'é']);
    });

    it('rejects a wrong password', async () => {
      const database = await t.start();
      const wrong = new URL(database.connectionString);
      wrong.password = 'wrong';
      const code = await query(wrong.href, 'SELECT 1').then(
        () => 'accepted',
        (error: { code: string }) => error.code,
      );
      expect(code).to.equal('28P01');
    });

    it('keeps data, address and password across starts', async () => {
      const first = await t.start();
      await query(first.connectionString, "INSERT INTO note VALUES ('more')");
      await first.stop();
      const second = await t.start();
      expect(second.connectionString).to.equal(first.connectionString);
      expect(second.adopted).to.equal(false);
      expect(await query(second.connectionString, 'SELECT text FROM note ORDER BY text')).to.deep.equal([
        { text: 'kept' },
        { text: 'more' },
      ]);
    });

    it('stops once, although stop is called twice, and ends the guard', async () => {
      const database = await t.start();
      const [guard, postmaster] = [await guardPidIn(t.dataDir), await postmasterPidIn(t.dataDir)];
      expect([await isLive(guard), await isLive(postmaster)]).to.deep.equal([true, true]);
      const stopping = database.stop();
      expect(database.stop()).to.equal(stopping);
      await stopping;
      expect([await isLive(guard), await isLive(postmaster)]).to.deep.equal([false, false]);
      expect(await readdir(join(t.dataDir, 'postgres'))).not.to.include('postmaster.pid');
    });

    it('logs an unexpected end of the server and ends the guard', async () => {
      let reported: (line: string) => void = () => undefined;
      const unexpected = new Promise<string>((resolve) => {
        reported = (line) => (line.includes('unexpectedly') ? resolve(line) : undefined);
      });
      const database = await t.start((line) => reported(line));
      const [guard, postmaster] = [await guardPidIn(t.dataDir), await postmasterPidIn(t.dataDir)];
      process.kill(postmaster, 'SIGINT');
      expect(await unexpected).to.equal(
        `PostgreSQL (process ${postmaster}) ended unexpectedly: see ${join(t.dataDir, 'postgres.log')}`,
      );
      expect(await isOver(guard)).to.equal(true);
      await database.stop();
    });
  });

  describe('one owner per directory', () => {
    it('lets one of several concurrent first starts win, undisturbed', async () => {
      t.dataDir = join(t.folder, 'contested');
      const contenders = [t.own(), t.own()];
      const outcomes = await Promise.all(
        contenders.map((owner) => Promise.any([owner.said('ready'), owner.said('failed')])),
      );
      const failures = outcomes.filter((outcome) => 'code' in outcome);
      const [winner, ...others] = outcomes.filter((outcome) => 'connectionString' in outcome);
      expect(failures).to.deep.equal([inUse(t.dataDir)]);
      expect(others).to.deep.equal([]);
      const [guard, postmaster] = [await guardPidIn(t.dataDir), await postmasterPidIn(t.dataDir)];
      expect(await refusal(t.dataDir)).to.deep.equal(inUse(t.dataDir));
      expect([await guardPidIn(t.dataDir), await postmasterPidIn(t.dataDir)]).to.deep.equal([guard, postmaster]);
      expect([await isLive(guard), await isLive(postmaster)]).to.deep.equal([true, true]);
      expect(await query(winner!.connectionString, 'SELECT 1 AS one')).to.deep.equal([{ one: 1 }]);
    });

    it('rejects concurrent starts inside the same program', async () => {
      const database = await t.start();
      const both = await Promise.all([refusal(t.dataDir), refusal(t.dataDir)]);
      expect(both).to.deep.equal([inUse(t.dataDir), inUse(t.dataDir)]);
      expect(await query(database.connectionString, 'SELECT text FROM note')).to.deep.equal([{ text: 'kept' }]);
    });

    it('does not take a server from the program that holds the instance lock, even if the directory could be locked', async () => {
      const guard = await leaveOrphan(t);
      const settings = await readFile(join(t.dataDir, 'postgres.json'), 'utf8');
      const { connectionString } = await t.owners.at(-1)!.said('ready');
      const lock = await acquireInstanceLock(connectionString);
      expect(await refusal(t.dataDir)).to.deep.equal(inUse(t.dataDir));
      expect(await readFile(join(t.dataDir, 'postgres.json'), 'utf8')).to.equal(settings);
      expect(await isLive(guard)).to.equal(false);
      expect(await query(connectionString, 'SELECT text FROM note')).to.deep.equal([{ text: 'kept' }]);
      await lock?.release();
      expect((await t.start()).adopted).to.equal(true);
    });
  });

  describe('instance lock', () => {
    it('has one holder, is released idempotently, and can be acquired again', async () => {
      const { connectionString } = await t.start();
      const first = await acquireInstanceLock(connectionString);
      expect(first).not.to.equal(null);
      expect(await acquireInstanceLock(connectionString)).to.equal(null);
      const released = first!.release();
      expect(first!.release()).to.equal(released);
      await released;
      const second = await acquireInstanceLock(connectionString);
      expect(second).not.to.equal(null);
      await second!.release();
    });

    it('waits for a holder that is about to release it', async () => {
      const { connectionString } = await t.start();
      const first = await acquireInstanceLock(connectionString);
      const waiting = acquireInstanceLock(connectionString);
      const waits = "SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
      const seen = await becomesTrue(async () => (await query(connectionString, waits))[0]?.['n'] === 1, 1_500);
      expect(seen).to.equal(true);
      await first!.release();
      const second = await waiting;
      expect(second).not.to.equal(null);
      await second!.release();
    });

    it('is released although the server is silent, so that a stop never hangs', async () => {
      const proxy = await startPostgresProxy((await t.start()).connectionString);
      const lock = await acquireInstanceLock(proxy.connectionString);
      expect(proxy.silence()).to.equal(1);
      await lock!.release();
      await proxy.close();
    });

    it('reports a loss once, and no loss after a release', async () => {
      const { connectionString } = await t.start();
      const cut = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'";
      const losses: string[] = [];
      await new Promise<void>((resolve, reject) => {
        const onLost = (reason: Error): void => {
          losses.push(reason.message);
          resolve();
        };
        acquireInstanceLock(connectionString, { onLost })
          .then(() => query(connectionString, cut))
          .catch(reject);
      });
      const other = await acquireInstanceLock(connectionString, { onLost: (reason) => losses.push(reason.message) });
      await other!.release();
      expect(losses).to.deep.equal(['terminating connection due to administrator command']);
    });
  });

  describe('errors in one line', () => {
    it('report a data directory that can’t be created', async () => {
      await writeFile(join(t.folder, 'file'), '');
      t.dataDir = join(t.folder, 'file', 'data');
      expect(await refusal(t.dataDir)).to.deep.equal({
        code: 'data_dir_unreachable',
        message: `The data directory ${t.dataDir} can't be used: it can't be created (ENOTDIR). Correct its permissions, or set DATA_DIR to another folder.`,
      });
    });

    it('report a postgres.json that is damaged or has another password', async () => {
      const path = join(t.dataDir, 'postgres.json');
      const content = await readFile(path, 'utf8');
      const advice = `Restore it from a backup of ${t.dataDir}, or set DATA_DIR to another folder.`;
      await writeFile(path, '{"port":');
      expect(await refusal(t.dataDir)).to.deep.equal({
        code: 'settings_unusable',
        message: `${path} is damaged: Quita did not write it in this form. ${advice}`,
      });
      await writeFile(path, content.replace(/[0-9a-f]{64}/, 'f'.repeat(64)));
      expect(await refusal(t.dataDir)).to.deep.equal({
        code: 'settings_unusable',
        message: `${path} holds the password of another database. ${advice}`,
      });
      await writeFile(path, content);
      expect((await t.start()).adopted).to.equal(false);
    });

    it('report a data directory created when the database listened on a port', async () => {
      const path = join(t.dataDir, 'postgres.json');
      const former = { port: 5432, user: 'quita', password: 'f'.repeat(64), guardPid: null };
      await writeFile(path, JSON.stringify(former));
      for (let twice = 0; twice < 2; twice++)
        expect(await refusal(t.dataDir)).to.deep.equal({
          code: 'settings_unusable',
          message: `The data directory ${t.dataDir} was created by a version before the first release, whose database every user of this machine could reach. Remove it, or set DATA_DIR to another folder.`,
        });
      expect(JSON.parse(await readFile(path, 'utf8'))).to.deep.equal(former);
    });

    it('report a database of another major version of PostgreSQL', async () => {
      const file = join(t.dataDir, 'postgres', 'PG_VERSION');
      const major = await readFile(file, 'utf8');
      await writeFile(file, '9.6\n');
      const cluster = join(t.dataDir, 'postgres');
      expect(await refusal(t.dataDir)).to.deep.equal({
        code: 'other_major',
        message: [
          `The database in ${cluster} was created by PostgreSQL 9.6, but this release has PostgreSQL ${major.trim()}.`,
          'With the release that created it, run: npm run dump -- --out quita.dump.',
          `Then move ${cluster} away and run with this release: npm run restore -- --from quita.dump (docs/upgrading.md)`,
        ].join(' '),
      });
    });

    it('report a configuration that PostgreSQL rejects', async () => {
      await writeFile(join(t.dataDir, 'postgres', 'postgresql.conf'), 'nonsense = on\n');
      expect(await refusal(t.dataDir)).to.deep.equal({
        code: 'cannot_start',
        message: `PostgreSQL could not start in ${t.dataDir}/postgres: FATAL:  configuration file "${t.dataDir}/postgres/postgresql.conf" contains errors (more in ${t.dataDir}/postgres.log).`,
      });
    });
  });
});
