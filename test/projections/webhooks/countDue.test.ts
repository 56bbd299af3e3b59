// The number of due deliveries includes endpoints whose deliveries are being released.
import { expect } from 'chai';
import type { Mode } from '../../../domain/kernel/ids.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { bringTimersForward, fireNextPage } from '../../../infrastructure/timers/groupFiring.ts';
import { liveSchema } from '../../../projections/engine/projection.ts';
import { createSchema } from '../../../projections/engine/schemaVersions.ts';
import { webhookDeliveriesProjection } from '../../../projections/webhooks/projection.ts';
import { deliveryReads } from '../../../projections/webhooks/queries.ts';
import { ACCOUNT_ID, CREATED_AT } from '../../support/samples.ts';
import { useDatabase } from '../../world/postgres.ts';

describe('the number of due deliveries', () => {
  let db: PgPool;
  useDatabase('test', 1, (opened) => {
    db = opened;
  });

  it('includes an endpoint whose held deliveries are being released, until all are due', async () => {
    await createSchema(db, webhookDeliveriesProjection, liveSchema(webhookDeliveriesProjection.name));
    await db.query(
      `INSERT INTO operations.timers (kind, key, payload, account_id, mode, group_id, due_at, held)
       SELECT 'deliver', 'd' || n, '{}', $1, 'test', 'endpoint', $2::timestamptz + n * interval '1 minute', true
       FROM generate_series(1, 600) n`,
      [ACCOUNT_ID, CREATED_AT],
    );
    const count = (mode: Mode) => deliveryReads(db).countDue({ accountId: ACCOUNT_ID, mode }, CREATED_AT, []);
    expect(await count('test')).to.deep.equal({ due: 0, held: 600 });
    await bringTimersForward(db, { kind: 'deliver', group: 'endpoint' }, CREATED_AT);
    expect(await count('test')).to.deep.equal({ due: 501, held: 100 });
    expect(await count('live')).to.deep.equal({ due: 0, held: 0 });
    await fireNextPage(db);
    expect(await count('test')).to.deep.equal({ due: 600, held: 0 });
  });
});
