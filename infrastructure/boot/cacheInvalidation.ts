// What other processes change and this one remembers: accounts and keys. Followed from the head on; nothing older is remembered yet.

import type { ApiKeys } from '../../application/accounts/apiKeys.ts';
import type { CommandHandler } from '../../application/core/commandHandler.ts';
import type { EventStore } from '../../application/ports/eventStore.ts';

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
