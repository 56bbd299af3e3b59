// The stored Merkle tree of the audit log, and its signed checkpoints (ADR 0015).
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Position } from './eventStore.ts';

/** A full tile: 256 hashes, and their root. */
export interface StoredTile {
  readonly level: number;
  readonly index: number;
  readonly hashes: Buffer;
  readonly root: Buffer;
  /** The position of the last leaf, at level 0; else null. */
  readonly position: Position | null;
}

export interface StoredTree {
  /** The first line of every checkpoint. */
  readonly origin: string;
  /** The event store that has these positions. */
  readonly storeId: string;
  readonly size: number;
  readonly root: Buffer;
  /** The position of the last leaf; null if the tree is empty. */
  readonly position: Position | null;
  readonly sealedAt: Timestamp;
  /** Why sealing stopped, or null. */
  readonly stopped: string | null;
}

/** A checkpoint as it was signed. */
export interface SignedCheckpoint {
  readonly size: number;
  readonly note: string;
  readonly signedAt: Timestamp;
}

/** The newest checkpoint that a witness cosigned; null: none yet. */
export interface LastCosigned {
  readonly witness: string;
  readonly size: number | null;
  readonly receivedAt: Timestamp | null;
}

export interface AuditTree {
  /** Returns the tree, or null before the first leaf. */
  find(): Promise<StoredTree | null>;
  /** Creates the empty tree, unless there is one. Returns the tree. */
  begin(tree: Pick<StoredTree, 'origin' | 'storeId' | 'root'>): Promise<StoredTree>;
  /**
   * Stores the larger tree durably, if the stored one is still `from` and sealing has not stopped. Returns whether it was stored; false:
   * another process was faster.
   */
  grow(
    from: Pick<StoredTree, 'size' | 'root'>,
    to: Pick<StoredTree, 'size' | 'root' | 'position'>,
    tiles: readonly StoredTile[],
  ): Promise<boolean>;
  tile(level: number, index: number): Promise<StoredTile | null>;
  /** Returns the roots of full tiles, from index `from` to `to`, exclusive. */
  roots(level: number, from: number, to: number): Promise<Buffer>;
  /** Records why sealing stopped; null: it continues. Returns whether this changed something. */
  setStopped(reason: string | null): Promise<boolean>;

  /** Stores a checkpoint of the tree, if it has this size and root and sealing has not stopped. Returns whether it did. */
  sign(checkpoint: Pick<SignedCheckpoint, 'size' | 'note'>, root: Buffer): Promise<boolean>;
  latest(): Promise<SignedCheckpoint | null>;
  checkpoint(size: number): Promise<SignedCheckpoint | null>;
  /** Yields the checkpoints that were signed in a period, by size. */
  checkpoints(from: Timestamp, to: Timestamp): AsyncIterable<SignedCheckpoint>;
  /** Of checkpoints older than a day, keeps for each hour the last one, and the last one that each witness cosigned. */
  thinOut(): Promise<void>;
  /** Keeps a witness's signature line, instead of an older one of this size. */
  cosign(size: number, witness: string, line: string): Promise<void>;
  /** Returns the kept signature lines of a checkpoint, by witness. */
  cosignatures(size: number): Promise<readonly string[]>;
  /** Returns the newest checkpoint that each of these witnesses cosigned, in their order. */
  lastCosigned(witnesses: readonly string[]): Promise<readonly LastCosigned[]>;
}
