// Two event stores, the stored tree of the audit log, and sealers that work on them as processes do.
import { expect } from 'chai';
import { readCheckpoint } from '../../../application/audit/checkpoint.ts';
import { isEntry, leafOf } from '../../../application/audit/entry.ts';
import { rootOf } from '../../../application/audit/merkleTree.ts';
import { Sealer, type SealerNeeds } from '../../../application/audit/sealer.ts';
import { noteKeyOf, readNote, signersOf } from '../../../application/audit/signedNote.ts';
import type { AuditTree, SignedCheckpoint } from '../../../application/ports/auditTree.ts';
import type { EventStore, Position } from '../../../application/ports/eventStore.ts';
import type { SqlPool } from '../../../application/ports/sql.ts';
import { fromMillis } from '../../../domain/kernel/time.ts';
import { auditAnchors } from '../../../infrastructure/audit/auditAnchors.ts';
import { auditKeys } from '../../../infrastructure/audit/auditKeys.ts';
import { auditTree } from '../../../infrastructure/audit/auditTree.ts';
import type { MigratableLog } from '../../../infrastructure/eventStore/logState.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { SecretsKeyring } from '../../../infrastructure/secrets/keyring.ts';
import { systemStopwatch } from '../../../infrastructure/system/system.ts';
import { TEST_SECRETS_KEY } from '../../support/dataKeys.ts';
import { loseFacts } from '../../support/lostFacts.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { type Direction, MovingWorld, sourceAndTarget } from '../logMigration/support.ts';

export const ORIGIN = 'pay.example.com/audit/log';
export const KEYRING = new SecretsKeyring([Buffer.alloc(32, 7)]);

/** Returns the leaves of a log in commit order. */
export const leavesOf = async (store: EventStore): Promise<readonly Buffer[]> => {
  const leaves: Buffer[] = [];
  for await (const batch of store.subscribe({ after: null, categories: null, signal: new AbortController().signal })) {
    if (batch.kind === 'events') leaves.push(...batch.events.filter(isEntry).map(leafOf));
    if (batch.kind === 'caughtUp') break;
  }
  return leaves;
};

const signedCheckpoints = async (tree: AuditTree): Promise<readonly SignedCheckpoint[]> => {
  const all: SignedCheckpoint[] = [];
  for await (const one of tree.checkpoints(fromMillis(0), fromMillis(Date.now() + 60_000))) all.push(one);
  return all;
};

/** Checks that every checkpoint is signed and has the root of the log's first leaves. Fails if there is no checkpoint. */
export const expectSound = async (store: EventStore, db: SqlPool, origin: string): Promise<void> => {
  const leaves = await leavesOf(store);
  const keys = await auditKeys(db, async () => KEYRING).list();
  const noteKeys = keys.map(({ publicKey }) => noteKeyOf(origin, publicKey));
  const all = await signedCheckpoints(auditTree(db));
  for (const { size, note } of all) {
    const read = readNote(note)!;
    expect(signersOf(read, noteKeys), `checkpoint ${size}`).to.have.length(1);
    const root = rootOf(Buffer.concat(leaves.slice(0, size)));
    expect(readCheckpoint(read.text)).to.deep.equal({ origin, size, root });
  }
  expect(all).not.to.have.length(0);
};

/** A store that reports when its subscriptions have processed a position. */
export class WatchedStore {
  readonly storeId: string;
  readonly store: EventStore;
  #seen: Position | null = null;
  #waiting: { readonly at: Position; readonly resolve: () => void }[] = [];

  constructor(store: EventStore) {
    this.store = store;
    this.storeId = store.storeId;
  }

  async *subscribe(options: Parameters<EventStore['subscribe']>[0]): ReturnType<EventStore['subscribe']> {
    this.#seen = null;
    for await (const batch of this.store.subscribe(options)) {
      yield batch;
      if (batch.position !== null) this.#saw(batch.position); // the consumer has asked for the next batch
    }
  }

