// Sends checkpoints to external places, so that a rewritten and newly signed log is detected (rule U6).
import { hash } from 'node:crypto';
import { addMillis, fromMillis, MINUTE_MS } from '../../domain/kernel/time.ts';
import { type AnchorState, type AuditAnchors, type AuditSettings, anchorPlace } from '../ports/auditAccess.ts';
import type { AuditKeys } from '../ports/auditKeys.ts';
import type { AuditTree, SignedCheckpoint, StoredTree } from '../ports/auditTree.ts';
import type { MailSender } from '../ports/mail.ts';
import type { Clock } from '../ports/system.ts';
import type { WebhookSender } from '../ports/webhookSender.ts';
import { type Checkpoint, readCheckpoint } from './checkpoint.ts';
import { leafOf } from './entry.ts';
import { type NoteKey, noteKeysOf, readNote, signersOf } from './signedNote.ts';
import { edgeRoot, extended, type TreeEdge, tiledRangeHashes } from './tiles.ts';
import { entryPagesAfter, LogDiffers, type TreeNeeds, tileHashes } from './treeReader.ts';

export interface AnchorNeeds {
  readonly auditTree: Pick<AuditTree, 'latest'>;
  readonly auditAnchors: AuditAnchors;
  readonly auditSettings: Pick<AuditSettings, 'anchors'>;
  readonly auditClock: Clock;
  /** Refuses private addresses, and URLs without TLS. */
  readonly sender: Pick<WebhookSender, 'send'>;
  readonly mail: Pick<MailSender, 'send'>;
}

/** An anchor gets a checkpoint at most this often. */
const SEND_EVERY_MS = MINUTE_MS;
/** Pause after the first failure; it doubles with each further one. */
const RETRY_MS = MINUTE_MS;
const RETRY_MS_MAX = 60 * MINUTE_MS;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Throws with a message for operators. */
const send = async (needs: AnchorNeeds, anchor: string, { size, note }: SignedCheckpoint): Promise<void> => {
  const place = anchorPlace(anchor);
  if (place === null) throw new Error('not a file path, https URL or email address');
  if (place.kind === 'email') {
    const [origin = ''] = note.split('\n');
    const text = `Keep this checkpoint. With it you can prove later whether the log was changed.\n\n${note}`;
    const id = `audit-${hash('sha256', `${anchor}\n${note}`, 'hex').slice(0, 32)}`;
    const html = `<p>Keep this checkpoint. With it you can prove later whether the log was changed.</p><pre>${escaped(note)}</pre>`;
    return await needs.mail.send({ id, to: place.address, subject: `Checkpoint ${size} of ${origin}`, text, html });
  }
  if (place.kind === 'file') return await needs.auditAnchors.append(place.path, note);
  const headers = { 'content-type': 'text/plain; charset=utf-8' };
  const outcome = await needs.sender.send({ url: place.url, headers, body: note, mode: 'live', account: 'audit' });
  if (!outcome.ok) throw new Error(outcome.error ?? 'connection');
};

const isDue = ({ size, sentAt, retryAt }: AnchorState, latest: SignedCheckpoint, nowMs: number): boolean => {
  const now = fromMillis(nowMs);
  return (
    latest.size > size &&
    (retryAt === null || retryAt <= now) &&
    (sentAt === null || addMillis(sentAt, SEND_EVERY_MS) <= now)
  );
};

/** Sends the latest checkpoint to every anchor that lacks it, at most once a minute. A failure delays only this anchor. */
export const sendToAnchors = async (needs: AnchorNeeds): Promise<void> => {
  const { auditTree, auditAnchors, auditSettings, auditClock } = needs;
  if (auditSettings.anchors.length === 0) return;
  const latest = await auditTree.latest();
  if (latest === null) return;
  const states = await auditAnchors.states(auditSettings.anchors);
  const due = states.filter((state) => isDue(state, latest, auditClock.now()));
  await Promise.all(
    due.map(async ({ anchor, failures }) => {
      try {
        await send(needs, anchor, latest);
        await auditAnchors.received(anchor, latest.size);
      } catch (error) {
        const pauseMs = Math.min(RETRY_MS * 2 ** Math.min(failures, 10), RETRY_MS_MAX);
        await auditAnchors.failed(anchor, (error as Error).message, fromMillis(auditClock.now() + pauseMs));
      }
    }),
  );
};

interface SignedNeeds extends TreeNeeds {
  readonly auditKeys: Pick<AuditKeys, 'list'>;
}

