// What other processes write about accounts and keys, and this one remembers. It hears of it in two ways: by announcements under the
// lease, and in the log, which it follows from its head on, because a process that was killed between an append and its announcement tells
// nobody (ADR 0009).
import { readStreamName, streamName } from '../../domain/kernel/event.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { AccessLeases } from '../ports/accessLeases.ts';
import type { EventStore } from '../ports/eventStore.ts';
import type { ApiKeys } from './apiKeys.ts';

/** Accounts are forgotten when they are announced. Keys forget theirs by themselves. */
export const forgetAnnounced = (
  leases: Pick<AccessLeases, 'onChange'>,
  commands: Pick<CommandHandler, 'forget' | 'forgetAll'>,
): void =>
  leases.onChange((account) => {
    if (account === null) commands.forgetAll();
    else commands.forget(streamName.account(account));
  });

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
