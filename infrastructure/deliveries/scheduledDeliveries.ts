// Deliveries that have not been attempted yet, in PostgreSQL, beside the jobs that will attempt them.
import { boundedCache } from '../../application/ports/boundedCache.ts';
import type { JobQueue, JobRequest } from '../../application/ports/jobs.ts';
import type { ScheduledDeliveries, ScheduledDelivery } from '../../application/ports/scheduledDeliveries.ts';
import { type SqlPool, TextArray } from '../../application/ports/sql.ts';
import type { AccountId, DeliveryId, EndpointId, Mode, PaymentId, StreamName } from '../../domain/kernel/ids.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import { groupedWrites } from '../postgres/gathered.ts';

interface Row {
  readonly id: DeliveryId;
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly target: string;
  readonly of_stream: StreamName;
  readonly of_revision: number;
  readonly payment_id: PaymentId | null;
  readonly event_type: string;
  readonly endpoint_id: EndpointId | null;
  readonly resend: number;
  readonly scheduled_ms: number;
}

const fromRow = (row: Row): ScheduledDelivery => ({
  deliveryId: row.id,
  tenant: { accountId: row.account_id, mode: row.mode },
  target: row.target,
  delivery: {
    stream: row.of_stream,
    revision: row.of_revision,
    paymentId: row.payment_id,
    eventType: row.event_type,
    endpointId: row.endpoint_id,
    resend: row.resend,
    scheduledAt: fromMillis(row.scheduled_ms),
  },
});

const INSERT = {
  name: 'schedule_deliveries',
  text: `INSERT INTO operations.scheduled_deliveries
      (id, account_id, mode, target, of_stream, of_revision, payment_id, event_type, endpoint_id, resend, scheduled_at)
    SELECT unnest($1::text[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]), unnest($5::text[]), unnest($6::int[]),
      unnest($7::text[]), unnest($8::text[]), unnest($9::text[]), unnest($10::int[]), unnest($11::text[])::timestamptz
    ON CONFLICT (id) DO NOTHING
    RETURNING id, EXISTS (SELECT FROM operations.restores WHERE lookups_until > now()) AS may_have_begun`,
};

const valuesOf = (list: readonly ScheduledDelivery[]): readonly unknown[] => [
  new TextArray(list.map(({ deliveryId }) => deliveryId)),
  new TextArray(list.map(({ tenant }) => tenant.accountId)),
  new TextArray(list.map(({ tenant }) => tenant.mode)),
  new TextArray(list.map(({ target }) => target)),
  new TextArray(list.map(({ delivery }) => delivery.stream)),
  list.map(({ delivery }) => delivery.revision),
  new TextArray(list.map(({ delivery }) => delivery.paymentId)),
  new TextArray(list.map(({ delivery }) => delivery.eventType)),
  new TextArray(list.map(({ delivery }) => delivery.endpointId)),
  list.map(({ delivery }) => delivery.resend),
  new TextArray(list.map(({ delivery }) => delivery.scheduledAt)),
];

const FIND = {
  name: 'find_scheduled_deliveries',
  text: `SELECT id, account_id, mode, target, of_stream, of_revision, payment_id, event_type, endpoint_id, resend,
      (extract(epoch FROM scheduled_at) * 1000)::bigint AS scheduled_ms
    FROM operations.scheduled_deliveries WHERE id = ANY ($1::text[])`,
};

type Scheduling = Parameters<ScheduledDeliveries['schedule']>[0][number];

/** Returns the job of a delivery that may have been sent before PostgreSQL was restored: with `dueAt`, it reads the stream first. */
const lookedUp = ({ scheduled, job }: Scheduling): JobRequest => ({
  ...job,
  payload: { ...job.payload, dueAt: scheduled.delivery.scheduledAt },
});

/** Two, so that a small tenant's deliveries need not wait for a large transaction. */
const WRITERS = 2;
const GROUP_MAX = 500;

/** Most deliveries remembered between the fan-out and the first attempt; each takes a few hundred bytes. */
const REMEMBERED_MAX = 10_000;

/** Most begun deliveries that are remembered until they are swept, and most of them in one statement. `sweepAll` finds the others. */
const BEGUN_MAX = 10_000;
const SWEPT_MAX = 1_000;

/** The columns that identify a count. */
const KEY = 'account_id, mode, endpoint_id, event_type';
/**
 * Deletes counts of deleted endpoints that have no scheduled delivery left. Both rows of a count are locked first, so that a transaction
 * that counts at the same time keeps them, or begins new ones.
 */
