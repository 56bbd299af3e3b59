// Each table has its own vacuum settings, independent of the server's (migration 0031).
import { expect } from 'chai';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { createSchema } from '../../../projections/engine/schemaVersions.ts';
import { PROJECTIONS } from '../../../projections/registry.ts';
import { useDatabase } from '../../world/postgres.ts';

const USUAL = [
  'autovacuum_analyze_scale_factor=0.5',
  'autovacuum_vacuum_insert_scale_factor=0.05',
  'autovacuum_vacuum_scale_factor=0.05',
];
const OF_THE_LOG = [
  'autovacuum_analyze_scale_factor=0.5',
  'autovacuum_freeze_min_age=0',
  'autovacuum_vacuum_insert_scale_factor=0',
  'autovacuum_vacuum_insert_threshold=500000',
  'autovacuum_vacuum_scale_factor=0.02',
];

describe('the vacuum settings of tables', () => {
  let db: PgPool;
  useDatabase('suite', 2, (opened) => {
    db = opened;
  });

  /**
   * Returns the tables with other settings. Partitions of the request log are excluded, because they only grow and are dropped as a whole.
   */
  const others = async (which: string, settings: readonly string[]): Promise<readonly string[]> => {
    const { rows } = await db.query<{ name: string }>(
      `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE c.relkind = 'r' AND c.relname !~ '^request_log_' AND ${which} AND $1::text[] IS DISTINCT FROM
         ARRAY(SELECT o FROM unnest(c.reloptions) o WHERE o LIKE 'autovacuum%' ORDER BY o COLLATE "C") ORDER BY 1`,
      [settings],
    );
    return rows.map(({ name }) => name);
  };
  const OWN = "n.nspname IN ('event_store', 'subscriptions', 'operations', 'sandbox_bank', 'audit', 'privacy')";

  it('are the same for all tables except the event log', async () => {
    expect(await others(OWN, USUAL)).to.deep.equal(['event_store.events']);
    expect(await others("c.oid = 'event_store.events'::regclass", OF_THE_LOG)).to.deep.equal([]);
  });

  it('are set for each new read model', async () => {
    for (const projection of PROJECTIONS) await createSchema(db, projection, `rm_${projection.name.toLowerCase()}`);
    const { rows } = await db.query<{ count: number }>("SELECT count(*) FROM pg_tables WHERE schemaname ~ '^rm_'");
    expect(rows[0]?.count).to.be.above(PROJECTIONS.length);
    expect(await others("n.nspname ~ '^rm_'", USUAL)).to.deep.equal([]);
  });

  it('stay as an operator has changed them', async () => {
    await db.query('ALTER TABLE operations.timers SET (autovacuum_vacuum_scale_factor = 0.2)');
    await db.query("SELECT operations.set_storage('operations'), operations.set_storage('operations')");
    expect(await others(OWN, USUAL)).to.deep.equal(['event_store.events', 'operations.timers']);
  });
});
