// Data keys in PostgreSQL (rule S6a). A key is the HMAC of a random salt of its owner under a secret of the deployment, which the secrets
// key seals. Neither the secret nor the salt alone gives the key.
import { createSecretKey, hash, type KeyObject } from 'node:crypto';
import { boundedCache } from '../../application/ports/boundedCache.ts';
import {
  type DataKey,
  type DataKeys,
  DataKeysUnavailable,
  type FoundKey,
  type NewDataKey,
} from '../../application/ports/dataKeys.ts';
import { HmacKey } from '../../application/ports/hmac.ts';
import { type Sql, TextArray } from '../../application/ports/sql.ts';
import { type Gathered, gatheredReads } from '../postgres/gathered.ts';
import type { NotificationListener } from '../postgres/notificationListener.ts';
import type { SecretsKeyring } from './keyring.ts';
import { pooledRandom } from './randomPool.ts';
import { seal, unseal } from './seal.ts';

const SECRET_BYTES = 32;
const SALT_BYTES = 32;
const KEY_ID_BYTES = 4;
/** Number of remembered keys, about 300 bytes each. */
const REMEMBERED_MAX = 20_000;

/** The channel for notices of destroyed keys. */
const DESTROYED = 'quita_data_keys_destroyed';

/** Binds a sealed secret to its row. */
export const dataSecretContext = (id: number): string => `data secret ${id}`;

/**
 * A key of an owner. It is derived anew for each use, in 3 µs: thousands of remembered keys would cost the garbage collector 10 µs
 * per charge.
 */
export class DerivedKey implements DataKey {
  readonly #secret: HmacKey;
  readonly #salt: string;
  readonly #owner: string;

  /** `salt`: bytes as `latin1`. */
  constructor(secret: HmacKey, salt: string, owner: string) {
    this.#secret = secret;
    this.#salt = salt;
    this.#owner = owner;
  }

  seal(context: string, text: string): string {
    const { key, id } = this.#derived();
    return seal(key, context, text, id).toString('base64');
  }

  open(context: string, sealed: string): string | null {
    const { key, id } = this.#derived();
    const bytes = Buffer.from(sealed, 'base64');
    const rest = bytes.subarray(KEY_ID_BYTES);
    if (bytes.subarray(0, KEY_ID_BYTES).equals(id)) return unseal(key, context, rest).toString('utf8');
    try {
      unseal(key, context, rest);
    } catch {
      return null;
    }
    throw new Error('the id of the key was changed');
  }

  /** `id`: the prefix of texts that the key sealed. */
  #derived(): { readonly key: KeyObject; readonly id: Buffer } {
    const key = this.#secret.bytes(this.#salt + this.#owner, 'latin1');
    return {
      key: createSecretKey(key),
      id: Buffer.from(hash('sha256', key, 'binary').slice(0, KEY_ID_BYTES), 'latin1'),
    };
  }
}

interface Secret {
  readonly id: number;
  readonly key: HmacKey;
}

interface Row {
  readonly owner: string;
  /** null: destroyed. */
  readonly secret_id: number | null;
  readonly salt: Buffer | null;
}

const FIND = 'SELECT owner, secret_id, salt FROM privacy.data_keys WHERE owner = ANY($1::text[])';
const INSERT = `INSERT INTO privacy.data_keys (owner, secret_id, salt)
  SELECT * FROM unnest($1::text[], $2::int[], $3::bytea[]) ON CONFLICT DO NOTHING RETURNING owner`;
/** PostgreSQL merges equal notices of one transaction. */
const DESTROY = `WITH destroyed AS (
    INSERT INTO privacy.data_keys AS k (owner, destroyed_at)
    SELECT owner, now() FROM unnest($1::text[]) v(owner) GROUP BY owner ORDER BY owner
    ON CONFLICT (owner) DO UPDATE SET secret_id = NULL, salt = NULL, destroyed_at = now() WHERE k.destroyed_at IS NULL
    RETURNING owner)
  SELECT pg_notify('${DESTROYED}', '') FROM destroyed`;

export class PostgresDataKeys implements DataKeys {
  /** False while notices of destroyed keys would be missed. Keys are then read for each use. */
  mayRemember = true;
  readonly #db: Sql;
  readonly #secrets: DataSecrets;
  readonly #isStoredByAppends: boolean;
  readonly #remembered = boundedCache<string, FoundKey>(REMEMBERED_MAX);
  readonly #listeners = new Set<() => void>();
  readonly #found: Gathered<FoundKey>;
  readonly #created: Gathered<FoundKey>;
  /** Grows whenever keys may have been destroyed. Keys read before are read again. */
  #generation = 0;

  /**
   * `keyring`: null if this process doesn't know the secrets key; nothing can be opened or sealed then. `isStoredByAppends`: whether
   * appends store new keys.
   */
  constructor(db: Sql, keyring: SecretsKeyring | null, isStoredByAppends: boolean) {
    this.#db = db;
    this.#secrets = new DataSecrets(db, keyring);
    this.#isStoredByAppends = isStoredByAppends;
    this.#found = gatheredReads((owners) => this.#current(() => this.#read(owners)));
    this.#created = gatheredReads((owners) => this.#current(() => this.#create(owners)));
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
    const { newest } = this.#secrets;
    return this.#isStoredByAppends && newest !== null ? newKey(newest, owner) : null;
  }

