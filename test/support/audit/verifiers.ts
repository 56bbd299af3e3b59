// The stand-alone verifiers of docs/auditors, as an auditor runs them.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { verifyExport } from '../../../infrastructure/audit/commands/verifier.ts';

const FOLDER = fileURLToPath(new URL('../../../docs/auditors/', import.meta.url));

/** Trusted keys, and checkpoints received earlier. */
export interface Trust {
  readonly keys: readonly string[];
  readonly checkpoints: readonly string[];
}
/** Returns the faults of an export. */
export type Verify = (folder: string, trust: Trust) => Promise<readonly string[]>;

export interface Run {
  readonly code: number | null;
  readonly lines: readonly string[];
  readonly errors: string;
}
const COMMANDS = { node: [process.execPath, 'verify.mjs'], python: ['python3', 'verify.py'] } as const;
/** Returns the command and its arguments. */
export const commandOf = (language: keyof typeof COMMANDS, args: readonly string[]): readonly [string, ...string[]] => {
  const [command, file] = COMMANDS[language];
  return [command, FOLDER + file, ...args];
};
export const runVerifier = (language: keyof typeof COMMANDS, args: readonly string[]): Run => {
  const [command, ...rest] = commandOf(language, args);
  const { status, stdout, stderr } = spawnSync(command, rest, { encoding: 'utf8' });
  return { code: status, lines: stdout.split('\n').slice(0, -1), errors: stderr };
};

export const argumentsOf = (folder: string, { keys, checkpoints }: Trust): readonly string[] => [
  folder,
  ...keys.flatMap((key) => ['--key', key]),
  ...checkpoints.flatMap((file) => ['--checkpoint', file]),
];

const byProgram =
  (language: keyof typeof COMMANDS): Verify =>
  async (folder, trust) => {
    const { code, lines, errors } = runVerifier(language, argumentsOf(folder, trust));
    if (code !== 0 && code !== 1) throw new Error(`verifier ended with ${code}: ${errors}`);
    const faults = lines.filter((line) => line.startsWith('fault: '));
    if (faults.length > 0 !== (code === 1))
      throw new Error(`exit code ${code} with ${faults.length} faults: ${errors}`);
    return faults.map((line) => line.slice('fault: '.length));
  };

export const byNode: Verify = byProgram('node');
export const byPython: Verify = byProgram('python');
/** Calls the functions of verify.mjs within this process. */
export const byFunction: Verify = async (folder, { keys, checkpoints }) => {
  try {
    return (await verifyExport(folder, { keys, checkpoints })).faults;
  } catch (error) {
    return [`${folder}: ${(error as Error).message}`];
  }
};
