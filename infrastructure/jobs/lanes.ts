// The notation of tenants and lanes in pg-boss's tables and in notices.

import type { JobPlace } from '../../application/ports/jobs.ts';
import type { Mode, Tenant } from '../../domain/kernel/ids.ts';

export const LANES = ['live', 'test'] as const satisfies readonly Mode[];

/** Returns `live/<account>`: the mode comes first, so that an index keeps the tenants of a lane together. */
export const tenantKey = ({ accountId, mode }: Tenant): string => `${mode}/${accountId}`;

export const tenantOf = (key: string): Tenant => {
  const [mode, accountId] = key.split('/');
  return { accountId, mode } as Tenant;
};

/** Returns bounds for the keys of the lane's tenants: at least the first, below the second. */
export const laneBounds = (mode: Mode): readonly [string, string] => [`${mode}/`, `${mode}0`];

/** A queue and one of its lanes: `settle/live`. */
export type Lane = `${string}/${Mode}`;
export const laneOf = ({ queue, tenant }: JobPlace): Lane => `${queue}/${tenant.mode}`;
export const lanePartsOf = (lane: Lane): { readonly queue: string; readonly mode: Mode } => {
  const [queue, mode] = lane.split('/') as [string, Mode];
  return { queue, mode };
};

// --- Notices that wake the workers of other processes: the sender, and the lanes with work ---

export const JOBS_CHANNEL = 'quita_jobs';

export const lanesOf = (places: Iterable<JobPlace>): ReadonlySet<Lane> => new Set([...places].map(laneOf));

export const noticeOf = (lanes: ReadonlySet<Lane>, from: string): string => `${from} ${[...lanes].join(',')}`;