  remember({ owner, key }: NewDataKey): void {
    if (this.mayRemember && !this.#remembered.has(owner)) this.#remembered.set(owner, key);
  }

  async destroy(owners: readonly string[]): Promise<number> {
    const { rowCount } = await this.#db.query(DESTROY, [new TextArray(owners)]).catch(unavailable);
    if (rowCount > 0) this.forgetAll(); // the notice comes later
    return rowCount;
  }

  onDestroyed(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Also forgets when the listener loses its connection and when it has a new one: notices are missed in between. */
  async listen(notices: Pick<NotificationListener, 'on' | 'onLost'>): Promise<void> {
    const forget = (mayRemember: boolean): void => {
      this.mayRemember = mayRemember;
      this.forgetAll();
    };
    notices.onLost(() => forget(false));
    await notices.on(DESTROYED, () => forget(true));
  }

  forgetAll(): void {
    this.#generation++;
    this.#remembered.clear();
    this.#secrets.forget(); // the database may have been restored
    for (const listener of [...this.#listeners]) listener();
  }

  /** Reads again if keys were destroyed meanwhile, and remembers the result. */
  async #current(read: () => Promise<ReadonlyMap<string, FoundKey>>): Promise<ReadonlyMap<string, FoundKey>> {
    for (;;) {
      const generation = this.#generation;
      const keys = await read().catch(unavailable);
      if (generation !== this.#generation) continue;
      if (this.mayRemember) for (const [owner, key] of keys) this.#remembered.set(owner, key);
      return keys;
    }
  }

  async #read(owners: readonly string[]): Promise<ReadonlyMap<string, FoundKey>> {
    const values = [new TextArray(owners)];
    const { rows } = await this.#db.query<Row>({ name: 'find_data_keys', text: FIND, values });
    const secrets = rows.length === 0 ? null : await this.#secrets.all();
    return new Map(
      rows.map(({ owner, secret_id: id, salt }): [string, FoundKey] => {
        if (id === null || salt === null) return [owner, 'destroyed'];
        const secret = secrets?.get(id);
        if (secret === undefined) throw new DataKeysUnavailable(`the data secret ${id} is missing`);
        return [owner, new DerivedKey(secret, salt.toString('latin1'), owner)];
      }),
    );
  }

  async #create(owners: readonly string[]): Promise<ReadonlyMap<string, FoundKey>> {
    const secret = await this.#secrets.findOrCreate();
    const made = [...owners].sort().map((owner) => newKey(secret, owner)); // in one order, because two inserts may meet
    const { rows } = await this.#db.query<{ owner: string }>(INSERT, [
      made.map(({ owner }) => owner),
      made.map(({ secretId }) => secretId),
      made.map(({ salt }) => Buffer.from(salt, 'latin1')),
    ]);
    const stored = new Set(rows.map(({ owner }) => owner));
    const others = owners.filter((owner) => !stored.has(owner)); // another process was first
    return new Map([
      ...made.flatMap(({ owner, key }) => (stored.has(owner) ? ([[owner, key]] as const) : [])),
      ...(others.length === 0 ? [] : await this.#read(others)),
    ]);
  }
}

const newKey = ({ id, key }: Secret, owner: string): NewDataKey => {
  const salt = pooledRandom(SALT_BYTES).toString('latin1');
  return { owner, secretId: id, salt, key: new DerivedKey(key, salt, owner) };
};

/** The secrets of the deployment. The first process that needs one creates it. */
class DataSecrets {
  readonly #db: Sql;
  readonly #keyring: SecretsKeyring | null;
  #known: ReadonlyMap<number, HmacKey> = new Map();
  /** The one for new keys, or null if this process has not read any yet. */
  newest: Secret | null = null;

  constructor(db: Sql, keyring: SecretsKeyring | null) {
    this.#db = db;
    this.#keyring = keyring;
  }

  async all(): Promise<ReadonlyMap<number, HmacKey>> {
    return this.#known.size > 0 ? this.#known : this.#read();
  }

  async findOrCreate(): Promise<Secret> {
    if (this.newest === null) await this.#read();
    if (this.newest === null) {
      const { keyId, sealed } = this.#opens.seal('data keys', dataSecretContext(1), pooledRandom(SECRET_BYTES));
      await this.#db.query(
        `INSERT INTO privacy.data_secrets (id, key_id, sealed) SELECT 1, $1, $2
         WHERE NOT EXISTS (SELECT FROM privacy.data_keys WHERE salt IS NOT NULL) ON CONFLICT DO NOTHING`,
        [keyId, sealed],
      );
      await this.#read(); // another process may have been first
    }
    // With another secret, all personal data would read as erased.
    if (this.newest === null) throw new DataKeysUnavailable('the secret of the data keys is lost: restore it');
    return this.newest;
  }

  forget(): void {
    this.#known = new Map();
    this.newest = null;
  }

  async #read(): Promise<ReadonlyMap<number, HmacKey>> {
    const { rows } = await this.#db.query<{ id: number; key_id: string; sealed: Buffer }>(
      'SELECT id, key_id, sealed FROM privacy.data_secrets ORDER BY id',
    );
    this.#known = new Map(
      rows.map(({ id, key_id: keyId, sealed }) => {
        const bytes = this.#opens.unsealBytes('data keys', dataSecretContext(id), { keyId, sealed });
        return [id, new HmacKey(bytes)];
      }),
    );
    for (const [id, key] of this.#known) this.newest = { id, key };
    return this.#known;
  }

  get #opens(): SecretsKeyring {
    if (this.#keyring !== null) return this.#keyring;
    throw new DataKeysUnavailable(
      'personal data in events is sealed: set SECRETS_KEY to the key of the running programs',
    );
  }
}

const unavailable = (error: Error): never => {
  if (error instanceof DataKeysUnavailable) throw error;
  throw new DataKeysUnavailable(`the data keys can't be read: ${error.message}`, { cause: error });
};
