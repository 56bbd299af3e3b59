// Adapters for operators' work on the platform, in the running program and on the command line.
import type { Consumers } from '../../application/ports/consumers.ts';
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { OpenLeaderSession, SqlPool } from '../../application/ports/sql.ts';
import { capabilityAdapters } from '../capabilityAdapters.ts';
import type { Config } from '../config/config.ts';
import { failedJobs } from '../jobs/failedJobs.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';
import { knownKeyring } from '../secrets/secretsKey.ts';
import { consumerWork } from '../subscriptions/consumerWork.ts';
import { readModelWork } from '../subscriptions/readModelWork.ts';
import { oldRows } from './oldRows.ts';
import { openReadModelRuns, type RunsWorld } from './readModelRuns.ts';
import { systemChecks } from './systemChecks.ts';
import { openSystemReports } from './systemReports.ts';

interface Tools {
  readonly storage: EventLog & {
    readonly reads: SqlPool;
    readonly operations: SqlPool;
    readonly derived: SqlPool;
    readonly openSession: OpenLeaderSession;
    readonly eventStoreUrl: string | null;
  };
  /** All read models. */
  readonly projections: Parameters<typeof readModelWork>[0];
  /** Read models and processes. */
  readonly consumers: Pick<Consumers, 'names' | 'divisible' | 'maySkip'>;
  /** Returns null if only the programs' environment has the keys. */
  readonly keyringOf: () => Promise<SecretsKeyring | null>;
}

const tools = ({ storage, projections, consumers, keyringOf }: Tools) => ({
  store: storage.store,
  consumers: consumerWork(storage, consumers),
  readModelWork: readModelWork(projections, storage, storage.openSession),
  failedJobs: failedJobs(storage.reads, storage.operations),
  systemChecks: systemChecks({ storage, consumers, keyringOf }),
});

interface World extends Omit<Tools, 'keyringOf' | 'storage'>, Omit<RunsWorld, 'storage'> {
  readonly storage: Tools['storage'] & RunsWorld['storage'];
  readonly keyring: SecretsKeyring;
}

interface OperatorsWorld extends Omit<Tools, 'keyringOf'> {
  readonly config: Config;
}

export const operations = capabilityAdapters({
  adapters: async (world: World) => ({
    ...tools({ ...world, keyringOf: async () => world.keyring }),
    oldRows: oldRows(world.storage.derived),
    readModelRuns: await openReadModelRuns(world),
    systemReports: openSystemReports(world),
  }),
  operatorsAdapters: ({ config, ...world }: OperatorsWorld) =>
    tools({ ...world, keyringOf: () => knownKeyring(config) }),
  terminal: () => import('./terminal.ts'),
});
