// Whom a presented key belongs to: the keyring read model, remembered until some keyring changes.
import { LRUCache } from 'lru-cache';
import { type Progress, ReadModelsBehind } from '../ports/readModels/progress.ts';
import type { KeyViews, KnownKey } from '../ports/readModels/views.ts';
import { keyFingerprint } from './openAccount.ts';

const REMEMBERED = 10_000;
/** A key issued a moment ago must work: its event is waited for. */
const CATCH_UP_MS = 1_000;

export class ApiKeys {
  readonly #views: KeyViews;
  readonly #progress: Progress;
  readonly #known = new LRUCache<string, KnownKey>({ max: REMEMBERED });
  #generation = 0;

  constructor(views: KeyViews, progress: Progress) {
    this.#views = views;
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
    const key = (await this.#views.find(fingerprint)) ?? (await this.#afterCatchUp(fingerprint));
    if (key && generation === this.#generation) this.#known.set(fingerprint, key);
    return key;
  }

  async #afterCatchUp(fingerprint: string): Promise<KnownKey | null> {
    if (!(await this.#progress.caughtUp(CATCH_UP_MS, ['keyring'])))
      throw new ReadModelsBehind('whether the key is known can’t be told');
    return this.#views.find(fingerprint);
  }
}
