/**
 * - `data_dir_unreachable`: the folder can't be made, read or written by us, or entered by the user PostgreSQL runs as
 * - `data_dir_in_use`: another live program owns it; nothing was touched
 * - `settings_unusable`: postgres.json is missing beside a database, malformed, or holds another password
 * - `binaries_unusable`: no PostgreSQL for this platform, or it can't be executed
 * - `cannot_start`: PostgreSQL itself refused or did not answer; the message has its own last word
 */
export type EmbeddedPostgresErrorCode =
  | 'data_dir_unreachable'
  | 'data_dir_in_use'
  | 'settings_unusable'
  | 'binaries_unusable'
  | 'cannot_start';

/** `message` is one line for the operator: what, where, what to do (rule S4: exit code 2, nothing changed). */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
  readonly code: EmbeddedPostgresErrorCode;
  constructor(code: EmbeddedPostgresErrorCode, message: string, cause?: unknown) {
    super(message.replaceAll(/\s*\n\s*/g, ' '), cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** The `code` of a system, SQLite or PostgreSQL error (`ENOENT`, `57P03`), or ''. */
export const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
};

export const dataDirInUse = (dataDir: string): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    'data_dir_in_use',
    `The data directory ${dataDir} is in use by another running program: stop that one, or set DATA_DIR to another folder.`,
  );

export const dataDirUnreachable = (dataDir: string, why: string, cause?: unknown): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    'data_dir_unreachable',
    `The data directory ${dataDir} can't be used: ${why}; correct its permissions, or set DATA_DIR to another folder.`,
    cause,
  );
