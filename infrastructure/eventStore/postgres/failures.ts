// What an error of the database means for an append or a read.
import pg from 'pg';

const classOf = (error: unknown): string | null =>
  error instanceof pg.DatabaseError && error.code !== undefined ? error.code : null;

/**
 * SQLSTATEs that may come with the end of the session (FATAL): shutdown, crash, connection, internal, idle and transaction timeouts.
 * They may reach us after the commit, so they prove nothing. Judged by code, because the severity's word is translated.
 */
const ENDS_SESSION = /^(57P|08|XX|25P03|25P04)/;
/** Resources, locks and timeouts, shutdown, I/O, deadlock, read-only (a failover): the same flush may succeed later. */
const TRANSIENT = /^(08|25|40|53|55|57|58)/;
const BAD_VALUE = /^22/;
/** Raised by the trigger on event_store.events: the log is sealed, moved, or an unfinished copy. */
const NOT_IN_USE = 'QU001';

/** The server answered with an error and kept the session: the transaction was rolled back and nothing was written. */
export const wasRolledBack = (error: unknown): boolean => {
  const code = classOf(error);
  return code !== null && !ENDS_SESSION.test(code);
};

/** Not the fault of what was sent: try again. A lost connection counts too. */
export const isTransient = (error: unknown): boolean => {
  const code = classOf(error);
  return code === null || ENDS_SESSION.test(code) || TRANSIENT.test(code);
};

/** The server refused a value (SQLSTATE class 22). */
export const isBadValue = (error: unknown): boolean => BAD_VALUE.test(classOf(error) ?? '');

/** The log takes no events, from nobody: nothing was written, nor will be. */
export const isNotInUse = (error: unknown): error is Error => classOf(error) === NOT_IN_USE;

/** pg and Node may reject with several errors at once (AggregateError without a message). */
export const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
