/** Milliseconds. Half fixed, half random, doubling from 20 ms to 1 s: many processes must not come back in step. `attempt` from 0. */
export const backoffMs = (attempt: number): number => {
  const full = Math.min(1_000, 20 * 2 ** Math.min(attempt, 10));
  return full / 2 + (Math.random() * full) / 2;
};
