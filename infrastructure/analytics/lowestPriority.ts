// Processes of this machine that run only while others are idle.
import { readFile, writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

/** The "nice" value of processes that yield to all others. */
export const LOWEST = 19;
/** Linux accepts one change of a group per 100 ms, unless it comes from root. */
const REFUSED_MS = 110;
const ATTEMPTS = 3;

/**
 * Linux shares a processor between sessions first and then within each (`sched_autogroup_enabled`), and each process of PostgreSQL is a
 * session of its own. There, only the group's value counts.
 */
const lowerGroup = async (pid: number): Promise<void> => {
  const group = `/proc/${pid}/autogroup`;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if ((await readFile(group, 'utf8')).endsWith(` nice ${LOWEST}\n`)) return;
    try {
      await writeFile(group, String(LOWEST));
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || attempt === ATTEMPTS) throw error;
      await pause(REFUSED_MS);
    }
  }
};

/** Lowers the priority of a process. Returns whether it could: not if it has ended or belongs to another user. */
export const giveLowestPriority = async (pid: number): Promise<boolean> => {
  try {
    setPriority(pid, LOWEST);
    await lowerGroup(pid).catch((error: NodeJS.ErrnoException) => {
      // A system without such groups.
      if (error.code !== 'ENOENT') throw error;
    });
    return true;
  } catch {
    return false;
  }
};
