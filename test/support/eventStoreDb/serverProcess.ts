// The test server in a process of its own: what is killed and restarted around it does not take it along.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

export interface ServerProcess {
  readonly connectionString: string;
  stop(): Promise<void>;
}

export const startServerProcess = (): Promise<ServerProcess> =>
  new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, 'serve.ts')], {
      stdio: ['pipe', 'pipe', 'inherit'], // its end of the first pipe closes when we are gone
    });
    const exited = new Promise<void>((done) => child.once('exit', () => done()));
    const stop = async () => {
      child.kill('SIGTERM');
      await exited;
    };
    child.once('error', reject);
    child.stdout?.once('data', (line: Buffer) => resolve({ connectionString: line.toString().trim(), stop }));
  });
