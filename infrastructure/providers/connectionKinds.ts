// The adapters of connections by kind.

import type { Clock, Stopwatch } from '../../application/ports/clock.ts';
import {
  type ConnectionSecrets,
  type OpenConnection,
  ProviderRefused,
} from '../../application/ports/providerConnections.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { ConnectionTerms } from '../../domain/providerConnection/connection.ts';
import type { Log } from '../log/log.ts';

interface PixApiNeeds {
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly log: Pick<Log, 'warn'>;
  readonly claims: (endToEndId: string, paymentId: PaymentId) => Promise<boolean>;
}

/** Opens the adapter of a connection. It makes no call yet. */
export type OpenAdapter = (terms: ConnectionTerms, secrets: ConnectionSecrets, needs: PixApiNeeds) => OpenConnection;

export const openAdapter: OpenAdapter = ({ preset }) => {
  throw new ProviderRefused(`the adapter of preset ${preset} is not merged yet`);
};
export const PRESET_NAMES: readonly string[] = ['generic', 'efi'];
