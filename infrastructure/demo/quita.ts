// Runs the command line as an operator would, in a process of its own.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const CLI = fileURLToPath(new URL('../boot/cli.ts', import.meta.url));
const run = promisify(execFile);

/** Runs a command of the command line and returns what it prints with `--json`. */
export const quita = async <T>(...words: readonly string[]): Promise<T> => {
  const { stdout } = await run(process.execPath, [CLI, ...words, '--json']);
  return JSON.parse(stdout) as T;
};
