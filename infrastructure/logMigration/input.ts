// What was asked for.
import { UsageError } from '../cli/command.ts';
import { readOptions } from '../cli/options.ts';
import { versionText } from '../cli/usage.ts';

export const HELP = `Usage: npm run migrate-events -- --to <url> | --from <url> | --unseal [--from <url>]  [--json]

Moves the event log of this deployment between PostgreSQL (DATABASE_URL, or the embedded one in DATA_DIR) and an EventStoreDB
(esdb://… or esdb+discover://…, or the same with kurrentdb), event by event with its id and its time. Stop the program first. Killed
half-way, the same command goes on; repeated when it is done, it changes nothing.

  --to <url>    from PostgreSQL into that EventStoreDB, which must hold no events of Quita
  --from <url>  from that EventStoreDB into PostgreSQL, which must hold no events, or those that were copied from it to there
  --unseal      gives an unfinished copy up: the original (PostgreSQL, or with --from that EventStoreDB) is the log in use again
  --json        machine-readable output
`;

export type Input =
  /** Nothing is to be done but to print it. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'to' | 'from'; readonly url: string; readonly isJson: boolean }
  /** `url` null: of PostgreSQL. */
  | { readonly kind: 'unseal'; readonly url: string | null; readonly isJson: boolean };

const OPTIONS = { to: {}, from: {}, unseal: { flag: true } } as const;

const ONE_IS_NEEDED =
  'one of --to, --from and --unseal [--from] is needed; npm run migrate-events -- --help explains them';

/** Throws UsageError. */
export const readInput = (words: readonly string[]): Input => {
  const { values, positionals } = readOptions('npm run migrate-events --', words, OPTIONS);
  if (values['help']) return { kind: 'text', text: HELP };
  if (values['version']) return { kind: 'text', text: versionText() };
  if (positionals.length > 0) throw new UsageError(`"${positionals[0]}" is one argument too many; ${ONE_IS_NEEDED}`);
  const { to, from, unseal } = values;
  const isJson = values['json'] === true;
  if (unseal && to === undefined) return { kind: 'unseal', url: typeof from === 'string' ? from : null, isJson };
  if (typeof to === 'string' && from === undefined && !unseal) return { kind: 'to', url: to, isJson };
  if (typeof from === 'string' && to === undefined) return { kind: 'from', url: from, isJson };
  throw new UsageError(ONE_IS_NEEDED);
};
