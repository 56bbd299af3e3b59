// What a process remembers of the event log beside its states, and how it forgets all of that when the log is restored under it.
import type { CommandHandler } from '../../application/core/commandHandler.ts';
import { PUBLISHERS } from '../../application/webhooks/publishers.ts';
import { StreamMessages } from '../../application/webhooks/streamMessages.ts';
import { webhookSecrets } from '../secrets/webhookSecrets.ts';
import type { GatewayOptions } from './composition.ts';
import type { Keys } from './keys.ts';

interface Parts {
  readonly commands: CommandHandler;
  readonly keys: Pick<Keys, 'forgetAll'>;
}

export const rememberedOf = (
  { storage: { store, operations }, keyring, log }: Pick<GatewayOptions, 'storage' | 'keyring' | 'log'>,
  { commands, keys }: Parts,
) => {
  const secrets = webhookSecrets(operations, keyring);
  const messages = new StreamMessages(commands, PUBLISHERS);
  store.onRestored((head) => {
    for (const memory of [commands, keys, messages, secrets]) memory.forgetAll();
    log.error({ head }, 'event log restored or taken over: everything remembered of it is forgotten');
  });
  return { secrets, messages };
};