interface AnchoredNeeds extends SignedNeeds {
  readonly auditAnchors: Pick<AuditAnchors, 'endOf'>;
  readonly auditSettings: Pick<AuditSettings, 'anchors'>;
}

/** Returns the checkpoint of a note that one of these keys signed, or null. */
const readSigned = (text: string, keys: readonly NoteKey[]): Checkpoint | null => {
  const note = readNote(text);
  return note === null || signersOf(note, keys) === null ? null : readCheckpoint(note.text);
};

/** Lines of a checkpoint with one signature. */
const NOTE_LINES = 5;

/**
 * Returns the last checkpoint in a file that one of the log's keys signed. Skips what follows it, because the machine may have failed while
 * it wrote that. Returns null for a file that is empty or can't be read. Throws LogDiffers for a file without such a checkpoint.
 */
const lastCheckpointIn = async (path: string, needs: AnchoredNeeds, origin: string): Promise<Checkpoint | null> => {
  const text = await needs.auditAnchors.endOf(path);
  if (text === null || text === '') return null;
  const keys = noteKeysOf(await needs.auditKeys.list(), origin);
  const [, ...found] = text.split(`${origin}\n`);
  for (const rest of found.toReversed()) {
    const lines = rest.split('\n', NOTE_LINES - 1);
    const checkpoint = readSigned(`${[origin, ...lines].join('\n')}\n`, keys);
    if (checkpoint !== null) return checkpoint;
  }
  throw new LogDiffers(`${path} has no checkpoint that a key of ${origin} signed: does it belong to another log?`);
};

/** A tree with its growing end. */
type OpenTree = Pick<StoredTree, 'origin' | 'size' | 'position'> & { readonly edge: TreeEdge };

/** Returns the edge of the tree, grown to a size by the next entries of the log; smaller if the log ends before. */
const grownTo = async (
  { store }: Pick<TreeNeeds, 'store'>,
  { edge, position }: OpenTree,
  size: number,
): Promise<TreeEdge> => {
  let grown = edge;
  if (grown.size === size) return grown;
  for await (const entries of entryPagesAfter(store, position, size - edge.size))
    grown = extended(grown, Buffer.concat(entries.map(leafOf))).edge;
  return grown;
};

/**
 * Checks that the tree begins with a checkpoint, and that the checkpoint is not ahead of the log. A smaller tree grows to it by the entries
 * that follow in the log. `place`: where the checkpoint is kept. Throws LogDiffers.
 */
const assertBeginsWith = async (
  needs: TreeNeeds,
  tree: OpenTree,
  { size, root }: Checkpoint,
  place: string,
): Promise<void> => {
  const grown = size < tree.size ? null : await grownTo(needs, tree, size);
  if (grown !== null && grown.size < size)
    throw new LogDiffers(
      `${place} has a checkpoint of ${size} entries, but the event log has only ${grown.size}: was a backup restored?`,
    );
  const own = grown ? edgeRoot(grown) : await tiledRangeHashes((tile) => tileHashes(needs, tile), size)(0, size);
  if (!own.equals(root))
    throw new LogDiffers(
      `the first ${size} entries are not those of the checkpoint in ${place}: was a backup restored?`,
    );
};

/**
 * Checks the tree against its own newest checkpoint. A crash can’t leave the tree behind it: the tree is stored durably before it is
 * signed. Throws LogDiffers.
 */
export const assertSigned = async (
  needs: SignedNeeds & { readonly auditTree: Pick<AuditTree, 'latest'> },
  tree: OpenTree,
): Promise<void> => {
  const latest = await needs.auditTree.latest();
  if (latest === null) return;
  const checkpoint = readSigned(latest.note, noteKeysOf(await needs.auditKeys.list(), tree.origin));
  if (checkpoint?.size !== latest.size)
    throw new LogDiffers(`checkpoint ${latest.size} in the database is not signed by a key of this log`);
  await assertBeginsWith(needs, tree, checkpoint, 'the database');
};

/**
 * Checks the tree against the last checkpoint in each external file, because log and tree may have been restored together. If only the tree
 * was restored, it grows to that checkpoint again. Throws LogDiffers if it can't, if its entries differ from the checkpoint's, or if a file
 * has no valid checkpoint.
 */
export const assertAnchored = async (needs: AnchoredNeeds, tree: OpenTree): Promise<void> => {
  for (const place of needs.auditSettings.anchors.map(anchorPlace)) {
    if (place?.kind !== 'file') continue;
    const held = await lastCheckpointIn(place.path, needs, tree.origin);
    if (held !== null) await assertBeginsWith(needs, tree, held, place.path);
  }
};
