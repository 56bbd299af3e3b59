// Seals the event log: appends a leaf for each event to the tree, in commit order, and signs checkpoints of it (ADR 0015).
import type { AuditAnchors, AuditSettings } from '../ports/auditAccess.ts';
import type { AuditKeys } from '../ports/auditKeys.ts';
import type { AuditTree, StoredTile, StoredTree } from '../ports/auditTree.ts';
import { type EventStore, type Position, type RecordedEvent, UnknownPosition } from '../ports/eventStore.ts';
import type { Stopwatch } from '../ports/system.ts';
import { assertAnchored, assertSigned } from './anchors.ts';
import { checkpointText } from './checkpoint.ts';
import { isEntry, leafOf } from './entry.ts';
import { EMPTY_ROOT } from './merkleTree.ts';
import { signed, writeNote } from './signedNote.ts';
import { EMPTY_EDGE, edgeRoot, extended, TILE_WIDTH, type TreeEdge } from './tiles.ts';
import { edgeAt, entriesOfTile, LogDiffers } from './treeReader.ts';

export interface AuditAlerts {
  /** Sealing stopped, because the event log no longer matches the sealed entries. */
  stopped(reason: string): void;
  /** The event log matches the sealed entries again. */
  resumed(): void;
}

export interface SealerNeeds {
  readonly store: Pick<EventStore, 'subscribe' | 'storeId'>;
  readonly auditTree: AuditTree;
  readonly auditKeys: Pick<AuditKeys, 'signer' | 'list'>;
  readonly auditAnchors: Pick<AuditAnchors, 'endOf'>;
  readonly auditSettings: Pick<AuditSettings, 'anchors'>;
  readonly auditAlerts: AuditAlerts;
  /** The origin of a new tree: the URL of the log without its scheme. */
  readonly auditOrigin: string;
  readonly stopwatch: Stopwatch;
}

/** Events per batch: a few milliseconds of hashing, so that requests don't wait. */
const BATCH_EVENTS = 100;
/** Leaves that wait in memory for the next transaction. */
const PENDING_MAX = 16 * TILE_WIDTH;
/** A new checkpoint is signed at most this often. */
const SIGN_EVERY_MS = 5_000;
/** Without a call of `seal` for this long, another process leads. */
const LEADS_MS = 5_000;
/** How often a stopped sealer checks the log again. */
const CHECK_EVERY_MS = 60_000;

/** The tree as this process extends it, ahead of the stored one. */
class GrowingTree {
  stored: Pick<StoredTree, 'size' | 'root' | 'position'>;
  readonly origin: string;
  #edge: TreeEdge;
  /** Position of the last leaf. */
  #position: Position | null;
  /** Tiles that are not stored yet. */
  #tiles: StoredTile[] = [];

  constructor(stored: StoredTree, edge: TreeEdge) {
    this.stored = stored;
    this.origin = stored.origin;
    this.#edge = edge;
    this.#position = stored.position;
  }

  /** The number of leaves that are not stored yet. */
  get pending(): number {
    return this.#edge.size - this.stored.size;
  }

