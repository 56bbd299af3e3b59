// What other processes write about accounts and keys, and this one remembers. It hears of it in two ways: by announcements under the
// lease, and in the log, which it follows from its head on, because a process that was killed between an append and its announcement tells
// nobody (ADR 0009).
import { ACCOUNT } from '../../domain/account/account.ts';
import { readStreamName } from '../../domain/kernel/aggregate.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { AccessLeases } from '../ports/accessLeases.ts';
import type { Stopwatch } from '../ports/clock.ts';
import type { EventStore, Position } from '../ports/eventStore.ts';
import { ApiKeys, type ApiKeysNeeds } from './apiKeys.ts';

/** Accounts are forgotten when they are announced. Keys forget theirs by themselves. */
export const forgetAnnounced = (
  leases: Pick<AccessLeases, 'onChange'>,
  commands: Pick<CommandHandler, 'forget' | 'forgetAll'>,
): void =>
  leases.onChange((account) => {
    if (account === null) commands.forgetAll();
    else commands.forget(ACCOUNT.stream(account));
  });

interface FollowingOptions {
  /** Ends it. */
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
      // Keyrings are always read up to their end: what is remembered of a long one is a start.
      if (category === 'account') commands.forget(stream, revision);
      keys.forget(id as AccountId);
    }
  }
};

const RETRY_MS = 1_000;

/** Returns once it follows. It ends with the signal alone: in a log that was restored it goes on from the head, with nothing remembered. */
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
  /** Before everything is forgotten, so that nothing lies between. If the head can't be read, the subscription is tried as before. */
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

/** Returns what this process remembers of keys, which is true as long as it follows. `followLeases`: has `leases` hear of announcements. */
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