  /** Resolves when a subscription has processed the log's head. */
  async reachedHead(): Promise<void> {
    const at = await this.store.head();
    if (at === null || (this.#seen !== null && this.#seen >= at)) return;
    await new Promise<void>((resolve) => this.#waiting.push({ at, resolve }));
  }

  #saw(position: Position): void {
    this.#seen = position;
    for (const { resolve } of this.#waiting.filter(({ at }) => at <= position)) resolve();
    this.#waiting = this.#waiting.filter(({ at }) => at > position);
  }
}

/** The milliseconds by which the sealers' clock is ahead. */
interface Ahead {
  aheadMs: number;
}

/** A sealer with its own subscription, like that of one process. */
export class TestSealer {
  readonly sealer: Sealer;
  readonly #store: WatchedStore;
  readonly #clock: Ahead;

  constructor(needs: Omit<SealerNeeds, 'store' | 'stopwatch'>, store: EventStore, clock: Ahead = { aheadMs: 0 }) {
    this.#clock = clock;
    this.#store = new WatchedStore(store);
    const stopwatch = { ...systemStopwatch, elapsedMs: () => systemStopwatch.elapsedMs() + clock.aheadMs };
    this.sealer = new Sealer({ ...needs, store: this.#store, stopwatch });
  }

  /** Hashes all events. */
  async hash(): Promise<void> {
    await this.sealer.seal();
    await this.#store.reachedHead();
  }

  /** Stores and signs what was hashed. */
  async sign(): Promise<void> {
    // The pause between two checkpoints ends, and this process stays the leader.
    for (let n = 0; n < 2; n++) {
      this.#clock.aheadMs += 4_000;
      await this.sealer.seal();
    }
  }

  async sealAll(): Promise<void> {
    await this.hash();
    await this.sign();
  }
}

/** Seals all events of a gateway, as its leading process does. */
export const sealAllOf = async (
  { storage: { store, operations }, baseUrl }: TestGateway,
  secretsKey = TEST_SECRETS_KEY,
): Promise<void> => {
  const sealer = new TestSealer(
    {
      auditTree: auditTree(operations),
      auditKeys: auditKeys(operations, async () => new SecretsKeyring([secretsKey])),
      auditAlerts: {
        stopped: (reason) => {
          throw new Error(reason);
        },
        resumed: () => undefined,
      },
      auditAnchors: auditAnchors(operations),
      auditSettings: { anchors: [] },
      auditOrigin: `${baseUrl.replace('http://', '')}/audit/log`,
    },
    store,
  );
  await sealer.sealAll();
  sealer.sealer.forget();
};

export class AuditWorld {
  readonly moving: MovingWorld;
  readonly pool: PgPool;
  readonly tree: AuditTree;
  /** The alerts that sealers raised. */
  readonly alerts: string[] = [];
  /** The milliseconds by which the sealers' clock is ahead. */
  aheadMs = 0;

  private constructor(moving: MovingWorld) {
    this.moving = moving;
    const { connectionString } = moving.database;
    this.pool = new PgPool(connectionConfig(connectionString, 'quita test'), 4, () => undefined);
    this.tree = auditTree(this.pool);
  }

  static async open(): Promise<AuditWorld> {
    return new AuditWorld(await MovingWorld.open());
  }

  async reset(): Promise<void> {
    await this.moving.reset();
    await this.pool.query(
      'TRUNCATE audit.tree, audit.tiles, audit.checkpoints, audit.cosignatures, audit.keys, audit.anchors',
    );
    this.alerts.length = 0;
    this.aheadMs = 0;
  }

  async close(): Promise<void> {
    await this.pool.close();
    await this.moving.close();
  }

  log(direction: Direction): Promise<MigratableLog> {
    return this.moving.with(async (logs) => sourceAndTarget(direction, logs)[0]);
  }

  get needs(): Omit<SealerNeeds, 'store' | 'stopwatch'> {
    return {
      auditTree: this.tree,
      auditKeys: auditKeys(this.pool, async () => KEYRING),
      auditAlerts: {
        stopped: (reason) => this.alerts.push(reason),
        resumed: () => this.alerts.push('resumed'),
      },
      auditAnchors: auditAnchors(this.pool),
      auditSettings: { anchors: [] },
      auditOrigin: ORIGIN,
    };
  }

  /** Returns a sealer that stands for another process. */
  sealer(store: EventStore, more: Partial<SealerNeeds> = {}): TestSealer {
    return new TestSealer({ ...this.needs, ...more }, store, this);
  }

  /** Truncates the log to its first events and returns it reopened. */
  async shortened(direction: Direction, events: number): Promise<EventStore> {
    const { store } = await this.log(direction);
    const positions: Position[] = [];
    for await (const batch of store.subscribe({
      after: null,
      categories: null,
      signal: new AbortController().signal,
    })) {
      if (batch.kind === 'events') positions.push(...batch.events.map(({ position }) => position));
      if (batch.kind === 'caughtUp') break;
    }
    const last = positions[events - 1] as Position;
    await this.moving.leave();
    if (direction === 'from') await this.moving.server.restore(last);
    else await loseFacts(this.pool, 'DELETE FROM event_store.events WHERE position > $1', [Number(last)]);
    return (await this.log(direction)).store;
  }

  signedCheckpoints(): Promise<readonly SignedCheckpoint[]> {
    return signedCheckpoints(this.tree);
  }

  async signedSizes(): Promise<readonly number[]> {
    return (await this.signedCheckpoints()).map(({ size }) => size);
  }

  async keyIdsOfSignatures(): Promise<readonly string[]> {
    return (await this.signedCheckpoints()).map(({ note }) => readNote(note)!.signatures[0]!.id.toString('hex'));
  }

  /** Returns the size of all tables of the audit log, with their indexes. */
  async bytes(): Promise<number> {
    const { rows } = await this.pool.query<{ bytes: number }>(
      `SELECT sum(pg_total_relation_size(c.oid))::bigint AS bytes FROM pg_class c
       WHERE c.relnamespace = 'audit'::regnamespace AND c.relkind = 'r'`,
    );
    return rows[0]!.bytes;
  }

  async size(): Promise<number> {
    return (await this.tree.find())?.size ?? 0;
  }

  /** Checks that every checkpoint is signed and has the root of the log's first leaves. */
  expectSound(store: EventStore): Promise<void> {
    return expectSound(store, this.pool, ORIGIN);
  }
}
