// Running redrives, in PostgreSQL.

import type { JobQueue } from '../../application/ports/jobs.ts';
import { pagesOf } from '../../application/ports/pagesOf.ts';
import type { Redrive, RedriveProgress, Redrives } from '../../application/ports/redrives.ts';
import { type SqlPool, TextArray } from '../../application/ports/sql.ts';
import type { AccountId, DeliveryId, EndpointId, Mode, RedriveId } from '../../domain/kernel/ids.ts';
import { fromMillis } from '../../domain/kernel/time.ts';

interface Row {
  readonly id: RedriveId;
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly endpoint_id: EndpointId | null;
  readonly event_type: string | null;
  readonly created_from_ms: number | null;
  readonly created_to_ms: number | null;
  readonly asked_ms: number;
  readonly actor: string;
  readonly request_id: string | null;
  readonly queued: number;
  readonly requested: number;
  readonly after_ms: number | null;
  readonly after_id: DeliveryId | null;
}

const millis = (column: string): string => `(extract(epoch FROM ${column}) * 1000)::bigint`;

const FIND = {
  name: 'find_redrive',
  text: `SELECT id, account_id, mode, endpoint_id, event_type, ${millis('created_from')} AS created_from_ms,
      ${millis('created_to')} AS created_to_ms, ${millis('asked_at')} AS asked_ms, actor, request_id, queued, requested,
      ${millis('after_at')} AS after_ms, after_id
    FROM operations.redrives WHERE id = $1`,
};

const fromRow = (row: Row): Redrive & RedriveProgress => ({
  id: row.id,
  tenant: { accountId: row.account_id, mode: row.mode },
  filter: {
    endpointId: row.endpoint_id,
    eventType: row.event_type,
    createdFrom: row.created_from_ms === null ? null : fromMillis(row.created_from_ms),
    createdTo: row.created_to_ms === null ? null : fromMillis(row.created_to_ms),
  },
  askedAt: fromMillis(row.asked_ms),
  actor: row.actor,
  requestId: row.request_id,
  queued: row.queued,
  requested: row.requested,
  after:
    row.after_ms === null || row.after_id === null ? null : { scheduledAt: fromMillis(row.after_ms), id: row.after_id },
});

type StalledRow = Pick<Row, 'id' | 'account_id' | 'mode'>;

export const redrives = (db: SqlPool, jobs: Pick<JobQueue, 'enqueue' | 'wake'> | null): Redrives => ({
  begin: async ({ id, tenant, filter, askedAt, actor, requestId, queued }, job) => {
    const { endpointId, eventType, createdFrom, createdTo } = filter;
    await db.transaction(async (tx) => {
      await tx.query(
        `INSERT INTO operations.redrives
           (id, account_id, mode, endpoint_id, event_type, created_from, created_to, asked_at, actor, request_id, queued)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
        [
          ...[id, tenant.accountId, tenant.mode, endpointId, eventType, createdFrom, createdTo],
          ...[askedAt, actor, requestId, queued],
        ],
      );
      if (job !== null) await jobs?.enqueue([job], tx);
    });
    if (job !== null) jobs?.wake([job]);
  },

  find: async (id) => {
    const { rows } = await db.query<Row>({ ...FIND, values: [id] });
    return rows[0] ? fromRow(rows[0]) : null;
  },

  advance: async (id, place, requested) => {
    await db.query({
      name: 'advance_redrive',
      text: `UPDATE operations.redrives SET after_at = $2, after_id = $3, requested = requested + $4, changed_at = now()
        WHERE id = $1 AND (after_at IS NULL OR (after_at, after_id) < ($2::timestamptz, $3))`,
      values: [id, place.scheduledAt, place.id, requested],
    });
  },

  probe: async (id, targets) => {
    const { rows } = await db.query<{ target: string }>({
      name: 'probe_of_redrive',
      text: `INSERT INTO operations.redrive_probes (redrive_id, target)
        SELECT r.id, wanted.target FROM operations.redrives r CROSS JOIN unnest($2::text[]) AS wanted (target) WHERE r.id = $1
        ORDER BY wanted.target ON CONFLICT DO NOTHING RETURNING target`,
      values: [id, new TextArray([...targets])],
    });
    return new Set(rows.map(({ target }) => target));
  },

  end: async (id) => {
    await db.query('DELETE FROM operations.redrives WHERE id = $1', [id]);
  },

  stalled: (ageMs, page) =>
    pagesOf(
      page,
      (last: StalledRow | null) =>
        db.query<StalledRow>(
          `SELECT id, account_id, mode FROM operations.redrives
           WHERE changed_at < now() - $1 * interval '1 millisecond' AND id > $2 ORDER BY id LIMIT $3`,
          [ageMs, last?.id ?? '', page],
        ),
      (rows) => rows.map(({ id, account_id: accountId, mode }) => ({ id, tenant: { accountId, mode } })),
    ),

  outstanding: async () => {
    const { rows } = await db.query<{ outstanding: number }>(
      'SELECT coalesce(sum(greatest(queued - requested, 0)), 0)::bigint AS outstanding FROM operations.redrives',
    );
    return rows[0]?.outstanding ?? 0;
  },
});
