/**
 * - `data_dir_unreachable`: this program can't create, read or write the folder, or PostgreSQL's user can't enter it
 * - `data_dir_in_use`: another live program owns it; nothing was changed
 * - `settings_unusable`: postgres.json is missing although a database exists, is malformed, or holds another password
 * - `binaries_unusable`: there is no PostgreSQL for this platform, or it can't be executed
 * - `other_major`: another major version of PostgreSQL created the database; nothing was changed
 * - `cannot_start`: PostgreSQL failed or did not answer; the message quotes its last error
 */
export type EmbeddedPostgresErrorCode =
  | 'data_dir_unreachable'
  | 'data_dir_in_use'
  | 'settings_unusable'
  | 'binaries_unusable'
  | 'other_major'
  | 'cannot_start';

/** `message` is one line for the operator: the problem, the place and the remedy (rule S4: exit code 2, nothing changed). */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
  readonly code: EmbeddedPostgresErrorCode;
  constructor(code: EmbeddedPostgresErrorCode, message: string, cause?: unknown) {
    super(message.replaceAll(/\s*\n\s*/g, ' '), cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** Returns the `code` of a system, SQLite or PostgreSQL error (`ENOENT`, `57P03`), or ''. */
export const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
};

export const dataDirInUse = (dataDir: string): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    'data_dir_in_use',
    `The data directory ${dataDir} is in use by another running program. Stop that program, or set DATA_DIR to another folder.`,
  );

export const dataDirUnreachable = (dataDir: string, why: string, cause?: unknown): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    'data_dir_unreachable',
    `The data directory ${dataDir} can't be used: ${why}. Correct its permissions, or set DATA_DIR to another folder.`,
    cause,
  );
