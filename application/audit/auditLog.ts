// The audit log as it is served (c2sp.org/tlog-tiles): checkpoint, tiles, entries and keys; and the cosignatures of witnesses.
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { AuditSettings } from '../ports/auditAccess.ts';
import type { AuditKey, AuditKeys } from '../ports/auditKeys.ts';
import type { AuditTree } from '../ports/auditTree.ts';
import type { EventStore } from '../ports/eventStore.ts';
import { readCheckpoint } from './checkpoint.ts';
import { entryBytes } from './entry.ts';
import {
  cosignedAt,
  isSignedBy,
  type NoteKey,
  names,
  noteKeyOf,
  readNote,
  readSignatureLine,
  readVkey,
  type SignedNote,
  signatureLine,
  vkeyOf,
} from './signedNote.ts';
import { type Tile, widthOf } from './tiles.ts';
import { entriesOfTile, tileHashes } from './treeReader.ts';

export interface AuditLogNeeds {
  readonly store: Pick<EventStore, 'subscribe'>;
  readonly auditTree: AuditTree;
  readonly auditKeys: Pick<AuditKeys, 'list'>;
  readonly auditSettings: AuditSettings;
  /** The origin of a new tree: the URL of the log without its scheme. */
  readonly auditOrigin: string;
  /** The URL prefix under which the log is served. */
  readonly auditUrl: string;
}

/** A public key, and when it signed. `until` null: it still signs. */
export interface KeyPeriod {
  readonly vkey: string;
  readonly from: Timestamp;
  readonly until: Timestamp | null;
}

/** Returns the keys of the log, oldest first. */
export const periodsOf = (keys: readonly AuditKey[], origin: string): readonly KeyPeriod[] =>
  keys.map(({ publicKey, createdAt }, n) => ({
    vkey: vkeyOf(noteKeyOf(origin, publicKey)),
    from: createdAt,
    until: keys[n + 1]?.createdAt ?? null,
  }));
export const keyPeriods = async ({ auditKeys }: Pick<AuditLogNeeds, 'auditKeys'>, origin: string) =>
  periodsOf(await auditKeys.list(), origin);

export const originOf = async ({ auditTree, auditOrigin }: Pick<AuditLogNeeds, 'auditTree' | 'auditOrigin'>) =>
  (await auditTree.find())?.origin ?? auditOrigin;

/** Entries are preceded by their length in 16 bits. */
const ENTRY_BYTES_MAX = 65_535;
const lengthOf = (entry: Buffer): Buffer => Buffer.of(entry.length >> 8, entry.length & 0xff);

const NO_NOTE = reject('invalid_request', 'The body must be a signed checkpoint: its text and signature lines.');
const NOT_KNOWN = reject('not_found', 'This log has no such checkpoint.');
const NO_WITNESS = reject('unauthorized', 'No known witness cosigned this checkpoint.');
const TOO_LONG = reject(
  'payload_too_large',
  'The tile has an entry of more than 65,535 bytes, which a bundle can’t hold.',
);

export class AuditLog {
  readonly #needs: AuditLogNeeds;
  readonly #witnesses: readonly NoteKey[];

  /** Throws RangeError for an invalid vkey of a witness. */
  constructor(needs: AuditLogNeeds) {
    this.#needs = needs;
    this.#witnesses = needs.auditSettings.witnesses.map((vkey) => {
      const key = readVkey(vkey);
      if (key === null) throw new RangeError(`AUDIT_WITNESSES: "${vkey}" is not a vkey with an Ed25519 key`);
      return key;
    });
  }

  get isPublic(): boolean {
    return this.#needs.auditSettings.isPublic;
  }

  /** Returns why sealing stopped, or null. */
  async stopped(): Promise<string | null> {
    return (await this.#needs.auditTree.find())?.stopped ?? null;
  }

  /** Returns the latest checkpoint, or that of a size, with its cosignatures; null if the log has none. */
  async checkpoint(size: number | null = null): Promise<string | null> {
    const { auditTree } = this.#needs;
    const found = size === null ? await auditTree.latest() : await auditTree.checkpoint(size);
    return found && found.note + (await auditTree.cosignatures(found.size)).join('');
  }

  /** Returns the hashes of a tile, or null if the tree doesn't have it. */
  async tile(tile: Tile): Promise<Buffer | null> {
    return (await this.#has(tile)) ? await tileHashes(this.#needs, tile) : null;
  }

  /** Returns the bundle of a tile's entries, or null if the tree doesn't have it. */
  async entries(tile: Omit<Tile, 'level'>): Promise<Buffer | Rejection | null> {
    if (!(await this.#has({ ...tile, level: 0 }))) return null;
    const entries = (await entriesOfTile(this.#needs, tile)).map(entryBytes);
    if (entries.some(({ length }) => length > ENTRY_BYTES_MAX)) return TOO_LONG;
    return Buffer.concat(entries.flatMap((entry) => [lengthOf(entry), entry]));
  }

  /** Returns the contents of /.well-known/quita-audit.json. */
  async keys(): Promise<{ readonly origin: string; readonly log: string; readonly keys: readonly KeyPeriod[] }> {
    const origin = await originOf(this.#needs);
    return { origin, log: this.#needs.auditUrl, keys: await keyPeriods(this.#needs, origin) };
  }

  /** Keeps the cosignatures of known witnesses on one of the log's checkpoints. Returns the names of the witnesses. */
  async cosign(text: string): Promise<readonly string[] | Rejection> {
    const note = readNote(text);
    const size = note === null ? undefined : readCheckpoint(note.text)?.size;
    if (note === null || size === undefined) return NO_NOTE;
    const own = await this.#needs.auditTree.checkpoint(size);
    if (own === null || readNote(own.note)?.text !== note.text) return NOT_KNOWN;
    return await this.#keep(note, size);
  }

  async #keep(note: SignedNote, size: number): Promise<readonly string[] | Rejection> {
    const kept = note.signatures.flatMap((signature) => {
      const witness = this.#witnesses.find((key) => names(key, signature));
      return witness !== undefined && isSignedBy(witness, note.text, signature) ? [{ witness, signature }] : [];
    });
    if (kept.length === 0) return NO_WITNESS;
    const known = (await this.#needs.auditTree.cosignatures(size)).map((line) => readSignatureLine(line.trimEnd()));
    for (const { witness, signature } of kept.toSorted((a, b) =>
      Number(cosignedAt(a.signature) - cosignedAt(b.signature)),
    )) {
      const before = known.find((one) => one !== null && names(witness, one));
      // Anybody can send an older one again, because it was served.
      if (before == null || cosignedAt(before) <= cosignedAt(signature))
        await this.#needs.auditTree.cosign(size, witness.name, signatureLine(signature));
    }
    return [...new Set(kept.map(({ witness }) => witness.name))];
  }

  async #has({ width, ...tile }: Tile): Promise<boolean> {
    const size = (await this.#needs.auditTree.find())?.size ?? 0;
    return width <= widthOf(size, tile);
  }
}
