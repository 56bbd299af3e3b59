// Metrics of provider connections.
import type { ConnectionStatus } from '../../domain/providerConnection/connection.ts';
import { listConnections, type ViewConnectionsNeeds } from './viewConnections.ts';

export type ConnectionGaugeNeeds = ViewConnectionsNeeds;

/** Reported if no connection has a client certificate, so that an alert on few days stays silent. */
const NO_CERTIFICATE_DAYS = 100_000;

const STATUSES = ['enabled', 'draining', 'disabled'] as const satisfies readonly ConnectionStatus[];

export const connectionGauges = [
  {
    name: 'provider_certificate_days_left',
    help: `Days until the first client certificate of a provider connection expires; ${NO_CERTIFICATE_DAYS} without certificates.`,
    read: async (needs: ConnectionGaugeNeeds): Promise<number> => {
      const views = await listConnections(needs)();
      return Math.min(NO_CERTIFICATE_DAYS, ...views.flatMap(({ certificate }) => certificate?.daysLeft ?? []));
    },
  },
  {
    name: 'provider_circuits_open',
    help: 'Provider connections whose circuit breaker is not closed in some process.',
    read: async ({ circuits }: ConnectionGaugeNeeds): Promise<number> => (await circuits.states()).size,
  },
  ...STATUSES.map((status) => ({
    name: `provider_connections_${status}`,
    help: `Provider connections that are ${status}.`,
    read: async ({ connections }: ConnectionGaugeNeeds): Promise<number> =>
      (await connections.all()).filter((one) => one.status === status).length,
  })),
];
