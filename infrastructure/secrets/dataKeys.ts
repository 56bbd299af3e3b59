// Data keys in PostgreSQL, each sealed with the secrets key (ADR 0017).
import { createSecretKey, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  type DataKey,
  type DataKeys,
  DataKeysUnavailable,
  type FoundKey,
  type NewDataKey,
} from '../../application/ports/dataKeys.ts';
import { type Sql, TextArray } from '../../application/ports/sql.ts';
import type { NotificationListener } from '../postgres/notificationListener.ts';
import type { SecretsKeyring } from './keyring.ts';
import { pooledRandom } from './randomPool.ts';
import { seal, unseal } from './seal.ts';

const KEY_BYTES = 32;
/** Number of remembered keys, about 500 bytes each. */
const REMEMBERED_MAX = 20_000;

/** The channel on which processes learn that keys were destroyed. */
const DESTROYED = 'quita_data_keys_destroyed';

/** Binds a sealed key to its owner. */
export const dataKeyContext = (owner: string): string => `data key ${owner}`;

export const dataKey = (key: KeyObject): DataKey => ({
  seal: (context, text) => seal(key, context, text).toString('base64'),
  open: (context, sealed) => unseal(key, context, Buffer.from(sealed, 'base64')).toString('utf8'),
});

interface Row {
  readonly owner: string;
  /** null: destroyed. */
  readonly key_id: string | null;
  readonly sealed: Buffer | null;
}

const FIND = 'SELECT owner, key_id, sealed FROM privacy.data_keys WHERE owner = ANY($1::text[])';
const INSERT = `INSERT INTO privacy.data_keys (owner, key_id, sealed)
  SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[]) ON CONFLICT DO NOTHING RETURNING owner`;
const DESTROY = `INSERT INTO privacy.data_keys AS k (owner, destroyed_at)
  SELECT owner, now() FROM unnest($1::text[]) v(owner) GROUP BY owner ORDER BY owner
  ON CONFLICT (owner) DO UPDATE SET key_id = NULL, sealed = NULL, destroyed_at = now() WHERE k.destroyed_at IS NULL`;

export class PostgresDataKeys implements DataKeys {
  readonly #db: Sql;
  readonly #keyring: SecretsKeyring | null;
  readonly #isStoredByAppends: boolean;
  readonly #remembered = new LRUCache<string, FoundKey>({ max: REMEMBERED_MAX });
  readonly #listeners = new Set<() => void>();
  readonly #found: Gathered<FoundKey>;
  readonly #created: Gathered<FoundKey>;
  /** Grows whenever keys may have been destroyed. What was read before is read again. */
  #generation = 0;

  /**
   * `keyring`: null if this process doesn't know the secrets key; nothing can be opened or sealed then. `isStoredByAppends`: whether appends
   * store new keys.
   */
  constructor(db: Sql, keyring: SecretsKeyring | null, isStoredByAppends: boolean) {
    this.#db = db;
    this.#keyring = keyring;
    this.#isStoredByAppends = isStoredByAppends;
    this.#found = gathered((owners) => this.#current(() => this.#read(owners)));
    this.#created = gathered((owners) => this.#current(() => this.#create(owners)));
  }

  recall(owner: string): FoundKey | undefined {
    return this.#remembered.get(owner);
  }

  find(owners: readonly string[]): Promise<ReadonlyMap<string, FoundKey>> {
    return this.#found(owners);
  }

