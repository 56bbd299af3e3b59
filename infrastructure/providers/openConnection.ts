// Opens the adapter of a connection with its secrets.

import type { ConnectionVault } from '../../application/ports/connectionWork.ts';
import type { OpenConnection } from '../../application/ports/providerConnections.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { Clock, Stopwatch } from '../../application/ports/system.ts';
import type { Log } from '../log/log.ts';
import { receivedClaims } from './claims.ts';
import type { OpenAdapter } from './connectionKinds.ts';
import type { KnownConnection } from './connections.ts';

/** A secret that an event names is not in the database, for example after a partial restore. */
class MissingSecret extends Error {
  override name = 'MissingSecret';
}

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

/** Throws MissingSecret, UnknownSecretsKey or ConfigError. */
export const connectionOpener = ({ vault, operations, isProduction, openAdapter, ...needs }: OpeningWorld) => {
  const claims = receivedClaims(operations, needs.log);
  return async (connection: KnownConnection): Promise<OpenConnection> => {
    const { terms, clientSecretVersion, privateKeyVersion, callbackSecretVersion } = connection;
    const { formerKeys = [], movedKeys = [] } = connection;
    const { connectionId } = terms;
    const stored = async (kind: 'client' | 'privateKey' | 'callback', version: number): Promise<string> => {
      const secret = await vault.find(connectionId, kind, version);
      if (secret === null) throw new MissingSecret(`the ${kind} secret of connection ${connectionId} is missing`);
      return secret;
    };
    const [clientSecret, privateKey, callbackSecret] = await Promise.all([
      stored('client', clientSecretVersion),
      privateKeyVersion === 0 ? null : stored('privateKey', privateKeyVersion),
      stored('callback', callbackSecretVersion),
    ]);
    const allowed = { ...terms, allowPrivate: terms.allowPrivate && !isProduction };
    return openAdapter(
      allowed,
      { clientSecret, privateKey, callbackSecret },
      { ...needs, claims: claims(connectionId), formerKeys, movedKeys },
    );
  };
};
