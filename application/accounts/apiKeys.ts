// Finds the account of an API key by its fingerprint. Results are cached, and the cache is used only under an access lease (ADR 0009).
import { hash } from 'node:crypto';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { findKey, KEYRING } from '../../domain/keyring/keyring.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { AccessLeases } from '../ports/accessLeases.ts';
import { boundedCache } from '../ports/boundedCache.ts';
import type { KeyUses } from '../ports/keyUses.ts';
import { type CaughtUp, ReadModelsBehind } from '../ports/readModels/progress.ts';
import type { KeyViews, KnownKey } from '../ports/readModels/views.ts';

/** Returns the SHA-256 of the cleartext, 64 hex characters. */
export const keyFingerprint = (cleartext: string): string => hash('sha256', cleartext, 'hex');

/** Returns the part of a fingerprint that is shown: its first 16 hex characters. */
export const shownFingerprint = (fingerprint: string): string => fingerprint.slice(0, 16);

/** Cached keys, and accounts with cached keys; at most 20 MB together. */
const REMEMBERED = 40_000;
/** How long a lookup waits for the read model, so that a new key works at once. */
const CATCH_UP_MS = 1_000;

export interface ApiKeysNeeds extends UseCaseNeeds {
  readonly leases: AccessLeases;
  readonly views: KeyViews;
  readonly caughtUp: CaughtUp;
  readonly uses: KeyUses;
}

/** A cached key. All keys of an account are invalidated together. */
interface Remembered {
  readonly key: KnownKey;
  readonly account: { isForgotten: boolean };
}

export class ApiKeys {
  readonly #needs: ApiKeysNeeds;
  readonly #known = boundedCache<string, Remembered>(REMEMBERED);
  readonly #accounts = boundedCache<AccountId, Remembered['account']>(REMEMBERED, {
    dispose: (account) => {
      account.isForgotten = true;
    },
  });
  /** Incremented by each invalidation, so that a lookup that was running meanwhile is not cached. */
  #generation = 0;

  constructor(needs: ApiKeysNeeds) {
    this.#needs = needs;
    needs.leases.onChange((account) => this.forget(account));
  }

  /** Drops the cached keys of the account, or all keys if it is null. */
  forget(account: AccountId | null): void {
    this.#generation++;
    if (account === null) this.#accounts.clear();
    else this.#accounts.delete(account);
  }

  /**
   * Returns the key, or null if it is unknown or revoked, or its account is suspended. Throws ReadModelsBehind while the read model may
   * still lack the key, EventStoreUnavailable, and database errors. Without a lease the cache is never used, even if a lookup fails.
   */
  readonly find = async (cleartext: string): Promise<KnownKey | null> => {
    const fingerprint = keyFingerprint(cleartext);
    const remembered = this.#needs.leases.isHeld() ? this.#known.get(fingerprint) : undefined;
    const key =
      remembered !== undefined && !remembered.account.isForgotten ? remembered.key : await this.#lookUp(fingerprint);
    if (key !== null) this.#needs.uses.note(key.keyId);
    return key;
  };

  async #lookUp(fingerprint: string): Promise<KnownKey | null> {
    const generation = this.#generation;
    const { views } = this.#needs;
    const key = (await views.find(fingerprint)) ?? (await this.#findCaughtUp(fingerprint));
    if (key === null || !(await this.#works(key))) return null;
    if (generation === this.#generation) this.#remember(key);
    return key;
  }

  async #findCaughtUp(fingerprint: string): Promise<KnownKey | null> {
    const { caughtUp, views } = this.#needs;
    if (!(await caughtUp('keyring', CATCH_UP_MS)).isCaughtUp)
      throw new ReadModelsBehind('the read model keyring is behind the log: the key may exist');
    return views.find(fingerprint);
  }

  /** Checks the streams, because the read model may not show yet that the key or account has ended. */
  async #works({ accountId, keyId }: KnownKey): Promise<boolean> {
    const { commands, accounts } = this.#needs;
    const [{ state: keyring }, account] = await Promise.all([
      commands.load(KEYRING, KEYRING.stream(accountId)),
      accounts.refresh(accountId),
    ]);
    return account.suspendedAt === null && !isRejection(findKey(keyring, keyId));
  }

  #remember(key: KnownKey): void {
    let account = this.#accounts.get(key.accountId);
    if (account === undefined) {
      account = { isForgotten: false };
      this.#accounts.set(key.accountId, account);
    }
    this.#known.set(key.fingerprint, { key, account });
  }
}
