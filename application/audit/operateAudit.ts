// Operators' use cases for the audit log: its status, its keys and auditors' tokens.
import { type Rejection, SENT_BEFORE } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { AnchorState, AuditAnchors, AuditSettings } from '../ports/auditAccess.ts';
import type { AuditKey, AuditKeys } from '../ports/auditKeys.ts';
import type { AuditTree, LastCosigned, SignedCheckpoint } from '../ports/auditTree.ts';
import { type KeyPeriod, keyPeriods, originOf, periodsOf } from './auditLog.ts';
import { type AuditorNeeds, issueAuditToken, revokeAuditToken } from './auditors.ts';
import { EMPTY_ROOT } from './merkleTree.ts';
import { type LagNeeds, sealingLagOf } from './sealingLag.ts';
import { noteKeysOf, readNote, readVkey, signersOf, vkeyOf } from './signedNote.ts';

export interface OperateAuditNeeds extends AuditorNeeds, LagNeeds {
  readonly auditTree: AuditTree;
  readonly auditKeys: AuditKeys;
  readonly auditAnchors: AuditAnchors;
  readonly auditSettings: Pick<AuditSettings, 'anchors' | 'witnesses'>;
  readonly auditOrigin: string;
}

export interface AuditStatus {
  readonly origin: string;
  readonly size: number;
  /** Base64. */
  readonly root: string;
  /** Why sealing stopped, or null. */
  readonly stopped: string | null;
  /** Age of the oldest event that is not sealed, in seconds; 0 if all are; null if the log can't be read from there. */
  readonly lagSeconds: number | null;
  /** The latest signed checkpoint; null before the first one. */
  readonly checkpoint: {
    readonly size: number;
    readonly signedAt: Timestamp;
    /** The vkey of the log's key that signed it; null if its signature is not of a listed key. */
    readonly signedBy: string | null;
  } | null;
  readonly keys: readonly KeyPeriod[];
  readonly anchors: readonly AnchorState[];
  /** The newest checkpoint that each known witness cosigned. */
  readonly witnesses: readonly LastCosigned[];
}

/** Returns the vkey of the key that signed a checkpoint, or null if it is not one of the log's. */
const signerOf = (
  { note }: SignedCheckpoint,
  keys: readonly Pick<AuditKey, 'publicKey'>[],
  origin: string,
): string | null => {
  const signed = readNote(note);
  const [signer] = (signed && signersOf(signed, noteKeysOf(keys, origin))) ?? [];
  return signer === undefined ? null : vkeyOf(signer);
};

const witnessesOf = ({ auditSettings }: Pick<OperateAuditNeeds, 'auditSettings'>): readonly string[] =>
  auditSettings.witnesses.map((vkey) => readVkey(vkey)?.name ?? vkey);

export const auditStatus = (needs: OperateAuditNeeds) => async (): Promise<AuditStatus> => {
  const { auditTree, auditAnchors, auditKeys, auditOrigin } = needs;
  const { anchors } = needs.auditSettings;
  const witnesses = witnessesOf(needs);
  const tree = await auditTree.find();
  const latest = await auditTree.latest();
  const keys = await auditKeys.list();
  const origin = tree?.origin ?? auditOrigin;
  return {
    origin,
    size: tree?.size ?? 0,
    root: (tree?.root ?? EMPTY_ROOT).toString('base64'),
    stopped: tree?.stopped ?? null,
    lagSeconds: await sealingLagOf(needs).seconds(tree),
    checkpoint: latest && {
      size: latest.size,
      signedAt: latest.signedAt,
      signedBy: signerOf(latest, keys, origin),
    },
    keys: periodsOf(keys, origin),
    anchors: anchors.length === 0 ? [] : await auditAnchors.states(anchors),
    witnesses: witnesses.length === 0 ? [] : await auditTree.lastCosigned(witnesses),
  };
};

export const operateAudit = (needs: OperateAuditNeeds) => ({
  auditStatus: auditStatus(needs),
  /**
   * Creates a key that signs all further checkpoints. Returns all keys, oldest first. `seen`: the number of keys that the operator saw, so
   * that a form sent twice rotates once; null for any. Rejects with `invalid_request` if there are more by now.
   */
  rotateAuditKey: async (seen: number | null = null): Promise<readonly KeyPeriod[] | Rejection> => {
    if ((await needs.auditKeys.rotate(seen)) === null) return SENT_BEFORE;
    return await keyPeriods(needs, await originOf(needs));
  },
  issueAuditToken: issueAuditToken(needs),
  listAuditTokens: () => needs.auditTokens.list(),
  revokeAuditToken: revokeAuditToken(needs),
});
