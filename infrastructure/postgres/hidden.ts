/**
 * Returns SQL that hides a parameter, such as `$1::bigint`, from the planner. PostgreSQL plans a prepared statement anew in each call if
 * the plan for the call's values seems cheaper than the general one: for a short array, or for a position near the head of the log.
 * Planning takes up to 300 µs, often longer than the statement.
 */
export const hidden = (parameter: string): string => `(SELECT ${parameter})`;
