// What other processes change and this one remembers: accounts and keys. Followed from the head on; nothing older is remembered yet.

import type { CommandHandler } from '../core/commandHandler.ts';
import type { EventStore } from '../ports/eventStore.ts';
import type { ApiKeys } from './apiKeys.ts';

export const followCacheInvalidation = async (
  store: EventStore,
  commands: CommandHandler,
  keys: ApiKeys,
  signal: AbortSignal,
  onError: (error: Error) => void,
): Promise<void> => {
  const after = await store.head();
  void (async () => {
    for await (const batch of store.subscribe({ after, categories: ['account', 'keyring'], signal })) {
      if (batch.kind !== 'events') continue;
      for (const { stream, revision } of batch.events) commands.forget(stream, revision);
      keys.forget();
    }
  })().catch(onError);
};
