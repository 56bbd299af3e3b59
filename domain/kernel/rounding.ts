// Division of whole numbers, rounded half-up, exactly.

/** `numerator / denominator` for 0 ≤ numerator, 0 < denominator, both safe integers; 0 when there is nothing to divide by. */
export const divideHalfUp = (numerator: number, denominator: number): number => {
  if (denominator === 0) return 0;
  const rest = numerator % denominator;
  return (numerator - rest) / denominator + (rest >= denominator - rest ? 1 : 0);
};

/** Whole percent, half-up; 0 of nothing (rule T2). */
export const percentHalfUp = (part: number, whole: number): number => divideHalfUp(part * 100, whole);
