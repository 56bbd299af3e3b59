// The last use of each key, in PostgreSQL. Uses are collected in memory and written together once a minute.

import type { KeyUseReads, KeyUses } from '../../application/ports/keyUses.ts';
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import { type Sql, TextArray } from '../../application/ports/sql.ts';
import type { Clock } from '../../application/ports/system.ts';
import type { KeyId } from '../../domain/kernel/ids.ts';
import { fromMillis } from '../../domain/kernel/time.ts';

const WRITE_EVERY_MS = 60_000;

/** If several processes see a key, the first one in a minute writes it. The rows are ordered, so that two writers can't deadlock. */
const WRITE = `INSERT INTO operations.api_key_uses AS u (key_id, last_used_at)
  SELECT key_id, at FROM unnest($1::text[], $2::timestamptz[]) AS used(key_id, at) ORDER BY key_id
  ON CONFLICT (key_id) DO UPDATE SET last_used_at = excluded.last_used_at
  WHERE u.last_used_at <= excluded.last_used_at - interval '1 minute'`;

interface KeyUseOptions {
  readonly db: Sql;
  readonly clock: Clock;
  readonly onError: (error: Error) => void;
}

export class PostgresKeyUses implements KeyUses {
  readonly #options: KeyUseOptions;
  #used = new Map<KeyId, number>();
  readonly #writing: Repeating;

  constructor(options: KeyUseOptions) {
    this.#options = options;
    this.#writing = repeating(WRITE_EVERY_MS, () => this.write(), { onError: options.onError });
  }

  note(key: KeyId): void {
    this.#used.set(key, this.#options.clock.now());
  }

  /** Writes the uses noted since the last time. Uses are lost if this fails. */
  async write(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = this.#used;
    this.#used = new Map();
    const instants = [...used.values()].map(fromMillis);
    await this.#options.db.query({
      name: 'write_key_uses',
      text: WRITE,
      values: [new TextArray([...used.keys()]), instants],
    });
  }

  /** Writes the remaining uses and stops. Never rejects. */
  async close(): Promise<void> {
    void this.#writing.now();
    await this.#writing.stop();
  }
}

export const keyUseReads = (db: Sql): KeyUseReads => ({
  lastUsed: async (keys) => {
    const { rows } = await db.query<{ key_id: KeyId; at_ms: number }>(
      `SELECT key_id, (extract(epoch FROM last_used_at) * 1000)::bigint AS at_ms FROM operations.api_key_uses WHERE key_id = ANY($1::text[])`,
      [new TextArray([...keys])],
    );
    return new Map(rows.map(({ key_id: key, at_ms: atMs }) => [key, fromMillis(atMs)]));
  },
});