  async findOrCreate(owner: string, isNew: boolean): Promise<FoundKey> {
    const found = isNew ? undefined : (await this.#found([owner])).get(owner);
    const key = found ?? (await this.#created([owner])).get(owner);
    if (key === undefined) throw new DataKeysUnavailable('a data key was stored, but could not be read');
    return key;
  }

  createWithAppend(owner: string): NewDataKey | null {
    return this.#isStoredByAppends ? this.#make(owner) : null;
  }

  remember({ owner, key }: NewDataKey): void {
    if (!this.#remembered.has(owner)) this.#remembered.set(owner, key);
  }

  async destroy(owners: readonly string[], tx: Sql): Promise<number> {
    const { rowCount } = await tx.query(DESTROY, [new TextArray(owners)]);
    if (rowCount > 0) await tx.query(`NOTIFY ${DESTROYED}`);
    return rowCount;
  }

  onDestroyed(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Also forgets after each new connection of the listener, because notices may have been missed. */
  async listen(notices: NotificationListener): Promise<void> {
    await notices.on(DESTROYED, () => this.forgetAll());
  }

  forgetAll(): void {
    this.#generation++;
    this.#remembered.clear();
    for (const listener of [...this.#listeners]) listener();
  }

  /** Reads again if keys were destroyed meanwhile, and remembers the result. */
  async #current(read: () => Promise<ReadonlyMap<string, FoundKey>>): Promise<ReadonlyMap<string, FoundKey>> {
    for (;;) {
      const generation = this.#generation;
      const keys = await read().catch(unavailable);
      if (generation !== this.#generation) continue;
      for (const [owner, key] of keys) this.#remembered.set(owner, key);
      return keys;
    }
  }

  async #read(owners: readonly string[]): Promise<ReadonlyMap<string, FoundKey>> {
    const { rows } = await this.#db.query<Row>({
      name: 'find_data_keys',
      text: FIND,
      values: [new TextArray(owners)],
    });
    return new Map(rows.map((row) => [row.owner, this.#opened(row)]));
  }

  async #create(owners: readonly string[]): Promise<ReadonlyMap<string, FoundKey>> {
    const made = [...owners].sort().map((owner) => this.#make(owner)); // in one order, because two inserts may meet
    const { rows } = await this.#db.query<{ owner: string }>(INSERT, [
      made.map(({ owner }) => owner),
      made.map(({ keyId }) => keyId),
      made.map(({ sealed }) => sealed),
    ]);
    const stored = new Set(rows.map(({ owner }) => owner));
    const others = owners.filter((owner) => !stored.has(owner)); // another process was first
    return new Map([
      ...made.flatMap(({ owner, key }) => (stored.has(owner) ? ([[owner, key]] as const) : [])),
      ...(others.length === 0 ? [] : await this.#read(others)),
    ]);
  }

  #make(owner: string): NewDataKey {
    const bytes = pooledRandom(KEY_BYTES);
    const { keyId, sealed } = this.#keys.seal('data keys', dataKeyContext(owner), bytes);
    return { owner, keyId, sealed, key: dataKey(createSecretKey(bytes)) };
  }

  #opened({ owner, key_id: keyId, sealed }: Row): FoundKey {
    if (keyId === null || sealed === null) return 'destroyed';
    const bytes = this.#keys.unsealBytes('data keys', dataKeyContext(owner), { keyId, sealed });
    return dataKey(createSecretKey(bytes));
  }

  get #keys(): SecretsKeyring {
    if (this.#keyring === null)
      throw new DataKeysUnavailable(
        'personal data in events is sealed: set SECRETS_KEY to the key of the running programs',
      );
    return this.#keyring;
  }
}

const unavailable = (error: Error): never => {
  if (error instanceof DataKeysUnavailable) throw error;
  throw new DataKeysUnavailable(`the data keys can't be read: ${error.message}`, { cause: error });
};

type Gathered<Value> = (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>;

/** Returns a function that reads the keys of all its calls in one turn of the event loop with one call of `read`. */
const gathered = <Value>(read: Gathered<Value>): Gathered<Value> => {
  let turn: { readonly keys: Set<string>; readonly result: ReturnType<Gathered<Value>> } | null = null;
  return (keys) => {
    turn ??= begin();
    for (const key of keys) turn.keys.add(key);
    return turn.result;
  };
  function begin() {
    const keys = new Set<string>();
    const result = new Promise<ReadonlyMap<string, Value>>((resolve) => {
      setImmediate(() => {
        turn = null;
        resolve(read([...keys]));
      });
    });
    return { keys, result };
  }
};
