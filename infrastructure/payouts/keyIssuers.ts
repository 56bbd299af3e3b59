// Finds the user who issued an API key, from the metadata of the keyring's events.
import { type EventLog, UnreadableEvent } from '../../application/ports/eventCodec.ts';
import type { KeyIssuers } from '../../application/ports/keyIssuers.ts';
import { type AccountId, parsePrefixedId, type UserId } from '../../domain/kernel/ids.ts';
import { KEYRING, type KeyringEvent } from '../../domain/keyring/keyring.ts';
import { USER } from '../../domain/user/user.ts';

const USER_ACTOR = 'user:';
const KEY_ACTOR = 'key:';

const fingerprintOf = (event: KeyringEvent): string | null => {
  if (event.type === 'ApiKeyIssued') return event.data.fingerprint;
  return event.type === 'ApiKeyRotated' ? event.data.key.fingerprint : null;
};

/** `actor` is `key:` and the first 16 hex characters of the key's fingerprint. */
export const keyIssuers = ({ store, codec }: EventLog): KeyIssuers => ({
  issuerOf: async (accountId: AccountId, actor: string) => {
    if (!actor.startsWith(KEY_ACTOR)) return null;
    let unreadable: UnreadableEvent | null = null;
    for await (const recorded of store.readStream(KEYRING.stream(accountId))) {
      const [logged] = await codec.decode([recorded]);
      if (logged instanceof UnreadableEvent) unreadable ??= logged;
      if (logged === undefined || logged instanceof UnreadableEvent) continue;
      const fingerprint = fingerprintOf(logged.event as KeyringEvent);
      if (fingerprint === null || actor !== KEY_ACTOR + fingerprint.slice(0, 16)) continue;
      const { actor: by } = JSON.parse(recorded.metadata) as { readonly actor: string };
      return by.startsWith(USER_ACTOR) ? parsePrefixedId<UserId>(by.slice(USER_ACTOR.length), USER.idPrefix) : null;
    }
    return unreadable;
  },
});
