// Division of whole numbers, rounded half-up, exactly.

/** Returns `numerator / denominator`, or 0 if the denominator is 0. Both are non-negative safe integers. */
export const divideHalfUp = (numerator: number, denominator: number): number => {
  if (denominator === 0) return 0;
  const rest = numerator % denominator;
  return (numerator - rest) / denominator + (rest >= denominator - rest ? 1 : 0);
};

/** Returns whole percent, rounded half up; 0 if `whole` is 0 (rule T2). */
export const percentHalfUp = (part: number, whole: number): number => divideHalfUp(part * 100, whole);
