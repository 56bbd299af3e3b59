// The few figures that a table needs.

/** `q` in [0, 1]; the nearest measured value, never an interpolation. NaN of nothing. */
export const quantile = (values: readonly number[], q: number): number => {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
};

export const median = (values: readonly number[]): number => quantile(values, 0.5);
