// Opens the registry of connections, one per process.

import type { ConnectionReads } from '../../application/ports/readModels/providers.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { Clock } from '../../application/ports/system.ts';
import type { Closing } from '../capabilityAdapters.ts';
import type { Log } from '../log/log.ts';
import { connectionVault } from '../secrets/connectionSecrets.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';
import { systemStopwatch as stopwatch } from '../system/system.ts';
import { circuitReports } from './circuits.ts';
import { type OpenAdapter, openAdapter as openReal } from './connectionKinds.ts';
import { ConnectionRegistry } from './connections.ts';
import { connectionOpener } from './openConnection.ts';

export interface RegistryWorld extends Closing {
  readonly storage: { readonly operations: SqlPool };
  readonly readModels: { readonly connections: ConnectionReads };
  readonly keyring: SecretsKeyring;
  readonly clock: Clock;
  readonly log: Log;
  /** Production never connects to private addresses. */
  readonly isProduction: boolean;
  /** Default: the real adapters. */
  readonly openAdapter?: OpenAdapter;
}

const registries = new WeakMap<RegistryWorld, ConnectionRegistry>();

/** Returns the registry of this world: the adapters of payments, payouts and providers share it. */
export const registryOf = (world: RegistryWorld): ConnectionRegistry => {
  const known = registries.get(world);
  if (known !== undefined) return known;
  const registry = openRegistry(world);
  registries.set(world, registry);
  return registry;
};

const openRegistry = (world: RegistryWorld): ConnectionRegistry => {
  const { storage, readModels, keyring, clock, log, closing, isProduction, openAdapter = openReal } = world;
  const { operations } = storage;
  const nowMs = () => stopwatch.elapsedMs();
  const reports = circuitReports(operations, nowMs);
  const vault = connectionVault(operations, async () => keyring);
  const registry = new ConnectionRegistry({
    read: () => readModels.connections.all(),
    open: connectionOpener({ vault, operations, clock, stopwatch, log, isProduction, openAdapter }),
    report: reports.report,
    onError: (err, id) => log.error({ err, connection: id }, 'provider connection could not be opened or reported'),
    nowMs,
    later: (ms, work) => {
      const timer = setTimeout(work, ms).unref();
      return () => clearTimeout(timer);
    },
  });
  closing(async () => {
    registry.close();
    await reports.withdraw();
  });
  return registry;
};
