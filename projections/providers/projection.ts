// Read model of provider connections, and of the payments and payouts that belong to them. Sandbox payments cost nothing.
import { isOf, type LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { ConnectionId } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import { PROVIDER_CONNECTION } from '../../domain/providerConnection/aggregate.ts';
import { aggregateTable } from '../engine/aggregateTable.ts';
import type { Projection } from '../engine/projection.ts';

const connections = aggregateTable({
  name: 'providers',
  version: 3,
  aggregate: PROVIDER_CONNECTION,
  table: 'connections',
  columns: [
    { name: 'added_at', type: 'timestamptz', of: (state) => (state.status === 'absent' ? null : state.addedAt) },
  ],
  indexes: [],
});

const OWNED = ['payment_owners', 'payout_owners'] as const;

/** Returns the connection to which the event assigns its payment or payout, or null. */
const ownerOf = (
  logged: LoggedEvent,
): { readonly table: (typeof OWNED)[number]; readonly owner: ConnectionId } | null => {
  if (logged.mode === 'test') return null;
  if (isOf(logged, PAYMENT)) {
    const { event } = logged;
    const owner = event.type === 'ChargeCreated' || event.type === 'ChargeRerouted' ? event.data.connectionId : null;
    return owner === null ? null : { table: 'payment_owners', owner };
  }
  if (!isOf(logged, PAYOUT) || logged.event.type !== 'PayoutRequested') return null;
  const { connectionId: owner } = logged.event.data;
  return owner === null ? null : { table: 'payout_owners', owner };
};

const writeOwners = async (schema: string, events: readonly LoggedEvent[], tx: Sql): Promise<void> => {
  const owners = { payment_owners: new Map<string, ConnectionId>(), payout_owners: new Map<string, ConnectionId>() };
  for (const logged of events) {
    const owned = ownerOf(logged);
    if (owned !== null) owners[owned.table].set(logged.subject, owned.owner);
  }
  for (const table of OWNED)
    if (owners[table].size > 0)
      await tx.query(
        `INSERT INTO ${schema}.${table} (id, connection_id) SELECT id, owner FROM unnest($1::text[], $2::text[]) v (id, owner)
         ON CONFLICT (id) DO UPDATE SET connection_id = excluded.connection_id`,
        [[...owners[table].keys()], [...owners[table].values()]],
      );
};

export const providersProjection: Projection<'providers'> = {
  ...connections,
  categories: ['providerConnection', 'payment', 'payout'],
  tables: [...connections.tables, ...OWNED.map((name) => ({ name, key: ['id'] }))],
  ddl: (schema) => `${connections.ddl(schema)}
    CREATE TABLE ${schema}.payment_owners (id text COLLATE "C" PRIMARY KEY, connection_id text COLLATE "C" NOT NULL);
    CREATE TABLE ${schema}.payout_owners (id text COLLATE "C" PRIMARY KEY, connection_id text COLLATE "C" NOT NULL);`,
  writer: (schema) => {
    const ofConnections = connections.writer(schema);
    return {
      reset: () => ofConnections.reset(),
      apply: async (events, tx) => {
        const own = events.filter((logged) => isOf(logged, PROVIDER_CONNECTION));
        if (own.length > 0) await ofConnections.apply(own, tx);
        await writeOwners(schema, events, tx);
      },
    };
  },
};
