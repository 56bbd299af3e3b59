// The operator's CLI in the test process, on the database of a running gateway.
import { DECLARED_SETTINGS } from '../../application/capabilities.ts';
import type { DeclaredSettings } from '../../domain/kernel/accountSetting.ts';
import { commandsFor } from '../../infrastructure/cli/commands.ts';
import { runCli } from '../../infrastructure/cli/run.ts';
import { TEST_SECRETS_KEY } from './dataKeys.ts';

export interface CliRun<T> {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The output of `--json`, or undefined if the command doesn't request it or failed. */
  readonly json: T;
}

/** The variables with which the CLI opens the database of a test gateway. */
export const toolEnv = (databaseUrl: string): Readonly<Record<string, string>> => ({
  DATABASE_URL: databaseUrl,
  SECRETS_KEY: TEST_SECRETS_KEY.toString('base64'),
});

/** Runs a command as an operator types it: `held list --json`. */
export const runWords = <T = Record<string, unknown>>(databaseUrl: string, ...words: string[]): Promise<CliRun<T>> =>
  runWordsIn<T>(toolEnv(databaseUrl), ...words);

/** Runs the CLI in another environment. */
export const runWordsIn = <T = Record<string, unknown>>(
  env: Readonly<Record<string, string>>,
  ...words: string[]
): Promise<CliRun<T>> => runWordsWith<T>(DECLARED_SETTINGS, env, ...words);

/** Runs the CLI of a program with these account settings. */
export const runWordsWith = async <T = Record<string, unknown>>(
  declared: DeclaredSettings,
  env: Readonly<Record<string, string>>,
  ...words: string[]
): Promise<CliRun<T>> => {
  let [out, err] = ['', ''];
  const to = (take: (text: string) => void) => ({ write: (text: string) => take(text) });
  const code = await runCli(
    commandsFor(declared),
    words,
    { ...env },
    to((text) => {
      out += text;
    }),
    to((text) => {
      err += text;
    }),
    declared,
  );
  const json = (words.includes('--json') && out !== '' ? JSON.parse(out) : undefined) as T;
  return { code, out, err, json };
};
