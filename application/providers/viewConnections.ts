// Operators' view of provider connections.

import type { ConnectionId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { type ConnectionView, connectionView, connectionWarnings } from '../../domain/presentation/connection.ts';
import { type Connection, PROVIDER_CONNECTION } from '../../domain/providerConnection/aggregate.ts';
import { missingSecrets, missingText } from '../../domain/providerConnection/secrets.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { Circuits, ConnectionRules, ConnectionVault } from '../ports/connectionWork.ts';
import type { ConnectionReads } from '../ports/readModels/providers.ts';
import { loadConnection } from './manageConnections.ts';

export interface ViewConnectionsNeeds extends UseCaseNeeds {
  readonly connections: ConnectionReads;
  readonly connectionRules: Pick<ConnectionRules, 'expiryOf'>;
  readonly circuits: Circuits;
  readonly connectionVault: Pick<ConnectionVault, 'stored'>;
}

/** Returns the views of one or more connections, from one read of their surroundings. */
const viewsOf = async (
  { accounts, connections, connectionRules, circuits }: ViewConnectionsNeeds,
  of: readonly Connection[],
): Promise<readonly ConnectionView[]> => {
  const [open, states] = await Promise.all([connections.openWork(), circuits.states()]);
  return of.map((connection) => {
    const { connectionId, certificate } = connection.terms;
    const { payments: openPayments, payouts: openPayouts } = open.get(connectionId) ?? { payments: 0, payouts: 0 };
    const around = {
      circuit: states.get(connectionId) ?? 'closed',
      certificateExpiresAt: certificate === null ? null : connectionRules.expiryOf(certificate),
      ...{ openPayments, openPayouts },
    };
    return connectionView(connection, around, accounts.realNow());
  });
};

const notRemoved = async ({ connections }: ViewConnectionsNeeds): Promise<readonly Connection[]> =>
  (await connections.all()).filter(({ status }) => status !== 'removed');

/** Returns all connections that are not removed, oldest first. */
export const listConnections = (needs: ViewConnectionsNeeds) => async (): Promise<readonly ConnectionView[]> =>
  viewsOf(needs, await notRemoved(needs));

/** Returns what operators should do about the connections, one sentence each. Empty if there is nothing to do. */
export const connectionProblems = (needs: ViewConnectionsNeeds) => async (): Promise<readonly string[]> =>
  connectionWarnings(await listConnections(needs)());

/** Returns the connections that can't be opened because a secret is missing, one sentence each. */
export const unusableConnections = (needs: ViewConnectionsNeeds) => async (): Promise<readonly string[]> => {
  const problems: string[] = [];
  for (const one of await notRemoved(needs)) {
    const { connectionId: id, name } = one.terms;
    const kinds = missingSecrets(one, await needs.connectionVault.stored(id));
    if (kinds.length > 0) problems.push(`${PROVIDER_CONNECTION.idPrefix}${id} (${name}) ${missingText(kinds)}`);
  }
  return problems;
};

type Known = (...args: never[]) => Promise<Connection | Rejection>;

/** Returns the use case with the view of the connection as its reply. */
export const showing =
  <Change extends Known>(needs: ViewConnectionsNeeds, change: Change) =>
  async (...args: Parameters<Change>): Promise<ConnectionView | Rejection> => {
    const done = await change(...args);
    return isRejection(done) ? done : ((await viewsOf(needs, [done]))[0] as ConnectionView);
  };

/** Returns a connection, read from its stream. Rejects with `not_found`. */
export const showConnection = (needs: ViewConnectionsNeeds) =>
  showing(needs, (id: ConnectionId) => loadConnection(needs, id));
