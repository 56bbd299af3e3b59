// Adapters of the audit log, in the running program and on the command line.
import type { AuditSettings } from '../../application/ports/auditAccess.ts';
import type { EventCodec } from '../../application/ports/eventCodec.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import { capabilityAdapters } from '../capabilityAdapters.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../log/log.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';
import { requiredKeyring } from '../secrets/secretsKey.ts';
import { systemStopwatch } from '../system/system.ts';
import { auditAnchors } from './auditAnchors.ts';
import { auditKeys } from './auditKeys.ts';
import { auditTokens } from './auditTokens.ts';
import { auditTree } from './auditTree.ts';
import { latestCheckpoint } from './latestCheckpoint.ts';
import { notificationsOfPayment } from './notificationsOfPayment.ts';

const NO_SETTINGS: AuditSettings = { isPublic: false, witnesses: [], anchors: [], inWebhooks: false };

interface Stores {
  readonly operations: SqlPool;
  readonly reads: SqlPool;
  readonly codec: EventCodec;
}

interface Tools {
  readonly storage: Stores;
  readonly keyringOf: () => Promise<SecretsKeyring>;
  readonly publicUrl: string;
  readonly audit?: AuditSettings;
}

/** Returns the origin of the log at a URL. Key names of signed notes must not contain plus signs; a URL has no spaces. */
export const originOfLog = (url: string): string => url.replace(/^https?:\/\//, '').replaceAll('+', '%2B');

const tools = ({ storage: { operations, reads, codec }, keyringOf, publicUrl, audit = NO_SETTINGS }: Tools) => {
  const auditUrl = `${publicUrl}/audit/log`;
  return {
    auditTree: auditTree(operations),
    auditKeys: auditKeys(operations, keyringOf),
    auditTokens: auditTokens(operations),
    auditAnchors: auditAnchors(operations),
    auditSettings: audit,
    codec,
    notificationsOfPayment: notificationsOfPayment(reads),
    auditClock: { now: () => Date.now() },
    auditUrl,
    auditOrigin: originOfLog(auditUrl),
  };
};

interface World extends Pick<Tools, 'publicUrl' | 'audit'> {
  readonly storage: Stores;
  readonly keyring: SecretsKeyring;
  readonly log: Log;
}

interface OperatorsWorld {
  readonly storage: Stores;
  readonly config: Config;
}

export const audit = capabilityAdapters({
  adapters: ({ keyring, log, ...world }: World) => ({
    ...tools({ ...world, keyringOf: async () => keyring }),
    checkpointHeader: world.audit?.inWebhooks
      ? latestCheckpoint(auditTree(world.storage.operations), systemStopwatch)
      : async () => null,
    auditAlerts: {
      stopped: (reason: string) => log.error({ reason }, 'sealing of the event log stopped'),
      resumed: () => log.warn('sealing of the event log continues'),
    },
  }),
  operatorsAdapters: ({ storage, config }: OperatorsWorld) =>
    tools({ storage, keyringOf: () => requiredKeyring(config), publicUrl: config.publicUrl, audit: config.audit }),
  terminal: () => import('./terminal.ts'),
});
