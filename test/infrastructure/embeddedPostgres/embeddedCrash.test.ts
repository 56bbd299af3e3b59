import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { expect } from 'chai';
import { becomesTrue, inspectProcess } from '../../../infrastructure/embeddedPostgres/postmaster.ts';
import {
  COMPLETE,
  guardPidIn,
  isLive,
  isOver,
  isRoot,
  leaveOrphan,
  openToSuperuser,
  pidFileIn,
  postmasterPidIn,
  query,
  useEmbeddedPostgres,
} from '../../world/embeddedPostgres.ts';

describe('embedded PostgreSQL after a crash', () => {
  const t = useEmbeddedPostgres();

  describe('if the program is killed', () => {
    it('stops by itself and starts again afterwards', async () => {
      const owner = t.own();
      await owner.said('ready');
      const [guard, postmaster] = [await guardPidIn(t.dataDir), await postmasterPidIn(t.dataDir)];
      await owner.kill();
      expect([await isOver(postmaster), await isOver(guard)]).to.deep.equal([true, true]);
      const next = await t.start();
      expect(next.adopted).to.equal(false);
      expect(await query(next.connectionString, 'SELECT text FROM note')).to.deep.equal([{ text: 'kept' }]);
    });

    it('starts again at once, ten times', async () => {
      for (let i = 0; i < 10; i += 1) {
        const owner = t.own();
        const { connectionString } = await owner.said('ready');
        expect(await query(connectionString, 'SELECT text FROM note')).to.deep.equal([{ text: 'kept' }]);
        await owner.kill();
      }
      const next = await t.start();
      expect(await query(next.connectionString, 'SELECT text FROM note')).to.deep.equal([{ text: 'kept' }]);
    });

    it('waits for a server that its guard is shutting down', async () => {
      const owner = t.own();
      await owner.said('ready');
      const superuser = await openToSuperuser(t.dataDir);
      const ask = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'";
      const checkpointer = Number((await superuser.query<{ pid: number }>(ask)).rows[0]?.pid);
      await superuser.end();
      const postmaster = await postmasterPidIn(t.dataDir);
      process.kill(checkpointer, 'SIGSTOP'); // no shutdown ends without its last checkpoint
      await owner.kill();
      await becomesTrue(async () => (await pidFileIn(t.dataDir)).includes('stopping'), 10_000);
      const lines: string[] = [];
      const next = await t.start((line) => {
        lines.push(line);
        if (line.includes('waiting')) process.kill(checkpointer, 'SIGCONT');
      });
      expect(lines[0]).to.equal(
        `PostgreSQL (process ${postmaster}) of a previous program reports 'stopping'; waiting for it`,
      );
      expect(next.adopted).to.equal(false);
      expect(await query(next.connectionString, 'SELECT text FROM note')).to.deep.equal([{ text: 'kept' }]);
    });

    it('adopts an orphan without a guard and starts a new guard', async () => {
      await leaveOrphan(t);
      const postmaster = await postmasterPidIn(t.dataDir);
      const heir = t.own();
      const ready = await heir.said('ready');
      expect(ready).to.deep.equal({ ...(await t.owners[0]!.said('ready')), adopted: true });
      expect(await postmasterPidIn(t.dataDir)).to.equal(postmaster);
      expect(await query(ready.connectionString, 'SELECT text FROM note')).to.deep.equal([{ text: 'kept' }]);
      await heir.kill();
      expect(await isOver(postmaster)).to.equal(true);
    });

    it('adopts an orphan whose guard has not acted yet, and ends that guard', async () => {
      const owner = t.own();
      await owner.said('ready');
      const [guard, postmaster] = [await guardPidIn(t.dataDir), await postmasterPidIn(t.dataDir)];
      process.kill(guard, 'SIGSTOP');
      await owner.kill();
      const heir = await t.start();
      expect(heir.adopted).to.equal(true);
      expect([await isLive(guard), await isLive(postmaster)]).to.deep.equal([false, true]);
      expect(await query(heir.connectionString, 'SELECT text FROM note')).to.deep.equal([{ text: 'kept' }]);
      await heir.stop();
      expect(await isLive(postmaster)).to.equal(false);
    });

    it('recovers at once from a kill -9 of the program, the guard and the server, with the last acknowledged commit', async () => {
      await leaveOrphan(t);
      const { connectionString } = await t.owners.at(-1)!.said('ready');
      const postmaster = await postmasterPidIn(t.dataDir);
      await query(connectionString, "INSERT INTO note VALUES ('acknowledged')");
      process.kill(postmaster, 'SIGKILL');
      const next = await t.start();
      expect(next.adopted).to.equal(false);
      expect(await query(next.connectionString, 'SELECT text FROM note ORDER BY text')).to.deep.equal([
        { text: 'acknowledged' },
        { text: 'kept' },
      ]);
    });

    it('starts after a kill -9 during initdb, and leaves nothing behind', async () => {
      // On a loaded machine, initdb can end before the kill. The test then tries another directory.
      for (let n = 0, isMade = true; isMade; n++) {
        expect(n).to.be.lessThan(5);
        t.dataDir = join(t.folder, `halfMade${n}`);
        const owner = t.own();
        await owner.said('log', /creating the database/);
        await owner.kill();
        isMade = (await readdir(t.dataDir)).includes('postgres');
      }
      const next = await t.start();
      expect(await query(next.connectionString, 'SELECT 1 AS one')).to.deep.equal([{ one: 1 }]);
      expect((await readdir(t.dataDir)).sort()).to.deep.equal(COMPLETE);
    });

    it('keeps running if a signal goes to the whole process group', async () => {
      const owner = t.own();
      const { connectionString } = await owner.said('ready');
      process.kill(-owner.child.pid!, 'SIGTERM');
      await owner.said('signal', /SIGTERM/);
      expect(await isLive(await guardPidIn(t.dataDir))).to.equal(true);
      expect(await query(connectionString, 'SELECT text FROM note')).to.deep.equal([{ text: 'kept' }]);
    });
  });

  describe('a stale postmaster.pid', () => {
    /** Leaves what a power cut leaves: the file of a dead server, whose PID may now belong to another process. */
    const leaveStale = async (pid: (postmaster: number) => number): Promise<void> => {
      const first = await t.start();
      const content = await pidFileIn(t.dataDir);
      await first.stop();
      const path = join(t.dataDir, 'postgres', 'postmaster.pid');
      await writeFile(
        path,
        content.replace(/^\d+/, (former) => String(pid(Number(former)))),
        { mode: 0o600 },
      );
      const { uid, gid } = await stat(join(t.dataDir, 'postgres'));
      await chown(path, uid, gid);
    };
    const startsWith = async (pid: (postmaster: number) => number): Promise<void> => {
      await leaveStale(pid);
      const next = await t.start();
      expect(next.adopted).to.equal(false);
      expect(await query(next.connectionString, 'SELECT text FROM note')).to.deep.equal([{ text: 'kept' }]);
    };

    it('of a dead process is ignored', () => startsWith((former) => former));

    it('of an unrelated process or a zombie of the same user is ignored', async () => {
      const { uid, gid } = await stat(join(t.dataDir, 'postgres'));
      // `exec` replaces the shell with cat, which never reaps the shell's child: after it has read the line, the child is a zombie.
      const stranger = spawn('/bin/sh', ['-c', 'read line <&3 & echo $!; exec cat'], {
        ...(isRoot ? { uid, gid } : {}),
        cwd: '/',
        stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
      });
      const input = stranger.stdin!;
      const output = stranger.stdout!;
      try {
        const [text] = (await once(output, 'data')) as [Buffer];
        const zombie = Number(text);
        input.write('cat is here');
        await once(output, 'data');
        (stranger.stdio[3] as Writable).end('end\n');
        expect(await becomesTrue(async () => (await inspectProcess(zombie)).state === 'zombie', 5_000)).to.equal(true);
        await startsWith(() => zombie);
        await t.running.at(-1)!.stop();
        await startsWith(() => stranger.pid!);
        expect(await isLive(stranger.pid!)).to.equal(true);
      } finally {
        input.end();
        await once(stranger, 'close');
      }
    });
  });
});
