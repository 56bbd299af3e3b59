// Makes the result of a check.
import type { Finding } from '../../application/ports/systemChecks.ts';

export const finding = (check: string, isGood: boolean, good: string, bad: string): Finding => ({
  check,
  isGood,
  says: isGood ? good : bad,
});
