// The operator's command line inside the test process, on the database of a running gateway.
import { COMMANDS } from '../../infrastructure/cli/commands.ts';
import { runCli } from '../../infrastructure/cli/run.ts';

export interface CliRun<T> {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** What `--json` printed; undefined when the words do not ask for it or it failed. */
  readonly json: T;
}

/** Words as an operator types them: `held list --json`. */
export const runWords = <T = Record<string, unknown>>(databaseUrl: string, ...words: string[]): Promise<CliRun<T>> =>
  runWordsIn<T>({ DATABASE_URL: databaseUrl }, ...words);

/** The same in another environment. */
export const runWordsIn = async <T = Record<string, unknown>>(
  env: Readonly<Record<string, string>>,
  ...words: string[]
): Promise<CliRun<T>> => {
  let [out, err] = ['', ''];
  const to = (take: (text: string) => void) => ({ write: (text: string) => take(text) });
  const code = await runCli(
    COMMANDS,
    words,
    { ...env },
    to((text) => {
      out += text;
    }),
    to((text) => {
      err += text;
    }),
  );
  const json = (words.includes('--json') && out !== '' ? JSON.parse(out) : undefined) as T;
  return { code, out, err, json };
};
