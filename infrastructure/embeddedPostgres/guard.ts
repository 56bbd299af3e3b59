// "When the program is gone for good, the database goes too": a shell of a few kilobytes that reads a pipe whose only
// other end we hold. However we die, the kernel closes that end, the guard reads end-of-file and asks the postmaster for
// a fast shutdown. It sits in a session of its own, so that signals to our group pass it by, and runs as PostgreSQL's
// user, so that it could never hit a process of anybody else.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { CHILD_ENV, type OsUser, spawnAs } from './osUser.ts';
import { becomesTrue, inspectProcess, signal } from './postmaster.ts';

const MARK = 'quita-postgres-guard';
/** A line is the pid to watch, '' to watch none, or 'done'. `kill` and `read` are built in: nothing else is started. */
const SCRIPT = `trap '' HUP INT TERM
pid=
while read -r word; do
  case $word in done) exit 0 ;; *) pid=$word ;; esac
done
[ -z "$pid" ] || kill -INT "$pid"`;

export interface Guard {
  readonly pid: number;
  /** From now on the death of this program shuts that postmaster down; null: nothing to shut down. */
  watch(postmasterPid: number | null): void;
  /** Ends the guard without any other effect; resolves when it is gone. A second call answers the same promise. */
  dismiss(): Promise<void>;
}

export const spawnGuard = async (clusterDir: string, osUser: OsUser | null): Promise<Guard> => {
  // The write end is close-on-exec: no child started later inherits it.
  const child = spawn('/bin/sh', ['-c', SCRIPT, MARK, clusterDir], {
    ...spawnAs(osUser),
    env: CHILD_ENV,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  await once(child, 'spawn');
  const pipe = child.stdin as Socket;
  pipe.on('error', () => undefined); // somebody killed the guard: the next start adopts what it leaves
  child.unref();
  pipe.unref();
  let dismissed: Promise<void> | undefined;
  return {
    pid: child.pid!,
    watch: (pid) => {
      pipe.write(`${pid ?? ''}\n`);
    },
    dismiss: () => {
      if (dismissed === undefined) {
        pipe.end('done\n');
        dismissed = ended(child);
      }
      return dismissed;
    },
  };
};

const ended = async (child: ChildProcess): Promise<void> => {
  const isEnded = async (): Promise<boolean> => child.exitCode !== null || child.signalCode !== null;
  if (await becomesTrue(isEnded, 2_000)) return;
  child.kill('SIGKILL'); // stopped by somebody: it must not wake up later
  await becomesTrue(isEnded, 2_000);
};

/** Ends the guard of a former program, and nothing else that may have its pid by now. It sends no signal afterwards. */
export const retireGuard = async (pid: number | null, clusterDir: string): Promise<void> => {
  if (pid === null) return;
  const isThere = async (): Promise<boolean> => {
    const { state, commandLine } = await inspectProcess(pid);
    return state === 'live' && commandLine.includes(MARK) && commandLine.includes(clusterDir);
  };
  if (!(await isThere())) return;
  signal(pid, 'SIGKILL');
  await becomesTrue(async () => !(await isThere()), 5_000);
};
