// Creates the cluster with the program's role and database, completely or not at all.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { DATABASE, type Layout, ROLE, renameDurably, type Settings, unfinishedPath } from './dataDir.ts';
import { EmbeddedPostgresError } from './error.ts';
import { CHILD_ENV, type OsUser, spawnAs } from './osUser.ts';

/** Owns PostgreSQL's system objects. No one can log in as this role: it has no password, and ACCESS has no line for it. */
const SUPERUSER = 'postgres';

const ACCESS = `# Only the program's role and the analysts that it creates have passwords. They may log in to its own database, over the socket.
local ${DATABASE} all scram-sha-256
`;

/** The database from which PostgreSQL copies new ones, with the rights of its functions. */
const TEMPLATE = 'template1';

/** Functions that every role may call unless it is forbidden, although their effects reach beyond the role: locks and large objects. */
const FAR_REACHING = String.raw`proname LIKE 'pg\_%advisory%lock%' OR proname IN ('lo_creat', 'lo_create', 'lo_from_bytea')`;
const RESERVE_FUNCTIONS = [
  `DO $$DECLARE f regprocedure; BEGIN FOR f IN SELECT oid FROM pg_proc WHERE ${FAR_REACHING} LOOP`,
  `EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f);`,
  `EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO ${ROLE}', f); END LOOP; END$$`,
].join(' ');

/**
 * Statements for the single-user server, which reads one statement per line and runs it as the superuser, in TEMPLATE. The program's role
 * creates analysts (ADR 0016), whose temporary files it may limit.
 */
const rolesAndDatabase = ({
  password,
}: Settings): string => `CREATE ROLE ${ROLE} LOGIN CREATEROLE PASSWORD '${password}'
GRANT pg_checkpoint, pg_monitor TO ${ROLE}
GRANT SET ON PARAMETER temp_file_limit TO ${ROLE}
${RESERVE_FUNCTIONS}
CREATE DATABASE ${DATABASE} OWNER ${ROLE} TEMPLATE ${TEMPLATE}
`;

/**
 * A kill at any moment leaves a folder with an unfinished name, which the next start removes. The tools run in their own
 * session, so Ctrl-C during the first start reaches only the program, which then ends cleanly.
 * The builtin provider sorts by code point as C.UTF-8 does, without depending on the C library's version.
 */
export const initialiseCluster = async (
  layout: Layout,
  settings: Settings,
  binaries: Binaries,
  osUser: OsUser | null,
  log: (line: string) => void,
): Promise<void> => {
  const unfinished = unfinishedPath(layout);
  const cluster = join(unfinished, 'cluster');
  const tool = (name: string, file: string, args: readonly string[], input = '') =>
    run({ name, file, args, input, osUser: osUser }, layout);
  await mkdir(unfinished, { mode: 0o700 });
  try {
    if (osUser !== null) await chown(unfinished, osUser.uid, osUser.gid);
    log(`creating the database in ${layout.clusterDir}`);
    await tool('initdb', binaries.initdb, [
      ...['-D', cluster, '--username', SUPERUSER, '--auth=reject', '--encoding=UTF8', '--no-instructions'],
      ...['--locale=C.UTF-8', '--lc-messages=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    ]);
    const options = ['exit_on_error=on', 'log_min_error_statement=panic']; // a failed statement would be logged with the password in it
    const single = ['--single', '-D', cluster, ...options.flatMap((option) => ['-c', option]), TEMPLATE];
    await tool('postgres --single', binaries.postgres, single, rolesAndDatabase(settings));
    await writeFile(join(cluster, 'pg_hba.conf'), ACCESS, { flush: true });
    await renameDurably(cluster, layout.clusterDir);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
};

interface Tool {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly input: string;
  readonly osUser: OsUser | null;
}

const run = async ({ name, file, args, input, osUser }: Tool, { clusterDir }: Layout): Promise<void> => {
  const child = spawn(file, args, {
    ...spawnAs(osUser),
    env: CHILD_ENV,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let errorOutput = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errorOutput += text;
  });
  child.stdin.on('error', () => undefined); // the tool ended without reading its input: its exit code reports the failure
  child.stdin.end(input);
  const [code, ended] = await once(child, 'close').then(
    (values) => values as [number | null, NodeJS.Signals | null],
    (error: unknown) => {
      throw new EmbeddedPostgresError(
        'binaries_unusable',
        `${name} can't be executed: ${(error as Error).message}`,
        error,
      );
    },
  );
  if (code === 0) return;
  throw new EmbeddedPostgresError(
    'cannot_start',
    `${name} could not create ${clusterDir} (${ended ?? `exit ${code}`}): ${errorOutput.trim() || 'no reason given'}`,
  );
};
