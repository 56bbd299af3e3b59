// The version in the payload of a job or timer. While two versions of the program run side by side, the older one leaves work of the newer
// one alone. Version 1 is not stored.
import type { JobKind, JobPayload } from './jobs.ts';

const PROPERTY = 'v';

export const versionOf = (payload: JobPayload): number => Number(payload[PROPERTY] ?? 1);

/** Returns the payload with the version of its kind. A payload that has a version keeps it. */
export const versioned = (payload: JobPayload, { version = 1 }: Pick<JobKind, 'version'>): JobPayload =>
  version === 1 || PROPERTY in payload ? payload : { [PROPERTY]: version, ...payload };

export const unversioned = (payload: JobPayload): JobPayload => {
  if (!(PROPERTY in payload)) return payload;
  const { [PROPERTY]: _version, ...rest } = payload;
  return rest;
};