const FORGET_COUNTS = `WITH ended AS (
    SELECT ${KEY} FROM operations.scheduled_counts c WHERE endpoint_id <> ''
      AND NOT EXISTS (SELECT FROM operations.webhook_subscriptions s WHERE s.endpoint_id = c.endpoint_id)
    GROUP BY ${KEY} HAVING sum(deliveries) = 0 LIMIT 10000),
  locked AS (SELECT c.* FROM operations.scheduled_counts c JOIN ended USING (${KEY}) FOR UPDATE OF c SKIP LOCKED)
  DELETE FROM operations.scheduled_counts
    WHERE (${KEY}) IN (SELECT ${KEY} FROM locked GROUP BY ${KEY} HAVING sum(deliveries) = 0)`;

/** `jobs` is in the same database. `isShown` returns the SQL condition that the read model shows the delivery of an id. */
export const scheduledDeliveries = (
  db: SqlPool,
  jobs: JobQueue,
  isShown: (id: string) => string,
): ScheduledDeliveries => {
  /** Deliveries that began in this process. */
  const begun = new Set<string>();
  /** Deliveries that this process wrote and has not begun, so that it need not read them. */
  const remembered = boundedCache<DeliveryId, ScheduledDelivery>(REMEMBERED_MAX);
  const write = (deliveries: readonly Scheduling[]): Promise<void> =>
    db.transaction(async (tx) => {
      // A repeat may be in the same group. In one order of ids, two groups with the same deliveries can't deadlock.
      const given = [...new Map(deliveries.map((one) => [one.scheduled.deliveryId, one])).values()];
      const inOrder = given.map(({ scheduled }) => scheduled).sort((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1));
      const { rows } = await tx.query<{ id: string; may_have_begun: boolean }>({
        ...INSERT,
        values: valuesOf(inOrder),
      });
      const written = new Set(rows.map(({ id }) => id));
      const isNew = given.filter(({ scheduled }) => written.has(scheduled.deliveryId));
      // Before the jobs are enqueued: they may begin as soon as the transaction is committed.
      tx.onEnd((isCommitted) => {
        if (isCommitted) for (const { scheduled } of isNew) remembered.set(scheduled.deliveryId, scheduled);
      });
      await jobs.enqueue(rows[0]?.may_have_begun === true ? isNew.map(lookedUp) : isNew.map(({ job }) => job), tx);
    });
  /** Sweeps the oldest. Returns whether the read model shows at least half of them. */
  const sweepPart = async (): Promise<boolean> => {
    const ids = [...begun].slice(0, SWEPT_MAX);
    const { rows } = await db.query<{ id: string }>({
      name: 'sweep_scheduled_deliveries',
      text: `WITH waiting AS (
            SELECT s.id, ${isShown('s.id')} AS is_shown FROM operations.scheduled_deliveries s WHERE s.id = ANY ($1::text[])),
          gone AS (DELETE FROM operations.scheduled_deliveries s USING waiting w WHERE s.id = w.id AND w.is_shown)
        SELECT id FROM waiting WHERE NOT is_shown`,
      values: [new TextArray(ids)],
    });
    for (const id of ids) begun.delete(id);
    // Those become the newest, so that the next part begins with others.
    for (const { id } of rows) begun.add(id);
    return rows.length <= ids.length / 2;
  };
  return {
    // With many tenants, each job schedules few deliveries, and its transaction of four statements cost more than these.
    schedule: groupedWrites(write, { atOnce: WRITERS, itemsMax: GROUP_MAX }),

    find: async (ids) => {
      const known = ids.flatMap((id) => remembered.get(id) ?? []);
      const found = new Map(known.map((scheduled) => [scheduled.deliveryId, scheduled]));
      const unknown = ids.filter((id) => !found.has(id));
      if (unknown.length === 0) return found;
      const { rows } = await db.query<Row>({ ...FIND, values: [new TextArray(unknown)] });
      for (const row of rows) found.set(row.id, fromRow(row));
      return found;
    },

    begun: (id) => {
      remembered.delete(id);
      if (begun.size < BEGUN_MAX) begun.add(id);
    },

    sweep: async () => {
      // While the read model is far behind, each sweep looks at one part only.
      for (let left = begun.size; left > 0; left -= SWEPT_MAX) if (!(await sweepPart())) return;
    },

    sweepAll: async () => {
      await db.query(`DELETE FROM operations.scheduled_deliveries s WHERE ${isShown('s.id')}`);
      await db.query(FORGET_COUNTS);
    },
  };
};
