import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { expect } from 'chai';
import { giveLowestPriority, LOWEST } from '../../../infrastructure/analytics/lowestPriority.ts';

describe('the lowest priority', () => {
  const started: ChildProcess[] = [];
  /** A process that is a session of its own, as each one of PostgreSQL is. */
  const start = async (): Promise<number> => {
    const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
    started.push(child);
    await once(child, 'spawn');
    return child.pid as number;
  };
  /** Null where the system has no groups. */
  const groupOf = (pid: number) => readFile(`/proc/${pid}/autogroup`, 'utf8').catch(() => null);
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
  });

  it('is given to a process and its group, and to many at once', async () => {
    const pids = await Promise.all([start(), start(), start()]);
    expect(await Promise.all(pids.map(giveLowestPriority))).to.deep.equal([true, true, true]);
    for (const pid of pids) {
      expect(getPriority(pid)).to.equal(LOWEST);
      const group = await groupOf(pid);
      if (group !== null) expect(group).to.match(/ nice 19\n$/);
    }
  });

  it('is given again without any change', async () => {
    const pid = await start();
    await giveLowestPriority(pid);
    const before = await groupOf(pid);
    expect(await giveLowestPriority(pid)).to.equal(true);
    expect([getPriority(pid), await groupOf(pid)]).to.deep.equal([LOWEST, before]);
  });

  it('is not given to a process that has ended', async () => {
    const pid = await start();
    const [child] = started;
    child?.kill('SIGKILL');
    await once(child as ChildProcess, 'exit');
    expect(await giveLowestPriority(pid)).to.equal(false);
  });
});
