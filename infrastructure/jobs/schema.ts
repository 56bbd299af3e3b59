/** Where pg-boss keeps its tables. */
export const JOBS_SCHEMA = 'jobs';

/** The version of pg-boss's schema that the statements on its tables (statements.ts) are written for. */
export const JOBS_SCHEMA_VERSION = 43;

/** pg-boss's tables are of another version than this program's. Nothing was changed. */
export class OtherJobsSchema extends Error {
  override name = 'OtherJobsSchema';

  constructor(version: number) {
    super(
      `the job tables (schema "${JOBS_SCHEMA}") are of version ${version}, and this program works with version ${JOBS_SCHEMA_VERSION}: it was used by a newer version of the program`,
    );
  }
}
