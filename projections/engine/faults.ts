// What kind of fault it is: a transient one, one of an event, or one of the consumer itself.

/** No event is to blame: the consumer can take nothing, or nothing of this batch. */
export class ConsumerFailed extends Error {
  override name = 'ConsumerFailed';
}

const sqlStateOf = (error: unknown): string | null => {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null;
};

/** Connection, conflicts, disk and memory, locks, shutdown, I/O: the same work succeeds later. */
export const isTransient = (error: unknown): boolean => /^(08|40|53|57|58|55P03)/.test(sqlStateOf(error) ?? '');

/** An exception of data or a constraint, or of the code that read the event; not a missing table, a right, or the server itself. */
export const mayBeOfEvent = (error: unknown): boolean => /^(2[123]|P0)|^$/.test(sqlStateOf(error) ?? '');

const ERROR_LENGTH_MAX = 300;

/** For rows, logs and operators, without personal data: values that the database or a parser quotes are left out. */
export const faultText = (error: unknown): string => {
  const { name, message, constraint, table } = error as Error & { constraint?: string; table?: string };
  const code = sqlStateOf(error);
  if (code !== null) return ['database error', code, table, constraint].filter((part) => part !== undefined).join(' ');
  if (error instanceof SyntaxError) return name;
  const shown = message.replaceAll(/[^\s"'<>]+@[^\s"'<>]+/g, '…').replaceAll(/\d[\d./-]{9,}\d/g, '…');
  return `${name}: ${shown}`.slice(0, ERROR_LENGTH_MAX);
};
