// The schema for analysts, and their grants for accounts. Read models create the views, because a rebuild replaces their tables
// (projections/engine/publishedViews.ts). Losing the grants costs only the analysts' access.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    CREATE SCHEMA analytics;
    COMMENT ON SCHEMA analytics IS
      'Views for analysts. Names, types and meanings are stable. Amounts are in minor units (..._minor) and in units of the currency.';

    -- No analyst may read this schema. The views of 'analytics' read it with the rights of their owner.
    CREATE SCHEMA analytics_access;
    CREATE TABLE analytics_access.grants (
      role text COLLATE "C" PRIMARY KEY,
      -- null: all accounts
      account_id text COLLATE "C",
      granted_at timestamptz NOT NULL,
      granted_by text NOT NULL
    );
    -- What the caller may see. session_user can't be changed by SET ROLE. A role without a grant sees nothing, except members of the owner.
    CREATE VIEW analytics_access.caller AS
      SELECT g.account_id,
        (g.role IS NOT NULL AND g.account_id IS NULL) OR pg_has_role(session_user, c.relowner, 'USAGE') AS sees_all
      FROM pg_catalog.pg_class c LEFT JOIN analytics_access.grants g ON g.role = session_user
      WHERE c.oid = 'analytics_access.grants'::regclass;`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
