// What API keys are made of: the lease under which this process remembers them, what it remembers, and what the routes can call.
import { randomUUID } from 'node:crypto';
import { ApiKeys } from '../../application/accounts/apiKeys.ts';
import { followChanges, forgetAnnounced } from '../../application/accounts/followChanges.ts';
import {
  issueApiKey,
  type KeyNeeds,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
} from '../../application/accounts/manageKeys.ts';
import type { Accounts } from '../../application/core/accounts.ts';
import type { CommandHandler } from '../../application/core/commandHandler.ts';
import { pollUntil } from '../../application/core/quiescence.ts';
import type { ReadModelName } from '../../application/ports/readModels/progress.ts';
import { reportingKeyChanges } from '../../application/settingChanges.ts';
import { keyViews } from '../../projections/keyring/queries.ts';
import { warnings } from '../log/log.ts';
import { changesLog } from '../monitoring/securityLog.ts';
import { PostgresAccessLeases } from '../operations/accessLeases.ts';
import { PostgresKeyUses } from '../operations/keyUses.ts';
import { caughtUp, type LogProgress } from '../subscriptions/progress.ts';
import { systemRandomness } from '../system/randomness.ts';
import { systemStopwatch as stopwatch } from '../system/stopwatch.ts';
import type { GatewayOptions } from './composition.ts';
import type { Storage } from './storage.ts';

/** For one who announces changes, and remembers nothing. */
export const accessLeases = (
  { operations: db }: Pick<Storage, 'operations'>,
  options: Partial<ConstructorParameters<typeof PostgresAccessLeases>[0]> = {},
): PostgresAccessLeases =>
  new PostgresAccessLeases({ db, process: randomUUID(), stopwatch, onError: () => undefined, ...options });

/** As long as a process that looks a key up waits for the read model. */
const FOUND_MS = 1_000;

/** `onMove`: registers a listener for the moves of read models; returns the undo. */
export const keyNeeds = (
  { reads }: Pick<Storage, 'reads'>,
  parts: Pick<KeyNeeds, 'commands' | 'accounts' | 'leases'>,
  onMove: (listener: () => void) => () => void,
): KeyNeeds => {
  const views = keyViews(reads);
  const whenFound: KeyNeeds['whenFound'] = (fingerprint) =>
    pollUntil({ stopwatch, onMove }, FOUND_MS, () => views.find(fingerprint));
  return { ...parts, randomness: systemRandomness, whenFound };
};

interface Parts {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly projected: LogProgress<ReadModelName>;
}

/** What knows keys in a process that serves, and what the routes do with them. */
export type Keys = Awaited<ReturnType<typeof openKeys>>;

export const openKeys = async ({ storage, log, clock, ...options }: GatewayOptions, parts: Parts) => {
  const { commands, accounts, projected } = parts;
  const { store, reads, operations, notices } = storage;
  const warn = warnings(log);
  const leases = accessLeases(storage, {
    onError: warn('the access lease could not be renewed: keys are looked up for each request until it is'),
    ...(options.accessLeases && { timings: options.accessLeases }),
  });
  forgetAnnounced(leases, commands);
  const uses = new PostgresKeyUses({ db: operations, clock, onError: warn('uses of keys could not be written') });
  const keys = new ApiKeys({
    leases,
    views: keyViews(reads),
    caughtUp: caughtUp(store, projected),
    commands,
    accounts,
    uses,
  });
  await leases.follow(notices);
  const stopping = new AbortController();
  await followChanges(store, commands, keys, {
    signal: stopping.signal,
    stopwatch,
    onError: warn('following accounts and keys failed'),
  });
  const needs = keyNeeds(storage, { commands, accounts, leases }, (listener) => projected.onMove(listener));
  return {
    leases,
    forgetAll: () => keys.forget(null),
    services: {
      findKey: (cleartext: string) => keys.find(cleartext),
      ...reportingKeyChanges(
        { issueApiKey: issueApiKey(needs), rotateApiKey: rotateApiKey(needs), revokeApiKey: revokeApiKey(needs) },
        changesLog(log),
      ),
      listApiKeys: listApiKeys(needs),
    },
    close: async () => {
      stopping.abort();
      await Promise.all([leases.close(), uses.close()]);
    },
  };
};