  add(events: readonly RecordedEvent[]): void {
    const entries = events.filter(isEntry);
    if (entries.length === 0) return;
    const { size } = this.#edge;
    const { edge, full } = extended(this.#edge, Buffer.concat(entries.map(leafOf)));
    const lastOf = (index: number): RecordedEvent => entries[(index + 1) * TILE_WIDTH - 1 - size] as RecordedEvent;
    for (const tile of full)
      this.#tiles.push({ ...tile, position: tile.level === 0 ? lastOf(tile.index).position : null });
    this.#edge = edge;
    this.#position = (entries.at(-1) as RecordedEvent).position;
  }

  /** Stores the new leaves. Returns false if another process was faster; then this tree is obsolete. */
  async store(tree: Pick<AuditTree, 'grow'>): Promise<boolean> {
    if (this.pending === 0) return true;
    const tiles = this.#tiles;
    this.#tiles = [];
    const to = { size: this.#edge.size, root: edgeRoot(this.#edge), position: this.#position as Position };
    if (!(await tree.grow(this.stored, to, tiles))) return false;
    this.stored = to;
    return true;
  }
}

/** Loads the tree. Checks it against checkpoints, and its last tile against the log. Throws LogDiffers, UnknownPosition. */
const openTree = async (needs: SealerNeeds): Promise<GrowingTree> => {
  const { auditTree, auditOrigin: origin, store } = needs;
  const empty = { origin, storeId: store.storeId, root: EMPTY_ROOT };
  const stored = (await auditTree.find()) ?? (await auditTree.begin(empty));
  if (stored.storeId !== store.storeId)
    throw new LogDiffers(`event store ${stored.storeId} was sealed, but this one is ${store.storeId}`);
  const edge = stored.size === 0 ? EMPTY_EDGE : await checkedEdge(needs, stored);
  await assertSigned(needs, { ...stored, edge });
  await assertAnchored(needs, { ...stored, edge });
  return new GrowingTree(stored, edge);
};

/** Returns the edge of the stored tree, which must have an entry. Throws LogDiffers if its last tile is not as in the log. */
const checkedEdge = async (needs: SealerNeeds, { size, root }: StoredTree): Promise<TreeEdge> => {
  const index = Math.floor((size - 1) / TILE_WIDTH);
  const from = index * TILE_WIDTH;
  const entries = await entriesOfTile(needs, { index, width: size - from });
  const { edge } = extended(await edgeAt(needs, from), Buffer.concat(entries.map(leafOf)));
  if (!edgeRoot(edge).equals(root))
    throw new LogDiffers(`entries ${from} to ${size - 1} of the event log are not those that were sealed`);
  return edge;
};

export class Sealer {
  readonly #needs: SealerNeeds;
  #tree: GrowingTree | null = null;
  /** Ends the subscription of the tree. */
  #following = new AbortController();
  #failure: unknown = null;
  /** The latest of the tree's transactions and checks. Only one runs at a time. */
  #turn: Promise<unknown> = Promise.resolve();
  #calledAtMs = Number.NEGATIVE_INFINITY;
  #signed: { readonly size: number; readonly atMs: number } = { size: 0, atMs: Number.NEGATIVE_INFINITY };
  #checkAtMs = Number.NEGATIVE_INFINITY;

  constructor(needs: SealerNeeds) {
    this.#needs = needs;
  }

  /**
   * Stores the leaves hashed since the last call, and signs a checkpoint if one is due. The first call starts following the log, which ends
   * without further calls. If the log differs from the sealed entries, sealing stops until the log matches again.
   */
  async seal(): Promise<void> {
    const nowMs = this.#needs.stopwatch.elapsedMs();
    this.#calledAtMs = nowMs;
    if (nowMs < this.#checkAtMs) return;
    try {
      if (this.#failure !== null) throw this.#failure;
      if (this.#tree === null) await this.#begin();
      await this.#inTurn(() => this.#store());
      await this.#inTurn(() => this.#sign());
    } catch (error) {
      this.forget();
      if (!(error instanceof LogDiffers || error instanceof UnknownPosition)) throw error;
      this.#checkAtMs = nowMs + CHECK_EVERY_MS;
      const reason = error.message;
      if (await this.#needs.auditTree.setStopped(reason)) this.#needs.auditAlerts.stopped(reason);
    }
  }

  /** Drops the tree in memory, because the log or the leadership may have changed. The next call checks the log again. */
  forget(): void {
    this.#following.abort();
    this.#tree = null;
    this.#failure = null;
    this.#checkAtMs = Number.NEGATIVE_INFINITY;
  }

  async #begin(): Promise<void> {
    const { auditTree, auditAlerts } = this.#needs;
    const tree = await openTree(this.#needs);
    this.#calledAtMs = this.#needs.stopwatch.elapsedMs(); // after a restore, that may have taken a while
    if (await auditTree.setStopped(null)) auditAlerts.resumed();
    const latest = await auditTree.latest();
    this.#signed = { size: latest?.size ?? 0, atMs: Number.NEGATIVE_INFINITY };
    this.#following = new AbortController();
    this.#tree = tree;
    this.#follow(tree, this.#following.signal).catch((error: unknown) => {
      if (this.#tree === tree) this.#failure = error;
    });
  }

  /** Hashes events as they arrive. Returns when the tree is dropped, or when another process leads. */
  async #follow(tree: GrowingTree, signal: AbortSignal): Promise<void> {
    const { store, stopwatch } = this.#needs;
    const after = tree.stored.position;
    for await (const batch of store.subscribe({ after, categories: null, batchSize: BATCH_EVENTS, signal })) {
      if (stopwatch.elapsedMs() - this.#calledAtMs > LEADS_MS) break;
      if (batch.kind !== 'events') continue;
      tree.add(batch.events);
      if (tree.pending >= PENDING_MAX) await this.#inTurn(() => this.#store());
      await stopwatch.pause(0); // lets requests run between two batches
    }
    if (this.#tree === tree) this.forget();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #store(): Promise<void> {
    const tree = this.#tree;
    if (tree === null || (await tree.store(this.#needs.auditTree))) return;
    if (this.#tree === tree) this.forget();
  }

  async #sign(): Promise<void> {
    const { auditKeys, auditTree, stopwatch } = this.#needs;
    if (this.#tree === null) return;
    const { origin, stored } = this.#tree;
    const nowMs = stopwatch.elapsedMs();
    if (stored.size <= this.#signed.size || nowMs - this.#signed.atMs < SIGN_EVERY_MS) return;
    const text = checkpointText({ origin, ...stored });
    const note = writeNote({ text, signatures: [signed(text, origin, await auditKeys.signer())] });
    // The signature leaves this process only if the stored tree still is the signed one.
    if (await auditTree.sign({ size: stored.size, note }, stored.root))
      this.#signed = { size: stored.size, atMs: nowMs };
    else this.forget();
  }
}
