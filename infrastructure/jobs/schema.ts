/** PostgreSQL schema of pg-boss's tables. */
export const JOBS_SCHEMA = 'jobs';

/** The version of pg-boss's schema that the statements on its tables (statements.ts) are written for. */
export const JOBS_SCHEMA_VERSION = 43;

/** pg-boss's tables have a version that this program does not support. Nothing was changed. */
export class OtherJobsSchema extends Error {
  override name = 'OtherJobsSchema';

  constructor(version: number) {
    super(
      `the job tables (schema "${JOBS_SCHEMA}") have version ${version}, but this program needs version ${JOBS_SCHEMA_VERSION}: a newer version of the program used this database`,
    );
  }
}
