// Running redrives, in PostgreSQL.

import type { JobQueue } from '../../application/ports/jobs.ts';
import { pagesOf } from '../../application/ports/pagesOf.ts';
import type { Redrive, RedriveFilter, Redrives } from '../../application/ports/redrives.ts';
import { asTimestamp, type SqlPool, TextArray } from '../../application/ports/sql.ts';
import type { AccountId, DeliveryId, Mode, RedriveId, Tenant } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

interface Row extends Omit<Redrive, 'tenant' | 'filter'>, Tenant, RedriveFilter {
  readonly requested: number;
  readonly afterAt: Timestamp | null;
  readonly afterId: DeliveryId | null;
}

const SELECT = `SELECT id, account_id AS "accountId", mode, endpoint_id AS "endpointId", event_type AS "eventType",
      ${asTimestamp('created_from')} AS "createdFrom", ${asTimestamp('created_to')} AS "createdTo", ${asTimestamp('asked_at')} AS "askedAt",
      actor, request_id AS "requestId", queued, requested, ${asTimestamp('after_at')} AS "afterAt", after_id AS "afterId"
    FROM operations.redrives`;
const FIND = { name: 'find_redrive', text: `${SELECT} WHERE id = $1` };

const fromRow = ({
  accountId,
  mode,
  endpointId,
  eventType,
  createdFrom,
  createdTo,
  afterAt,
  afterId,
  ...rest
}: Row) => ({
  ...rest,
  tenant: { accountId, mode },
  filter: { endpointId, eventType, createdFrom, createdTo },
  after: afterAt === null || afterId === null ? null : { scheduledAt: afterAt, id: afterId },
});

interface StalledRow {
  readonly id: RedriveId;
  readonly account_id: AccountId;
  readonly mode: Mode;
}

export const redrives = (db: SqlPool, jobs: Pick<JobQueue, 'enqueue'> | null): Redrives => ({
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

  running: async (limit) => (await db.query<Row>(`${SELECT} ORDER BY id LIMIT $1`, [limit])).rows.map(fromRow),

  outstanding: async () => {
    const { rows } = await db.query<{ outstanding: number }>(
      'SELECT coalesce(sum(greatest(queued - requested, 0)), 0)::bigint AS outstanding FROM operations.redrives',
    );
    return rows[0]?.outstanding ?? 0;
  },
});
