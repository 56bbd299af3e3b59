// Keeps this process's cache of accounts and keys up to date with other processes' changes. It uses their announcements under the lease.
// It also follows the log, because a process may be killed between an append and its announcement (ADR 0009).
import { ACCOUNT } from '../../domain/account/account.ts';
import { readStreamName } from '../../domain/kernel/aggregate.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { AccessLeases } from '../ports/accessLeases.ts';
import type { EventStore, Position } from '../ports/eventStore.ts';
import type { Stopwatch } from '../ports/system.ts';
import { ApiKeys, type ApiKeysNeeds } from './apiKeys.ts';

/** Drops cached accounts when they are announced. The key cache handles announcements itself. */
export const forgetAnnounced = (
  leases: Pick<AccessLeases, 'onChange'>,
  commands: Pick<CommandHandler, 'forget' | 'forgetAll'>,
): void =>
  leases.onChange((account) => {
    if (account === null) commands.forgetAll();
    else commands.forget(ACCOUNT.stream(account));
  });

interface FollowingOptions {
  /** Ends the following. */
  readonly signal: AbortSignal;
  readonly stopwatch: Pick<Stopwatch, 'pause'>;
  readonly onError: (error: Error) => void;
}
type Log = Pick<EventStore, 'head' | 'subscribe'>;
type Commands = Pick<CommandHandler, 'forget' | 'forgetAll'>;
type Keys = Pick<ApiKeys, 'forget'>;

const followFrom = async (
  after: Position | null,
  store: Log,
  commands: Commands,
  keys: Keys,
  signal: AbortSignal,
): Promise<void> => {
  for await (const batch of store.subscribe({ after, categories: ['account', 'keyring'], signal })) {
    if (batch.kind !== 'events') continue;
    for (const { stream, revision } of batch.events) {
      const { category, id } = readStreamName(stream);
      // A cached keyring needs no invalidation, because keyrings are always read up to their end.
      if (category === 'account') commands.forget(stream, revision);
      keys.forget(id as AccountId);
    }
  }
};

const RETRY_MS = 1_000;

/** Resolves once it follows the log. Only the signal ends it; after an error it drops the cache and continues from the head. */
export const followChanges = async (
  store: Log,
  commands: Commands,
  keys: Keys,
  { signal, stopwatch, onError }: FollowingOptions,
): Promise<void> => {
  const first = await store.head();
  const follow = async (): Promise<void> => {
    for (let after = first; !signal.aborted; ) {
      try {
        await followFrom(after, store, commands, keys, signal);
      } catch (error) {
        onError(error as Error);
        after = await headSoon(after);
        commands.forgetAll();
        keys.forget(null);
      }
    }
  };
  /** Reads the head before the cache is dropped, so that no event is missed. If that fails, the old position is used again. */
  const headSoon = async (before: Position | null): Promise<Position | null> => {
    try {
      return await store.head();
    } catch (error) {
      if (!signal.aborted) onError(error as Error);
      await stopwatch.pause(RETRY_MS);
      return before;
    }
  };
  void follow();
};

/** Opens the key cache and keeps it up to date. `followLeases` makes `leases` listen to announcements. */
export const openApiKeys = async (
  needs: ApiKeysNeeds & { readonly store: Log },
  followLeases: () => Promise<void>,
  following: FollowingOptions,
): Promise<ApiKeys> => {
  const { commands, leases, store } = needs;
  forgetAnnounced(leases, commands);
  const keys = new ApiKeys(needs);
  await followLeases();
  await followChanges(store, commands, keys, following);
  return keys;
};
