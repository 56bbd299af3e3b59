// Independent work of one transaction. None waits for another, so that the session can send their statements together.

/**
 * The server's error codes for the other statements of a transaction after an error. The second of two statements by a new prepared name
 * misses that name, because the first one could not prepare it.
 */
const CONSEQUENCES: readonly unknown[] = ['25P02', '26000'];
const isConsequence = (error: unknown): boolean =>
  CONSEQUENCES.includes((error as { readonly code?: unknown } | null)?.code);

type Work = () => Promise<unknown>;

interface Failure {
  /** Index of the failed work. */
  readonly index: number;
  readonly error: unknown;
}

/** Starts all work. When it has ended, returns the failure that caused the others, or null. */
export const failureOf = async (works: readonly Work[]): Promise<Failure | null> => {
  const outcomes = await Promise.allSettled(works.map(async (work) => work()));
  const failures = outcomes.flatMap((outcome, index) =>
    outcome.status === 'rejected' ? [{ index, error: outcome.reason as unknown }] : [],
  );
  return failures.find(({ error }) => !isConsequence(error)) ?? failures[0] ?? null;
};

/** Starts all work, and resolves when it has ended. Throws the error that caused the others. */
export const together = async (works: readonly Work[]): Promise<void> => {
  const failure = await failureOf(works);
  if (failure !== null) throw failure.error;
};
