// Proves that events are in the tree of the newest checkpoint: a proof (c2sp.org/tlog-proof) for each event.
import type { StreamName } from '../../domain/kernel/ids.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { AuditTree } from '../ports/auditTree.ts';
import type { EventStore, RecordedEvent } from '../ports/eventStore.ts';
import { readCheckpoint } from './checkpoint.ts';
import { entryBytes, isEntry, leafOf } from './entry.ts';
import { indexOf } from './logEntries.ts';
import { inclusionProof, provenRoot } from './merkleTree.ts';
import { readNote } from './signedNote.ts';
import { type Tile, tiledRangeHashes } from './tiles.ts';
import { tileHashes } from './treeReader.ts';

export interface ProofNeeds {
  readonly store: Pick<EventStore, 'subscribe' | 'eventIdAt' | 'readStream'>;
  readonly auditTree: AuditTree;
}

/** A proof of one event. */
export interface EntryProof {
  readonly stream: StreamName;
  readonly revision: number;
  readonly type: string;
  readonly index: number;
  /** The content of a `.tlog-proof` file. Its extra data is the entry. */
  readonly proof: string;
}

const proofText = (entry: Buffer, index: number, path: readonly Buffer[], note: string): string =>
  [
    'c2sp.org/tlog-proof@v1',
    `extra ${entry.toString('base64')}`,
    `index ${index}`,
    ...path.map((hash) => hash.toString('base64')),
    '',
    note,
  ].join('\n');

const rootOfNote = (note: string): Buffer | undefined => readCheckpoint(readNote(note)?.text ?? '')?.root;

/**
 * Returns proofs of the streams' events, or of the event at `revision`; those that are not sealed yet are only counted. Rejects if there
 * is no such event, or if an event is not as it was sealed.
 */
export const proveEntries =
  (needs: ProofNeeds) =>
  async (
    streams: readonly StreamName[],
    revision: number | null,
  ): Promise<{ readonly proofs: readonly EntryProof[]; readonly unsealed: number } | Rejection> => {
    const checkpoint = await needs.auditTree.latest();
    if (checkpoint === null) return reject('not_found', 'Nothing has been sealed yet.');
    const { size, note } = checkpoint;
    const root = rootOfNote(note);
    const rangeHash = tiledRangeHashes((tile: Tile) => tileHashes(needs, tile), size);
    const events: RecordedEvent[] = [];
    for (const stream of streams)
      for await (const event of needs.store.readStream(stream, { from: revision ?? 0 })) {
        if (revision !== null && event.revision !== revision) break;
        events.push(event);
      }
    if (events.length === 0) return reject('not_found', 'There is no such event.');
    const entries = events.filter(isEntry);
    if (entries.length === 0)
      return reject('not_found', 'Events of webhook deliveries expire, so they are not in the audit log.');
    const proofs: EntryProof[] = [];
    for (const event of entries) {
      const index = await indexOf(needs, size, event);
      if (index === null) continue;
      const path = await inclusionProof(rangeHash, index, size);
      if (root === undefined || !provenRoot(leafOf(event), index, size, path)?.equals(root))
        return reject('not_found', `Event ${event.stream}@${event.revision} is not as it was sealed.`);
      const proof = proofText(entryBytes(event), index, path, note);
      proofs.push({ stream: event.stream, revision: event.revision, type: event.type, index, proof });
    }
    return { proofs, unsealed: entries.length - proofs.length };
  };
