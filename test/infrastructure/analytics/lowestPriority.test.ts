import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { expect } from 'chai';
import { giveLowestPriority, LOWEST } from '../../../infrastructure/analytics/lowestPriority.ts';

describe('the lowest priority', () => {
  const started: ChildProcess[] = [];
  /** Starts a process with its own session, as PostgreSQL does for each backend. */
  const start = async (): Promise<number> => {
    const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
    started.push(child);
    await once(child, 'spawn');
    return child.pid as number;
  };
  /** Returns null if the system has no autogroups. */
  const groupOf = (pid: number) => readFile(`/proc/${pid}/autogroup`, 'utf8').catch(() => null);
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
  });

  it('is set for a process and its group, for several processes at once', async () => {
    const pids = await Promise.all([start(), start(), start()]);
    expect(await Promise.all(pids.map(giveLowestPriority))).to.deep.equal([true, true, true]);
    for (const pid of pids) {
      expect(getPriority(pid)).to.equal(LOWEST);
      const group = await groupOf(pid);
      if (group !== null) expect(group).to.match(/ nice 19\n$/);
    }
  });

  it('stays the same when set again', async () => {
    const pid = await start();
    await giveLowestPriority(pid);
    const before = await groupOf(pid);
    expect(await giveLowestPriority(pid)).to.equal(true);
    expect([getPriority(pid), await groupOf(pid)]).to.deep.equal([LOWEST, before]);
  });

  it('can’t be set for a process that has ended', async () => {
    const pid = await start();
    const [child] = started;
    child?.kill('SIGKILL');
    await once(child as ChildProcess, 'exit');
    expect(await giveLowestPriority(pid)).to.equal(false);
  });
});
