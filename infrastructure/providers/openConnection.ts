// Opens the adapter of a connection with its secrets.

import type { ConnectionVault } from '../../application/ports/connectionWork.ts';
import { ConnectionUnopened, type OpenConnection } from '../../application/ports/providerConnections.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { Clock, Stopwatch } from '../../application/ports/system.ts';
import type { ConnectionId } from '../../domain/kernel/ids.ts';
import {
  currentSecrets,
  missingText,
  SECRET_NAMES,
  type StoredSecret,
} from '../../domain/providerConnection/secrets.ts';
import type { Log } from '../log/log.ts';
import { UnknownSecretsKey } from '../secrets/keyring.ts';
import { receivedClaims } from './claims.ts';
import type { OpenAdapter } from './connectionKinds.ts';
import type { KnownConnection } from './connections.ts';

interface OpeningWorld {
  readonly vault: Pick<ConnectionVault, 'find'>;
  readonly operations: Sql;
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly log: Log;
  /** In production, private addresses and plain http are refused, whatever the connection's settings. */
  readonly isProduction: boolean;
  readonly openAdapter: OpenAdapter;
}

/** Throws ConnectionUnopened or ConfigError. */
export const connectionOpener = ({ vault, operations, isProduction, openAdapter, ...needs }: OpeningWorld) => {
  const claims = receivedClaims(operations, needs.log);
  return async (connection: KnownConnection): Promise<OpenConnection> => {
    const { terms, formerKeys = [], movedKeys = [] } = connection;
    const { connectionId } = terms;
    const found = new Map(
      await Promise.all(
        currentSecrets(connection).map(async (one) => [one.kind, await secretOf(vault, connectionId, one)] as const),
      ),
    );
    const missing = [...found].flatMap(([kind, secret]) => (secret === null ? [kind] : []));
    if (missing.length > 0) throw new ConnectionUnopened(`The connection ${missingText(missing)}.`);
    const [clientSecret, callbackSecret] = [found.get('client') as string, found.get('callback') as string];
    const secrets = { clientSecret, callbackSecret, privateKey: found.get('privateKey') ?? null };
    const allowed = { ...terms, allowPrivate: terms.allowPrivate && !isProduction };
    return openAdapter(allowed, secrets, { ...needs, claims: claims(connectionId), formerKeys, movedKeys });
  };
};

const secretOf = async (
  vault: OpeningWorld['vault'],
  id: ConnectionId,
  { kind, version }: StoredSecret,
): Promise<string | null> => {
  try {
    return await vault.find(id, kind, version);
  } catch (error) {
    if (!(error instanceof UnknownSecretsKey)) throw error;
    throw new ConnectionUnopened(`The ${SECRET_NAMES[kind]} is ${error.message}.`, { cause: error });
  }
};
