// Runs the test server in its own process, so that it survives when other processes are killed and restarted.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { EventStoreDbOptions } from './server.ts';

export interface ServerProcess {
  readonly connectionString: string;
  stop(): Promise<void>;
}

/** With TLS, the test adds `&tlsCAFile=…` and `user:password@`. */
export const startServerProcess = (options: EventStoreDbOptions = {}): Promise<ServerProcess> =>
  new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(
      process.execPath,
      [join(import.meta.dirname, 'serve.ts'), JSON.stringify(options)],
      {
        stdio: ['pipe', 'pipe', 'inherit'], // The server ends when its end of the first pipe closes.
      },
    );
    const exited = new Promise<void>((done) => child.once('exit', () => done()));
    const stop = async () => {
      child.kill('SIGTERM');
      await exited;
    };
    child.once('error', reject);
    child.stdout?.once('data', (line: Buffer) => resolve({ connectionString: line.toString().trim(), stop }));
  });
