// What was asked for.
import { parseArgs } from 'node:util';
import { BadConnectionString, readConnectionString } from '../../eventStore/eventStoreDb/connectionString.ts';
import { UsageError } from '../cli/command.ts';

export const HELP = `Usage: npm run migrate-events -- --to <url> | --from <url> | --unseal [--from <url>]  [--json]

Moves the event log of this deployment between PostgreSQL (DATABASE_URL, or the embedded one in DATA_DIR) and an EventStoreDB
(esdb://… or esdb+discover://…), event by event with its id and its time. Stop the program first. Killed half-way, the same command goes
on; repeated when it is done, it changes nothing.

  --to <url>    from PostgreSQL into that EventStoreDB, which must hold no events of Quita
  --from <url>  from that EventStoreDB into PostgreSQL, which must hold no events, or those that were copied from it to there
  --unseal      gives an unfinished copy up: the original (PostgreSQL, or with --from that EventStoreDB) is the log in use again
  --json        machine-readable output
`;

export type Input =
  | { readonly kind: 'help' }
  | { readonly kind: 'to' | 'from'; readonly url: string; readonly isJson: boolean }
  /** `url` null: of PostgreSQL. */
  | { readonly kind: 'unseal'; readonly url: string | null; readonly isJson: boolean };

const OPTIONS = {
  to: { type: 'string' },
  from: { type: 'string' },
  unseal: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

const parsed = (words: readonly string[]) => {
  try {
    return parseArgs({ args: [...words], options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
};

const checked = (option: string, url: string): string => {
  try {
    readConnectionString(url);
    return url;
  } catch (error) {
    if (error instanceof BadConnectionString) throw new UsageError(`--${option}: ${error.message}`);
    throw error;
  }
};

/** Throws UsageError. */
export const readInput = (words: readonly string[]): Input => {
  const { to, from, unseal = false, json: isJson = false, help } = parsed(words);
  if (help) return { kind: 'help' };
  if (unseal && to === undefined)
    return { kind: 'unseal', url: from === undefined ? null : checked('from', from), isJson };
  if (to !== undefined && from === undefined && !unseal) return { kind: 'to', url: checked('to', to), isJson };
  if (from !== undefined && to === undefined) return { kind: 'from', url: checked('from', from), isJson };
  throw new UsageError(
    'one of --to, --from and --unseal [--from] is needed; npm run migrate-events -- --help explains them',
  );
};
