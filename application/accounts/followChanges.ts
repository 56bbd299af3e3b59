// What other processes write about accounts and keys, and this one remembers, is followed in the log from its head on. It is the second
// way to hear of it: a process that was killed between an append and its announcement tells nobody (ADR 0009).
import { readStreamName } from '../../domain/kernel/event.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { EventStore } from '../ports/eventStore.ts';
import type { ApiKeys } from './apiKeys.ts';

export const followChanges = async (
  store: Pick<EventStore, 'head' | 'subscribe'>,
  commands: Pick<CommandHandler, 'forget'>,
  keys: Pick<ApiKeys, 'forget'>,
  signal: AbortSignal,
  onError: (error: Error) => void,
): Promise<void> => {
  const after = await store.head();
  void (async () => {
    for await (const batch of store.subscribe({ after, categories: ['account', 'keyring'], signal })) {
      if (batch.kind !== 'events') continue;
      for (const { stream, revision } of batch.events) {
        const { category, id } = readStreamName(stream);
        // Keyrings are always read up to their end: what is remembered of a long one is a start.
        if (category === 'account') commands.forget(stream, revision);
        keys.forget(id as AccountId);
      }
    }
  })().catch(onError);
};
