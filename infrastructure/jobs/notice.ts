// What wakes workers of other processes: who says it, and which lanes have work.
import type { JobPlace } from '../../application/ports/jobs.ts';
import { type Lane, laneOf } from './lanes.ts';

export const JOBS_CHANNEL = 'quita_jobs';

export const lanesOf = (places: Iterable<JobPlace>): ReadonlySet<Lane> => new Set([...places].map(laneOf));

export const noticeOf = (places: Iterable<JobPlace>, from: string): string =>
  `${from} ${[...lanesOf(places)].join(',')}`;
