// Runs Prism as a separate program on loopback.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

const PROGRAM = createRequire(import.meta.url).resolve('@stoplight/prism-cli');
const READY = /Prism is listening on (http:\/\/\S+)/;

export interface Prism {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts `prism` with the arguments on a free port. Rejects with its output if it exits early. */
export const startPrism = async (...args: readonly string[]): Promise<Prism> => {
  const child = spawn(process.execPath, [PROGRAM, ...args, '--host', '127.0.0.1', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let printed = '';
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        if (READY.test(printed)) return;
        printed += chunk.toString('utf8');
        const ready = READY.exec(printed)?.[1];
        if (ready !== undefined) resolve(ready);
      });
    void ended.then(() => reject(new Error(`Prism ended:\n${printed}`)));
  });
  return {
    url,
    close: async () => {
      child.kill();
      await ended;
    },
  };
};
