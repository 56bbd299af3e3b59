// Compares the whole event log with the sealed tree, and the tree with every signed checkpoint. It finds the same faults as the programs in
// docs/auditors, without an export.
import type { AuditKeys } from '../ports/auditKeys.ts';
import type { AuditTree, SignedCheckpoint, StoredTile } from '../ports/auditTree.ts';
import type { EventStore } from '../ports/eventStore.ts';
import { readCheckpoint } from './checkpoint.ts';
import { leafOf } from './entry.ts';
import { EVER, FIRST, type LongReadOptions } from './exportLog.ts';
import { entriesBetween } from './logEntries.ts';
import { HASH_BYTES } from './merkleTree.ts';
import { type NoteKey, noteKeysOf, readNote, signersOf } from './signedNote.ts';
import { EMPTY_EDGE, edgeRoot, extended, type FullTile, TILE_WIDTH, type TreeEdge } from './tiles.ts';

export interface VerifyNeeds {
  readonly store: Pick<EventStore, 'subscribe' | 'eventIdAt'>;
  readonly auditTree: AuditTree;
  readonly auditKeys: Pick<AuditKeys, 'list'>;
}

/** A fault of the entries `from` to `to`, inclusive. */
export interface AuditFault {
  readonly from: number;
  readonly to: number;
  readonly what: string;
}

/** Collects faults. Equal faults of neighboring entries become one. */
class Faults {
  readonly list: AuditFault[] = [];

  add(what: string, from: number, to = from): void {
    const last = this.list.at(-1);
    const isNext = last?.what === what && last.to + 1 === from;
    this.list.push({ what, from: isNext ? (this.list.pop() as AuditFault).from : from, to });
  }
}

/** Builds the tree again from the log, tile by tile, and compares it with the stored tiles and the signed checkpoints. */
class Rebuilt {
  readonly #tree: AuditTree;
  readonly #keys: readonly NoteKey[];
  readonly #faults: Faults;
  readonly #checkpoints: AsyncIterator<SignedCheckpoint>;
  #checkpoint: SignedCheckpoint | null = null;
  #edge: TreeEdge = EMPTY_EDGE;
  /** Size of the last checkpoint that agrees with the log. */
  #proven = 0;
  /** Whether the checkpoint before agreed, so that successive faults are reported once. */
  #wasGood = true;

  constructor(tree: AuditTree, keys: readonly NoteKey[], faults: Faults, checkpoints: AsyncIterator<SignedCheckpoint>) {
    [this.#tree, this.#keys, this.#faults, this.#checkpoints] = [tree, keys, faults, checkpoints];
  }

  get size(): number {
    return this.#edge.size;
  }

  get root(): Buffer {
    return edgeRoot(this.#edge);
  }

  get proven(): number {
    return this.#proven;
  }

  /** Adds the next leaves, at most a tile. `found`: leaves of the log by their place in the tile. */
  async add(found: ReadonlyMap<number, Buffer>, width: number): Promise<void> {
    const first = this.#edge.size;
    const stored = width === TILE_WIDTH ? await this.#tree.tile(0, first / TILE_WIDTH) : null;
    const leaves = Buffer.alloc(width * HASH_BYTES);
    for (let i = 0; i < width; i++) {
      const sealed = stored?.hashes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES);
      const leaf = found.get(i);
      if (leaf === undefined) this.#faults.add('missing', first + i);
      else if (sealed !== undefined && !leaf.equals(sealed)) this.#faults.add('not as in the tree', first + i);
      (sealed ?? leaf)?.copy(leaves, i * HASH_BYTES);
    }
    await this.#compareSigned(leaves, first + width);
    const { edge, full } = extended(this.#edge, leaves);
    this.#edge = edge;
    for (const tile of full)
      this.#compareTile(tile, tile.level === 0 ? stored : await this.#tree.tile(tile.level, tile.index));
  }

  /** The root is compared too, because the sealer and exports read it instead of the hashes. */
  #compareTile({ level, index, hashes, root }: FullTile, stored: StoredTile | null): void {
    const leaves = TILE_WIDTH ** (level + 1);
    if (stored === null || !stored.hashes.equals(hashes) || !stored.root.equals(root))
      this.#faults.add(
        `tile ${index} of level ${level} differs from the leaves`,
        index * leaves,
        (index + 1) * leaves - 1,
      );
  }

  /** Compares the checkpoints up to this size with the tree, which grows by the leaves. */
  async #compareSigned(leaves: Buffer, size: number): Promise<void> {
    for (let one = await this.#nextCheckpoint(); one !== null && one.size <= size; one = await this.#nextCheckpoint()) {
      this.#checkpoint = null;
      const note = readNote(one.note);
      const text = note === null || signersOf(note, this.#keys) === null ? null : readCheckpoint(note.text);
      const { edge } = extended(this.#edge, leaves.subarray(0, (one.size - this.#edge.size) * HASH_BYTES));
      const isGood = text?.size === one.size && text.root.equals(edgeRoot(edge));
      if (isGood) this.#proven = one.size;
      else if (this.#wasGood) this.#faults.add(`not as signed in checkpoint ${one.size}`, this.#proven, one.size - 1);
      this.#wasGood = isGood;
    }
  }

  async #nextCheckpoint(): Promise<SignedCheckpoint | null> {
    if (this.#checkpoint === null) {
      const next = await this.#checkpoints.next();
      this.#checkpoint = next.done ? null : next.value;
    }
    return this.#checkpoint;
  }
}

export interface Verified {
  /** Entries in the tree, and how many of them a valid checkpoint covers. */
  readonly size: number;
  readonly signed: number;
  readonly faults: readonly AuditFault[];
}

/** Hashes all events again and compares them with the tree and its checkpoints. */
export const verifyLog =
  (needs: VerifyNeeds) =>
  async ({ signal, onEntries }: LongReadOptions): Promise<Verified> => {
    const newest = await needs.auditTree.latest(); // before the tree, which may grow and be signed meanwhile
    const tree = await needs.auditTree.find();
    const signed = newest?.size ?? 0;
    const faults = new Faults();
    if (tree === null) {
      if (signed > 0) faults.add('missing from the tree', 0, signed - 1);
      return { size: 0, signed: 0, faults: faults.list };
    }
    const { origin, size } = tree;
    const keys = noteKeysOf(await needs.auditKeys.list(), origin);
    const checkpoints = needs.auditTree.checkpoints(FIRST, EVER)[Symbol.asyncIterator]();
    const rebuilt = new Rebuilt(needs.auditTree, keys, faults, checkpoints);
    let found = new Map<number, Buffer>();
    const addTile = async (): Promise<void> => {
      await rebuilt.add(found, Math.min(TILE_WIDTH, size - rebuilt.size));
      found = new Map();
    };
    for await (const page of entriesBetween(needs, 0, size, signal)) {
      for (const { index, event } of page) {
        while (index >= rebuilt.size + TILE_WIDTH) await addTile();
        found.set(index - rebuilt.size, leafOf(event));
      }
      onEntries(rebuilt.size, size);
    }
    while (rebuilt.size < size) await addTile();
    if (faults.list.length === 0 && !rebuilt.root.equals(tree.root))
      faults.add('not as sealed', rebuilt.proven, size - 1);
    if (signed > size) faults.add('missing from the tree', size, signed - 1);
    return { size, signed: rebuilt.proven, faults: faults.list };
  };
