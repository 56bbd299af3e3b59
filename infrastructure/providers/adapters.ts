// Adapters of providers: the registry of connections, their secrets, and the tools of operators.

import type { ConnectionTool } from '../../application/ports/connectionWork.ts';
import type { JobQueue } from '../../application/ports/jobs.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { Clock } from '../../application/ports/system.ts';
import { PROVIDER_CONNECTION } from '../../domain/providerConnection/aggregate.ts';
import { capabilityAdapters } from '../capabilityAdapters.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../log/log.ts';
import { reconciliationAdapters, reconciliationOperatorsAdapters } from '../reconciliation/adapters.ts';
import { connectionVault } from '../secrets/connectionSecrets.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';
import { requiredKeyring } from '../secrets/secretsKey.ts';
import { systemStopwatch as stopwatch } from '../system/system.ts';
import { callbackAdapters, callbackOperatorsAdapters } from './callbackAdapters.ts';
import { callbackSecrets } from './callbackSecrets.ts';
import { circuits } from './circuits.ts';
import { type OpenAdapter, openAdapter as openReal, PRESET_NAMES } from './connectionKinds.ts';
import { connectionRules } from './connectionRules.ts';
import { connectionOpener } from './openConnection.ts';
import { type RegistryWorld, registryOf } from './registry.ts';

interface Tools {
  readonly operations: SqlPool;
  readonly keyringOf: () => Promise<SecretsKeyring>;
  readonly publicUrl: string;
  readonly isProduction: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly openAdapter?: OpenAdapter;
}

const tools = ({ operations, keyringOf, publicUrl, isProduction, clock, log, openAdapter = openReal }: Tools) => {
  const vault = connectionVault(operations, keyringOf);
  const connectionTool: ConnectionTool = {
    open: connectionOpener({ vault, operations, clock, stopwatch, log, isProduction, openAdapter }),
    callbackUrl: (id, secret) => `${publicUrl}/providers/${PROVIDER_CONNECTION.idPrefix}${id}/${secret}`,
  };
  return {
    connectionVault: vault,
    connectionRules: connectionRules(PRESET_NAMES, { isProduction, now: () => clock.now() }),
    connectionTool,
    circuits: circuits(operations),
  };
};

interface World extends RegistryWorld {
  readonly storage: { readonly operations: SqlPool };
  readonly jobs: JobQueue;
  readonly publicUrl: string;
}

interface OperatorsWorld {
  readonly storage: { readonly operations: SqlPool };
  readonly config: Config;
  readonly log: Log;
}

export const providers = capabilityAdapters({
  adapters: (world: World) => {
    const { storage, keyring, clock } = world;
    const { operations } = storage;
    const registry = registryOf(world);
    const own = tools({ ...world, operations, keyringOf: async () => keyring });
    return {
      ...own,
      providerConnections: registry,
      callbackSecrets: callbackSecrets(registry, own.connectionVault, clock),
      ...callbackAdapters(world),
      ...reconciliationAdapters(world),
    };
  },
  operatorsAdapters: ({ storage: { operations }, config, log }: OperatorsWorld) => ({
    ...tools({
      ...{ operations, log, keyringOf: () => requiredKeyring(config), clock: { now: () => Date.now() } },
      ...{ publicUrl: config.publicUrl, isProduction: config.isProduction },
    }),
    stopwatch,
    ...callbackOperatorsAdapters({ storage: { operations } }),
    ...reconciliationOperatorsAdapters({ storage: { operations } }),
  }),
  terminal: () => import('./terminal.ts'),
});
