// The guard shuts the database down after the program dies. It is a shell of a few kilobytes that reads a pipe, whose other
// end only this program holds. When the program dies in any way, the kernel closes that end. The guard then reads
// end-of-file and requests a fast shutdown from the postmaster. It runs in its own session, so signals to the program's
// process group don't reach it. It runs as PostgreSQL's user, so it can't signal processes of other users.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { CHILD_ENV, type OsUser, spawnAs } from './osUser.ts';
import { becomesTrue, inspectProcess, signal } from './postmaster.ts';

const MARK = 'quita-postgres-guard';
/** Each input line is the pid to watch, '' for none, or 'done'. `kill` and `read` are built in, so no other process is started. */
const SCRIPT = `trap '' HUP INT TERM
pid=
while read -r word; do
  case $word in done) exit 0 ;; *) pid=$word ;; esac
done
[ -z "$pid" ] || kill -INT "$pid"`;

export interface Guard {
  readonly pid: number;
  /** Sets the postmaster to shut down when this program dies; null for none. */
  watch(postmasterPid: number | null): void;
  /** Ends the guard without any other effect. Resolves when it has ended. A second call returns the same promise. */
  dismiss(): Promise<void>;
}

export const spawnGuard = async (clusterDir: string, osUser: OsUser | null): Promise<Guard> => {
  // The write end is close-on-exec, so children started later don't inherit it.
  const child = spawn('/bin/sh', ['-c', SCRIPT, MARK, clusterDir], {
    ...spawnAs(osUser),
    env: CHILD_ENV,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  await once(child, 'spawn');
  const pipe = child.stdin as Socket;
  pipe.on('error', () => undefined); // the guard was killed: the next start adopts the server
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
  child.kill('SIGKILL'); // the guard may have been stopped (SIGSTOP) and must not wake up later
  await becomesTrue(isEnded, 2_000);
};

/** Ends the guard of a previous program, so that it sends no signal afterwards. Another process that now has its pid is left alone. */
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
