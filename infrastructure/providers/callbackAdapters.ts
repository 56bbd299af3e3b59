// Adapters of callbacks.
import type { JobQueue } from '../../application/ports/jobs.ts';
import type { CallbackAlerts } from '../../application/ports/providerCallbacks.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { Log } from '../log/log.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';
import { callbackReads, providerCallbacks } from './providerCallbacks.ts';

/** How many findings one line names. */
const NAMED_MAX = 20;

const callbackAlerts = (log: Log): CallbackAlerts => ({
  kept: ({ id, connectionId }, outcome, findings) =>
    log.warn(
      {
        connection: connectionId,
        callback: id,
        outcome,
        findings: findings.length,
        named: findings
          .slice(0, NAMED_MAX)
          .map(({ reference, txid, because }) => ({ endToEndId: reference, txid, because })),
      },
      'provider callback needs an operator: see `provider callbacks`',
    ),
});

export const callbackAdapters = ({
  storage: { operations },
  jobs,
  keyring,
  log,
}: {
  readonly storage: { readonly operations: SqlPool };
  readonly jobs: JobQueue;
  readonly keyring: SecretsKeyring;
  readonly log: Log;
}) => ({
  providerCallbacks: providerCallbacks(operations, jobs, keyring),
  callbackReads: callbackReads(operations),
  callbackAlerts: callbackAlerts(log),
});

export const callbackOperatorsAdapters = ({
  storage: { operations },
}: {
  readonly storage: { readonly operations: SqlPool };
}) => ({ callbackReads: callbackReads(operations) });
