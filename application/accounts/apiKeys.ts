// Whom a presented key belongs to. What was looked up is remembered, and relied on under an access lease alone (ADR 0009).
import { LRUCache } from 'lru-cache';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { findKey, KEYRING } from '../../domain/keyring/keyring.ts';
import type { Accounts } from '../core/accounts.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { AccessLeases } from '../ports/accessLeases.ts';
import type { KeyUses } from '../ports/keyUses.ts';
import { type CaughtUp, ReadModelsBehind } from '../ports/readModels/progress.ts';
import type { KeyViews, KnownKey } from '../ports/readModels/views.ts';
import { keyFingerprint } from './newKey.ts';

const REMEMBERED = 10_000;
/** A key issued a moment ago must work: its event is waited for. */
const CATCH_UP_MS = 1_000;

export interface ApiKeysNeeds {
  readonly leases: AccessLeases;
  readonly views: KeyViews;
  readonly caughtUp: CaughtUp;
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly uses: KeyUses;
}

/** Keys of one account are forgotten together. */
interface Remembered {
  readonly key: KnownKey;
  readonly account: { isForgotten: boolean };
}

export class ApiKeys {
  readonly #needs: ApiKeysNeeds;
  readonly #known = new LRUCache<string, Remembered>({ max: REMEMBERED });
  readonly #accounts = new LRUCache<AccountId, Remembered['account']>({
    max: REMEMBERED,
    dispose: (account) => {
      account.isForgotten = true;
    },
  });
  /** Grows with everything that is forgotten: what is being looked up meanwhile is not remembered. */
  #generation = 0;

  constructor(needs: ApiKeysNeeds) {
    this.#needs = needs;
    needs.leases.onChange((account) => this.forget(account));
  }

  /** Forgets the keys of the account; null: all keys. */
  forget(account: AccountId | null): void {
    this.#generation++;
    if (account === null) this.#accounts.clear();
    else this.#accounts.delete(account);
  }

  /**
   * Returns the key, when it works and its account is not suspended; else null. Throws ReadModelsBehind while it is not known whether the
   * key exists, EventStoreUnavailable, and the database's errors: what can't be looked up is never answered from memory without a lease.
   */
  async find(cleartext: string): Promise<KnownKey | null> {
    const fingerprint = keyFingerprint(cleartext);
    const remembered = this.#needs.leases.isHeld() ? this.#known.get(fingerprint) : undefined;
    const key =
      remembered !== undefined && !remembered.account.isForgotten ? remembered.key : await this.#lookUp(fingerprint);
    if (key !== null) this.#needs.uses.note(key.keyId);
    return key;
  }

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
      throw new ReadModelsBehind('keyring is behind: whether the key exists is not known yet');
    return views.find(fingerprint);
  }

  /** By the streams as they are now: the read model may not have heard yet of what ended the key. */
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
