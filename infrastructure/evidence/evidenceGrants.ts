// Upload grants in PostgreSQL. A running upload is a lease of its process, so that a killed process blocks it only until the lease expires.

import type {
  EvidenceGrants,
  EvidenceVerdict,
  GrantLimits,
  KeptGrant,
} from '../../application/ports/evidenceGrants.ts';
import { repeating } from '../../application/ports/repeating.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { Randomness } from '../../application/ports/system.ts';
import type { EvidenceId } from '../../domain/kernel/ids.ts';
import { fromMillis } from '../../domain/kernel/time.ts';

interface GrantLeases {
  /** How long an upload counts as running after its last renewal. */
  readonly uploadMs: number;
  readonly renewMs: number;
  /** Lease of an examination. It takes at most a second once it begins. */
  readonly judgingMs: number;
}
const LEASES: GrantLeases = { uploadMs: 15_000, renewMs: 5_000, judgingMs: 60_000 };

const millis = (column: string): string => `(extract(epoch FROM ${column}) * 1000)::bigint`;
const COLUMNS = `evidence_id AS "evidenceId", case_id AS "caseId", account_id AS "accountId", mode, file_name AS "fileName",
  file_size AS "fileSize", mime_type AS "mimeType", ${millis('granted_at')} AS at, ${millis('expires_at')} AS "expiresAt",
  ${millis('ends_at')} AS "endsAt", verdict, removed AS "isRemoved"`;

type Row = Omit<KeptGrant, 'at' | 'expiresAt' | 'endsAt'> & {
  readonly at: number;
  readonly expiresAt: number;
  readonly endsAt: number;
};
const fromRow = ({ at, expiresAt, endsAt, ...row }: Row): KeptGrant => ({
  ...row,
  at: fromMillis(at),
  expiresAt: fromMillis(expiresAt),
  endsAt: fromMillis(endsAt),
});

/** End of a lease that begins now, by the database's clock. */
const LEASE = "clock_timestamp() + $3 * interval '1 ms'";
const CLAIM = `UPDATE operations.evidence_grants SET upload = $2, upload_until = ${LEASE}
  WHERE evidence_id = $1 AND verdict IS NULL AND NOT removed AND coalesce(upload_until < clock_timestamp(), true)`;
const RENEW = `UPDATE operations.evidence_grants SET upload_until = ${LEASE} WHERE evidence_id = $1 AND upload = $2`;
const END = `UPDATE operations.evidence_grants SET upload = NULL, upload_until = NULL
  WHERE evidence_id = $1 AND upload = $2 AND NOT removed`;
const JUDGE = `INSERT INTO operations.evidence_judging AS j (account_id, holder, until) VALUES ($1, $2, ${LEASE})
  ON CONFLICT (account_id) DO UPDATE SET holder = excluded.holder, until = excluded.until WHERE j.until < clock_timestamp()`;

/** The stored grants. */
const keptGrants = (db: SqlPool): Omit<EvidenceGrants, 'beginUpload' | 'beginJudging' | 'releaseAll'> => ({
  add: async (grant, limits, now) => {
    const { evidenceId, caseId, accountId, mode, fileName, fileSize, mimeType, at, expiresAt, endsAt } = grant;
    const file = [fileName, fileSize, mimeType];
    const { rows } = await db.query<{ reached: keyof GrantLimits; retrySeconds: number }>({
      name: 'grant_evidence',
      text: `SELECT reached, retry_seconds AS "retrySeconds"
        FROM operations.grant_evidence($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
      values: [
        ...[evidenceId, caseId, accountId, mode, ...file, at, expiresAt, endsAt, now],
        ...[limits.openOfCase, limits.unconfirmedBytes],
      ],
    });
    return rows[0] ?? 'granted';
  },
  find: async (evidenceId) => {
    const text = `SELECT ${COLUMNS} FROM operations.evidence_grants WHERE evidence_id = $1`;
    return (await db.query<Row>(text, [evidenceId])).rows.map(fromRow)[0] ?? null;
  },
  setSize: async (evidenceId, fileSize) =>
    void (await db.query('UPDATE operations.evidence_grants SET file_size = $2 WHERE evidence_id = $1', [
      evidenceId,
      fileSize,
    ])),
  keepVerdict: async (evidenceId, verdict: EvidenceVerdict) =>
    void (await db.query('UPDATE operations.evidence_grants SET verdict = $2::jsonb WHERE evidence_id = $1', [
      evidenceId,
      JSON.stringify(verdict),
    ])),
  ofCases: async (caseIds) => {
    const text = 'SELECT evidence_id AS "evidenceId" FROM operations.evidence_grants WHERE case_id = ANY($1::text[])';
    const { rows } = await db.query<{ evidenceId: EvidenceId }>(text, [caseIds]);
    return rows.map(({ evidenceId }) => evidenceId);
  },
  forget: async (evidenceId) =>
    void (await db.query('DELETE FROM operations.evidence_grants WHERE evidence_id = $1', [evidenceId])),
  ended: async (before, limit, after) => {
    const text = `SELECT ${COLUMNS} FROM operations.evidence_grants
      WHERE ends_at <= $1 AND NOT removed AND coalesce(upload_until < clock_timestamp(), true)
        AND (ends_at, evidence_id) > ($3::timestamptz, $4) ORDER BY ends_at, evidence_id LIMIT $2`;
    const values = [before, limit, after?.endsAt ?? '-infinity', after?.evidenceId ?? ''];
    return (await db.query<Row>(text, values)).rows.map(fromRow);
  },
  markRemoved: async (evidenceId) =>
    void (await db.query('UPDATE operations.evidence_grants SET removed = true WHERE evidence_id = $1', [evidenceId])),
  forgetEnded: async (before) =>
    void (await db.query('DELETE FROM operations.evidence_grants WHERE removed AND ends_at <= $1', [before])),
});

export const evidenceGrants = (
  db: SqlPool,
  randomness: Randomness,
  { uploadMs, renewMs, judgingMs }: GrantLeases = LEASES,
): EvidenceGrants => {
  const kept = keptGrants(db);
  const holder = (): string => randomness.bytes(12).toString('hex');
  const keepAlive = (evidenceId: EvidenceId, upload: string) => {
    const renewing = repeating(renewMs, () => db.query(RENEW, [evidenceId, upload, uploadMs]), {
      onError: () => undefined, // the lease survives a failed renewal
    });
    return async () => {
      await renewing.stop();
      return (await db.query(END, [evidenceId, upload])).rowCount === 1;
    };
  };
  return {
    ...kept,
    beginUpload: async (evidenceId) => {
      const upload = holder();
      if ((await db.query(CLAIM, [evidenceId, upload, uploadMs])).rowCount === 1)
        return { end: keepAlive(evidenceId, upload) };
      const grant = await kept.find(evidenceId);
      return grant === null || grant.verdict !== null || grant.isRemoved ? null : 'busy';
    },
    beginJudging: async (accountId) => {
      const mine = holder();
      if ((await db.query(JUDGE, [accountId, mine, judgingMs])).rowCount === 0) return null;
      const end = 'DELETE FROM operations.evidence_judging WHERE account_id = $1 AND holder = $2';
      return async () => void (await db.query(end, [accountId, mine]));
    },
    releaseAll: async () => {
      await db.query(
        'UPDATE operations.evidence_grants SET upload = NULL, upload_until = NULL WHERE upload IS NOT NULL',
      );
      await db.query('DELETE FROM operations.evidence_judging');
    },
  };
};
