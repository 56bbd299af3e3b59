// Who can reach the embedded database, and what the program is allowed to do in it.
import { once } from 'node:events';
import { chmod, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { attachToEmbeddedPostgres } from '../../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import { EmbeddedPostgresError } from '../../../infrastructure/embeddedPostgres/error.ts';
import { firstUnreachable } from '../../../infrastructure/embeddedPostgres/osUser.ts';
import { migrate } from '../../../infrastructure/postgres/migrate.ts';
import {
  isOver,
  isRoot,
  leaveOrphan,
  openToSuperuser,
  postmasterPidIn,
  query,
  refusal,
  useEmbeddedPostgres,
} from '../../world/embeddedPostgres.ts';

const SOCKET = '.s.PGSQL.5432';
const folderOf = (connectionString: string): string => decodeURIComponent(new URL(connectionString).hostname);
const modeOf = async (path: string): Promise<string> => ((await lstat(path)).mode & 0o777).toString(8);
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: { code: string }) => error.code,
  );

describe('access to embedded PostgreSQL', () => {
  const t = useEmbeddedPostgres();
  const formerTmp = process.env['TMPDIR'];
  /** A short temporary folder that only this test uses, instead of the system's. */
  let tmp: string;
  beforeEach(async () => {
    tmp = join(t.folder, `t${t.count}`);
    await mkdir(tmp, { mode: 0o755 });
    process.env['TMPDIR'] = tmp;
  });
  afterEach(async () => {
    await Promise.all(t.owners.splice(0).map((owner) => owner.kill()));
    await Promise.all(t.running.splice(0).map((database) => database.stop()));
    if (formerTmp === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = formerTmp;
  });

  describe('the socket', () => {
    it('is in a folder of mode 0700, and the server listens nowhere else', async () => {
      const { connectionString } = await t.start();
      const folder = folderOf(connectionString);
      expect(folder).to.equal(join(t.dataDir, 'postgres'));
      expect([await modeOf(folder), await modeOf(join(folder, SOCKET))]).to.deep.equal(['700', '700']);
      expect(await query(connectionString, "SELECT current_setting('listen_addresses') AS tcp")).to.deep.equal([
        { tcp: '' },
      ]);
    });

    if (isRoot)
      it('is unreachable for other users', async () => {
        const folder = folderOf((await t.start()).connectionString);
        expect(await firstUnreachable({ name: 'somebody', uid: 4_711, gid: 4_711 }, [t.dataDir, folder])).to.equal(
          folder,
        );
      });

    it('of a stopped program gets no connection from the CLI, even if another process listens on it', async () => {
      const folder = join(t.dataDir, 'postgres');
      let callers = 0;
      const listener = createServer(() => callers++).listen(join(folder, SOCKET));
      await once(listener, 'listening');
      for (let twice = 0; twice < 2; twice++) {
        const error = await attachToEmbeddedPostgres(t.dataDir).catch((thrown: unknown) => thrown);
        expect(error).to.be.instanceOf(EmbeddedPostgresError);
        expect((error as Error).message).to.equal(
          `No program is running on ${t.dataDir}. Start it with npm start, or set DATA_DIR or DATABASE_URL.`,
        );
      }
      expect(callers).to.equal(0);
      listener.close();
    });

    it('and its lock are replaced if a power cut left them and their PID now belongs to another process', async () => {
      const folder = join(t.dataDir, 'postgres');
      await writeFile(join(folder, `${SOCKET}.lock`), `${process.pid}\n${folder}\n0\n5432\n${folder}\n`);
      await writeFile(join(folder, SOCKET), '');
      const { connectionString } = await t.start();
      expect(await query(connectionString, 'SELECT text FROM note')).to.deep.equal([{ text: 'kept' }]);
    });
  });

  describe('the socket of a data directory with a long path', () => {
    beforeEach(async () => {
      const deep = join(t.folder, `deep${t.count}`, 'd'.repeat(100));
      await mkdir(deep, { recursive: true });
      await rename(t.dataDir, join(deep, 'data'));
      t.dataDir = join(deep, 'data');
    });
    const socketDirs = async (): Promise<string[]> => (await readdir(tmp)).filter((name) => name.startsWith('quita-'));
    const noPlace = (why: string) => ({
      code: 'data_dir_unreachable',
      message: [
        `The data directory ${t.dataDir} can't be used: its path is too long for PostgreSQL's socket (at most 107 bytes),`,
        `and ${process.env['TMPDIR']} (TMPDIR) can't hold the socket: ${why}. Correct its permissions, or set DATA_DIR to another folder.`,
      ].join(' '),
    });

    it('is in a closed folder under TMPDIR, where the CLI finds it, until the stop', async () => {
      for (let twice = 0; twice < 2; twice++) {
        const database = await t.start();
        const [name, ...others] = await socketDirs();
        expect(others).to.deep.equal([]);
        const folder = join(tmp, name as string);
        expect(folderOf(database.connectionString)).to.equal(folder);
        expect(await modeOf(folder)).to.equal('700');
        expect((await stat(folder)).uid).to.equal((await stat(join(t.dataDir, 'postgres'))).uid);
        expect(await attachToEmbeddedPostgres(t.dataDir)).to.equal(database.connectionString);
        await database.stop();
        expect(await socketDirs()).to.deep.equal([]);
      }
    });

    it('is found by a program that adopts an orphan, and its folder is removed after a kill', async () => {
      await leaveOrphan(t);
      const [name] = await socketDirs();
      const heir = await t.start();
      expect([heir.adopted, folderOf(heir.connectionString)]).to.deep.equal([true, join(tmp, name as string)]);
      await heir.stop();
      expect(await socketDirs()).to.deep.equal([]);
      const owner = t.own();
      await owner.said('ready');
      const [left] = await socketDirs();
      const postmaster = await postmasterPidIn(t.dataDir);
      await owner.kill();
      await isOver(postmaster);
      await t.start();
      const now = await socketDirs();
      expect(now).to.have.length(1);
      expect(now).to.not.include(left);
    });

    it('moves to another folder if another user took its place, which stays untouched', async () => {
      await (await t.start()).stop();
      const path = join(t.dataDir, 'postgres.json');
      const settings = JSON.parse(await readFile(path, 'utf8')) as { socketDir: string };
      const theirs = join(t.folder, `theirs${t.count}`);
      await mkdir(theirs, { mode: 0o700 });
      await writeFile(join(theirs, SOCKET), 'theirs');
      const squatters = [() => symlink(theirs, settings.socketDir), () => mkdir(settings.socketDir, { mode: 0o777 })];
      for (const squat of squatters) {
        await squat();
        if ((await lstat(settings.socketDir)).isDirectory()) await chmod(settings.socketDir, 0o777);
        await writeFile(path, JSON.stringify(settings));
        const database = await t.start();
        expect(folderOf(database.connectionString)).to.not.equal(settings.socketDir);
        expect(await readFile(join(theirs, SOCKET), 'utf8')).to.equal('theirs');
        await database.stop();
        expect((await lstat(settings.socketDir)).ino).to.be.a('number');
        await rm(settings.socketDir, { recursive: true });
      }
    });

    it('is not adopted if other users could have created it', async () => {
      await leaveOrphan(t);
      const [name] = await socketDirs();
      const postmaster = await postmasterPidIn(t.dataDir);
      await chmod(join(tmp, name as string), 0o755);
      expect(await refusal(t.dataDir)).to.deep.equal({
        code: 'cannot_start',
        message: `PostgreSQL (process ${postmaster}) of a previous program holds ${t.dataDir}/postgres and can't be reached: its user does not own ${join(tmp, name as string)}. End that process (kill -INT ${postmaster}), then start again.`,
      });
      const attached = await attachToEmbeddedPostgres(t.dataDir).catch((error: Error) => error.message);
      expect(attached).to.match(/^No program is running on /);
      await chmod(join(tmp, name as string), 0o700);
      expect((await t.start()).adopted).to.equal(true);
    });

    it('is rejected in one line if other users could rename it or TMPDIR is too long as well', async () => {
      await chmod(tmp, 0o777);
      expect(await refusal(t.dataDir)).to.deep.equal(noPlace(`other users can change ${tmp}`));
      await chmod(tmp, 0o1777);
      await (await t.start()).stop();
      process.env['TMPDIR'] = join(tmp, 'd'.repeat(80));
      await mkdir(process.env['TMPDIR']);
      expect(await refusal(t.dataDir)).to.deep.equal(noPlace('its path is too long as well'));
    });

    if (isRoot)
      it('is rejected in one line if the PostgreSQL user can’t enter its folder', async () => {
        await chmod(tmp, 0o700);
        const { message } = await refusal(t.dataDir);
        expect(message).to.match(/PostgreSQL runs as the user \w+, who can't enter \//);
        expect(await socketDirs()).to.deep.equal([]);
      });
  });

  describe('the program', () => {
    it('has an ordinary role that owns only its own database', async () => {
      const { connectionString } = await t.start();
      const rights = 'rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls';
      expect(
        await query(connectionString, `SELECT rolname, ${rights} FROM pg_roles WHERE rolname = current_user`),
      ).to.deep.equal([
        {
          rolname: 'quita',
          rolsuper: false,
          rolcreaterole: true, // for analysts (ADR 0016)
          rolcreatedb: false,
          rolreplication: false,
          rolbypassrls: false,
        },
      ]);
      const owned =
        'SELECT datname FROM pg_database WHERE datdba = (SELECT oid FROM pg_roles WHERE rolname = current_user)';
      expect(await query(connectionString, owned)).to.deep.equal([{ datname: 'quita' }]);
      for (const forbidden of [
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "SELECT pg_read_file('postgresql.auto.conf')",
        "ALTER SYSTEM SET fsync = 'off'",
        'CREATE ROLE other SUPERUSER',
        'CREATE DATABASE other',
        'SET ROLE postgres',
      ])
        expect(await codeOf(query(connectionString, forbidden)), forbidden).to.equal('42501');
    });

    it('can take advisory locks and create large objects, unlike the roles that it creates', async () => {
      const { connectionString } = await t.start();
      const calls = [
        'SELECT pg_advisory_lock(1)',
        'SELECT pg_try_advisory_xact_lock_shared(1, 2)',
        'SELECT lo_create(0)',
        `SELECT lo_from_bytea(0, 'x')`,
      ];
      for (const call of calls) expect(await codeOf(query(connectionString, call)), call).to.equal('done');
      await query(connectionString, `CREATE ROLE someone LOGIN PASSWORD 'a password'`);
      const someone = Object.assign(new URL(connectionString), { username: 'someone', password: 'a password' });
      for (const call of calls) expect(await codeOf(query(someone.href, call)), call).to.equal('42501');
      expect(await codeOf(query(someone.href, 'SELECT 1'))).to.equal('done');
    });

    it('is the only role that can log in, with its password and to its own database', async () => {
      const { connectionString } = await t.start();
      const variant = (change: Partial<Pick<URL, 'username' | 'password' | 'pathname'>>): Promise<string> =>
        codeOf(query(Object.assign(new URL(connectionString), change).href, 'SELECT 1'));
      expect(await variant({})).to.equal('done');
      expect(await variant({ password: 'wrong' })).to.equal('28P01');
      expect(await variant({ username: 'postgres' })).to.equal('28P01');
      expect(await variant({ pathname: '/postgres' })).to.equal('28000');
      expect(await variant({ pathname: '/template1' })).to.equal('28000');
    });

    it('can migrate and end its own sessions', async () => {
      const { connectionString } = await t.start();
      await migrate(connectionString);
      await migrate(connectionString);
      const others =
        'SELECT count(pg_terminate_backend(pid))::int AS n FROM pg_stat_activity WHERE usename = current_user AND pid <> pg_backend_pid()';
      expect(await query(connectionString, others)).to.deep.equal([{ n: 0 }]);
      const superuser = await openToSuperuser(t.dataDir);
      const { rows } = await superuser.query(
        "SELECT rolname FROM pg_roles WHERE rolcanlogin AND rolname <> 'postgres'",
      );
      expect(rows).to.deep.equal([{ rolname: 'quita' }]);
      await superuser.end();
    });
  });
});
