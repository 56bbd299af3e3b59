/** Where pg-boss keeps its tables. */
export const JOBS_SCHEMA = 'jobs';
