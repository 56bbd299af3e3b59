// `npm run dump` and `npm run restore`: the whole PostgreSQL database to a file and back, for a release that needs another version of
// PostgreSQL.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type CommandWords, UsageError } from '../cli/command.ts';
import { outcomeOf } from '../cli/explain.ts';
import { type Out, screenOf } from '../cli/output.ts';
import { readOnly } from '../cli/program.ts';
import { type Config, loadToolConfig } from '../config/config.ts';
import { openLog } from '../log/log.ts';
import { openDatabase } from '../postgres/database.ts';
import { assertSchema } from '../postgres/migrate.ts';
import { connectionConfig, PgPool } from '../postgres/session.ts';
import { type DumpReport, dump } from './dump.ts';
import { restore } from './restore.ts';

type Copying = 'dump' | 'restore';

const COMMANDS: { readonly [C in Copying]: CommandWords } = {
  dump: {
    name: 'npm run dump --',
    summary:
      'Writes the database (DATABASE_URL, or the embedded one in DATA_DIR) to a file that this release and later ones can restore, with any ' +
      'version of PostgreSQL. Read models, the request log and roles of analysts are left out. Stop a program with the embedded database first.',
    args: [],
    options: {
      out: { description: 'the file; an existing one is replaced when the new one is complete', required: true },
    },
  },
  restore: {
    name: 'npm run restore --',
    summary:
      'Fills the empty database (DATABASE_URL, or a new embedded one in DATA_DIR) from a file of npm run dump. The next start builds the read models.',
    args: [],
    options: { from: { description: 'the file', required: true } },
  },
};

const assertExists = async ({ databaseUrl, dataDir }: Config): Promise<void> => {
  if (databaseUrl !== null) return;
  await stat(join(dataDir, 'postgres.json')).catch(() => {
    throw new UsageError(`no database in ${dataDir}: set DATA_DIR or DATABASE_URL`);
  });
};

const perform = async (what: Copying, file: string, config: Config): Promise<DumpReport> => {
  if (what === 'dump') await assertExists(config);
  else
    await stat(file).catch(() => {
      throw new UsageError(`there is no file ${file}`);
    });
  const database = await openDatabase(config, openLog('silent'), () => undefined);
  try {
    const { connectionString } = database;
    if (what === 'restore') return await restore(connectionString, file);
    await assertSchema(connectionString);
    const db = new PgPool(connectionConfig(connectionString, 'quita dump'), 1, () => undefined);
    return await dump(db, file).finally(() => db.close());
  } finally {
    await database.close();
  }
};

/** Returns the exit code: 0 if all was copied, 1 on an unexpected error, 2 if the command or the environment is wrong. */
export const runCopy = async (
  what: Copying,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  out: Out,
  err: Out,
): Promise<number> => {
  try {
    const asked = readOnly(COMMANDS[what], words, screenOf(out, env));
    if (asked.kind === 'text') {
      out.write(asked.text);
      return 0;
    }
    const { options, isJson } = asked.input;
    const file = String(what === 'dump' ? options['out'] : options['from']);
    const report = await perform(what, file, loadToolConfig(env));
    const done =
      what === 'dump' ? `written to ${file}` : 'restored. Now start the program, which builds the read models';
    out.write(`${isJson ? JSON.stringify(report) : `${report.rows} rows of ${report.tables} tables ${done}`}\n`);
    return 0;
  } catch (error) {
    const { code, says } = outcomeOf(error, env);
    err.write(`quita: ${says}\n`);
    return code;
  }
};
