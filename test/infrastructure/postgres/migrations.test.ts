// Migrations only go forward: a migration that has run on a database never changes (rule S4).
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { BEFORE_RELEASE, isContracting, loadMigration, MIGRATIONS } from '../../../infrastructure/postgres/migrate.ts';

/** Older migrations belong to builds that never ran beside another one. */
const BEFORE_CONTRACTS = '0025_open_fan_outs';
/** Statements that may break an older version of the program. */
const CONTRACTS =
  /\bDROP (TABLE|COLUMN|SCHEMA|FUNCTION|VIEW|TYPE)\b|\bRENAME\b|\bSET NOT NULL\b|\bALTER (COLUMN )?\w+ TYPE\b/i;

describe('the migrations', () => {
  /** Returns the statements of a migration, without comments and layout. */
  const statementsOf = async (name: string): Promise<string> => {
    const texts: string[] = [];
    const recorder = { raw: async (text: string) => texts.push(text) };
    await (await loadMigration(name)).up(recorder as unknown as Knex);
    return texts.join('\n').replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim();
  };
  const HASHES: { readonly [name: string]: string } = {
    '0001_event_log': '53c8fd0ba09780d8',
    '0002_subscriptions': 'a3877e05a42402d2',
    '0003_operations': '1b24b9d03c2962ae',
    '0004_sandbox_provider': 'd43a5c46db935da4',
    '0005_access': 'a318fffedca6956f',
    '0006_account_settings': 'a0d71e0734ffe34b',
    '0007_requests': '93515d00f73ba64b',
    '0008_webhook_retention': 'c9f4e423bf336c74',
    '0009_leases': '6ad96250faa9f0b9',
    '0010_evidence_grants': '2b3cd01a9a97c3ec',
    '0011_request_log_indexes': 'c3bfb7f1e3e76ed6',
    '0012_second_factors': '2fcb946f83617a53',
    '0013_sandbox_disputes': '52c5e13a2a784071',
    '0014_checkpoint_events': 'baea26d40bb9265a',
    '0015_delivery_state': 'f3830325b73a0f1a',
    '0016_delivery_streams': 'f1cef542ff5e2e4a',
    '0017_payouts': '251c2b10b88a921c',
    '0018_provider_connections': '01ec625b88c59dce',
    '0019_provider_callbacks': '7df07b5d1e962a75',
    '0020_reconciliation_findings': 'b062656b37c29986',
    '0021_audit_log': '10252998810a5131',
    '0022_analytics': 'a83703cf2c60b3cc',
    '0023_data_keys': 'e1606aa79299c845',
    '0024_retention': '4dd9dfd3510d1c00',
    '0025_open_fan_outs': '00b3aff3a32ae363',
    '0026_hourly_totals': '4ca93b09d57f193b',
    '0027_provider_lists': 'd67e7b3278698cbf',
    '0028_restores': 'd7af8378ae52a1d2',
    '0029_payout_totals': '86bd99bc95e2d1a3',
    '0030_old_rows': 'f852bf55f5ab3d2b',
    '0031_storage': '7b532596ad8bd3d1',
    '0032_shared_roles': 'beb8387c82be1f34',
    '0033_request_log_changes': '8b55d7051f457d3b',
    '0034_partitions': '1e3ddc5708911dc0',
    '0035_reconciled_days': '51608d28ccd24947',
    '0036_announcements': '95da86f9a76be2df',
    '0037_limits_by_index': 'ae6467f876e0e56d',
    '0038_group_firings': '1ee21b4d3f391874',
    '0039_fired_groups': '41889071ef8c968f',
    '0040_places_of_requests': 'cab0af28c07f6b1c',
  };

  for (const name of MIGRATIONS)
    it(`${name} is unchanged: write a new migration, or before the release rename it and list the old name`, async () => {
      expect(
        createHash('sha256')
          .update(await statementsOf(name))
          .digest('hex')
          .slice(0, 16),
      ).to.equal(HASHES[name]);
    });
  it('only add to the schema unless marked as contracting, so that an older version can still run (expand and contract)', async () => {
    const changing = [];
    for (const name of MIGRATIONS.filter((each) => each > BEFORE_CONTRACTS && !isContracting(each)))
      changing.push(
        ...(CONTRACTS.exec(await statementsOf(name)) ?? []).slice(0, 1).map((found) => `${name}: ${found}`),
      );
    expect(changing).to.deep.equal([]);
  });
  it('count as contracting if they remove, rename or restrict', () => {
    for (const text of [
      'DROP TABLE a.b',
      'ALTER TABLE a DROP COLUMN b',
      'ALTER TABLE a RENAME b TO c',
      'drop schema a cascade',
    ])
      expect(text).to.match(CONTRACTS);
    for (const text of [
      'ALTER TABLE a ALTER COLUMN b TYPE bigint',
      'ALTER TABLE a ALTER b SET NOT NULL',
      'DROP FUNCTION f()',
    ])
      expect(text).to.match(CONTRACTS);
    for (const text of ['ALTER TABLE a ADD COLUMN b text', 'DROP INDEX a', 'CREATE TABLE a (b text NOT NULL)'])
      expect(text).to.not.match(CONTRACTS);
  });
  it('don’t use names of builds before the first release', () => {
    expect(BEFORE_RELEASE.filter((name) => MIGRATIONS.includes(name))).to.deep.equal([]);
  });
});
