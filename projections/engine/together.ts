// Independent work of one transaction. None waits for another, so that the session can send their statements together.

/** After an error, the server answers the other statements of the transaction with this SQLSTATE. */
const CONSEQUENCE = '25P02';
const isConsequence = (error: unknown): boolean => (error as { readonly code?: unknown } | null)?.code === CONSEQUENCE;

type Work = () => Promise<unknown>;

interface Failure {
  /** Which work failed. */
  readonly index: number;
  readonly error: unknown;
}

/** Starts all work. When it has ended, returns the first failure that is no consequence of another one, or null. */
export const failureOf = async (works: readonly Work[]): Promise<Failure | null> => {
  const outcomes = await Promise.allSettled(works.map(async (work) => work()));
  const failures = outcomes.flatMap((outcome, index) =>
    outcome.status === 'rejected' ? [{ index, error: outcome.reason as unknown }] : [],
  );
  return failures.find(({ error }) => !isConsequence(error)) ?? failures[0] ?? null;
};

/** Starts all work, and resolves when it has ended. Throws the error of the first failure that is no consequence of another one. */
export const together = async (works: readonly Work[]): Promise<void> => {
  const failure = await failureOf(works);
  if (failure !== null) throw failure.error;
};
