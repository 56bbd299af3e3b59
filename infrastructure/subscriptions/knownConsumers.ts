// The consumers known to the living processes. During an upgrade, processes of another version may lead, which added or removed consumers.
import type { Sql } from '../../application/ports/sql.ts';
import { readName } from '../../projections/engine/partitions.ts';
import { CONNECTED_LEASES } from '../postgres/leases.ts';

const ABLE = `SELECT l.shares AS role, able.name FROM ${CONNECTED_LEASES}, unnest(l.able) AS able (name) WHERE l.shares IS NOT NULL`;

/**
 * Returns a function that returns whether a living process of the role can lead the consumer. Also true if no process of the role lives.
 */
export const knownConsumers = async (reads: Sql): Promise<(role: string, consumer: string) => boolean> => {
  const { rows } = await reads.query<{ role: string; name: string }>(ABLE);
  const known = Map.groupBy(rows, ({ role }) => role);
  return (role, consumer) => known.get(role)?.some(({ name }) => readName(name).consumer === consumer) !== false;
};
