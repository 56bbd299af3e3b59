// Statistics for the table.

/** Returns the nearest measured value, without interpolation, or NaN if there are no values. `q` is from 0 to 1. */
export const quantile = (values: readonly number[], q: number): number => {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
};

export const median = (values: readonly number[]): number => quantile(values, 0.5);
