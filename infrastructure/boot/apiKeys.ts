// Whom a presented key belongs to: the keyring read model, remembered until some keyring changes.
import { LRUCache } from 'lru-cache';
import { keyFingerprint } from '../../application/accounts/openAccount.ts';
import { type Progress, ReadModelsBehind } from '../../application/ports/readModels.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { findKey, type KnownKey } from '../../projections/keyring/queries.ts';

const REMEMBERED = 10_000;
/** A key issued a moment ago must work: its event is waited for. */
const CATCH_UP_MS = 1_000;

export class ApiKeys {
  readonly #db: Sql;
  readonly #progress: Progress;
  readonly #known = new LRUCache<string, KnownKey>({ max: REMEMBERED });
  #generation = 0;

  constructor(db: Sql, progress: Progress) {
    this.#db = db;
    this.#progress = progress;
  }

  /** Some keyring changed: nothing that was remembered, or is being looked up, can be relied on. */
  forget(): void {
    this.#generation++;
    this.#known.clear();
  }

  async find(cleartext: string): Promise<KnownKey | null> {
    const fingerprint = keyFingerprint(cleartext);
    const remembered = this.#known.get(fingerprint);
    if (remembered) return remembered;
    const generation = this.#generation;
    const key = (await findKey(this.#db, fingerprint)) ?? (await this.#afterCatchUp(fingerprint));
    if (key && generation === this.#generation) this.#known.set(fingerprint, key);
    return key;
  }

  async #afterCatchUp(fingerprint: string): Promise<KnownKey | null> {
    if (!(await this.#progress.caughtUp(CATCH_UP_MS, ['keyring'])))
      throw new ReadModelsBehind('whether the key is known can’t be told');
    return findKey(this.#db, fingerprint);
  }
}
