// An analyst can read only the views of its accounts, whatever it tries, and can't block the gateway (rules N1–N4, ADR 0016).
import { expect } from 'chai';
import pg from 'pg';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { analysts } from '../../../infrastructure/analytics/analysts.ts';
import { endLongReads } from '../../../projections/engine/publishedViews.ts';
import { ANALYST_VIEWS, PROJECTIONS } from '../../../projections/registry.ts';
import { runWords } from '../../support/cli.ts';
import { startedDatabase, TestGateway, type TestTenant } from '../../world/gateway.ts';
import { pollUntil } from '../../world/pollUntil.ts';
import type { TestDatabase } from '../../world/postgres.ts';

interface Granted {
  readonly role: string;
  readonly isNew: boolean;
  readonly address: string;
  readonly password: string;
  readonly gaps: readonly string[];
}

const SUFFIX = process.pid;
const [ONE, ALL] = [`one_${SUFFIX}`, `all_${SUFFIX}`];

describe('analysts', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  let other: TestTenant;
  const open: pg.Client[] = [];
  const passwords = new Map<string, string>();

  const run = <T = Record<string, unknown>>(...words: string[]) => runWords<T>(database.connectionString, ...words);
  const grant = async (role: string, ...words: string[]): Promise<Granted> => {
    const { json, err } = await run<Granted>('analytics', 'grant', role, ...words, '--json');
    if (json === undefined) throw new Error(err);
    passwords.set(role, json.password);
    return json;
  };
  const connectAs = async (role: string): Promise<pg.Client> => {
    const url = new URL(database.connectionString);
    url.username = role;
    url.password = passwords.get(role) as string;
    const client = new pg.Client({ connectionString: url.href });
    client.on('error', () => undefined);
    await client.connect();
    open.push(client);
    return client;
  };
  const refusal = (client: pg.Client, text: string): Promise<string> =>
    client.query(text).then(
      ({ rows }) => `answered ${JSON.stringify(rows)}`,
      (error: Error) => error.message,
    );
  const restrain = () => gateway.gateway.needs.analysts.restrain();

  before(async () => {
    database = await startedDatabase();
    // The schedule is off, so that each test restrains analysts when it needs to.
    gateway = await TestGateway.open({ database, startSchedule: () => async () => undefined });
    other = await gateway.newTenant();
    for (const key of [gateway.tenant.testKey, other.testKey, other.testKey]) {
      const charge = {
        amount: 10_000,
        payment_method: 'pix',
        customer: { name: 'Ana Souza', document: '529.982.247-25' },
      };
      const { body } = await gateway.post<{ id: string }>('/v1/charges', charge, {
        key,
        idempotencyKey: Math.random().toString(),
      });
      await gateway.post(`/v1/sandbox/charges/${body.id}/pay`, {}, { key });
    }
    await gateway.untilProjected();
    await grant(ONE, '--account', ACCOUNT.idPrefix + gateway.tenant.accountId);
    await grant(ALL);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((client) => client.end().catch(() => undefined)));
  });
  after(async () => {
    for (const role of [ONE, ALL]) await run('analytics', 'revoke', role);
    await gateway.close();
    await database.drop();
  });

  it('of one account see only its rows in every view; those of all accounts see all rows', async () => {
    const [one, all] = [await connectAs(ONE), await connectAs(ALL)];
    const accountsIn = async (client: pg.Client, view: string) =>
      (await client.query(`SELECT DISTINCT account_id AS id FROM ${view} ORDER BY 1`)).rows.map(
        ({ id }) => id as string,
      );
    const everyone = [gateway.tenant.accountId, other.accountId].sort();
    for (const view of ['payments', 'funnel_by_day', 'sales_by_day', 'fees', 'ledger_postings', 'daily_balances']) {
      expect(await accountsIn(one, view), view).to.deep.equal([gateway.tenant.accountId]);
      expect(await accountsIn(all, view), view).to.deep.equal(everyone);
    }
    for (const { name } of ANALYST_VIEWS) expect(await accountsIn(one, name), name).to.not.include(other.accountId);
    const count = async (client: pg.Client) =>
      Number((await client.query('SELECT count(*) FROM analytics.payments')).rows[0]?.count);
    expect([await count(one), await count(all)]).to.deep.equal([1, 3]);
  });

  it('see the amounts of the payment, its fees and the ledger exactly', async () => {
    const one = await connectAs(ONE);
    const [payment] = (
      await one.query(`SELECT status, amount_minor, amount, net_minor, net, provider_fee_minor, platform_fee_minor,
      refunded_minor, paid_with FROM payments`)
    ).rows;
    expect(payment).to.deep.equal({
      status: 'paid',
      amount_minor: '10000',
      amount: '100.00',
      net_minor: '9890',
      net: '98.90',
      provider_fee_minor: '10',
      platform_fee_minor: '100',
      refunded_minor: '0',
      paid_with: 'PIX',
    });
    expect((await one.query('SELECT kind, merchant_fee_minor, merchant_fee FROM fees')).rows).to.deep.equal([
      { kind: 'payment', merchant_fee_minor: '110', merchant_fee: '1.10' },
    ]);
    const balances = await one.query(
      'SELECT ledger_account, opening_minor, closing_minor, valid_until FROM daily_balances ORDER BY 1',
    );
    expect(balances.rows).to.deep.equal([
      { ledger_account: 'merchant_available', opening_minor: '0', closing_minor: '9890', valid_until: null },
      { ledger_account: 'platform_fees', opening_minor: '0', closing_minor: '100', valid_until: null },
      { ledger_account: 'provider_clearing', opening_minor: '0', closing_minor: '-10000', valid_until: null },
      { ledger_account: 'provider_fees', opening_minor: '0', closing_minor: '10', valid_until: null },
    ]);
    const [funnel] = (await one.query('SELECT created, paid, paid_in_5_minutes, kept, waiting FROM funnel_by_day'))
      .rows;
    expect(funnel).to.deep.equal({ created: '1', paid: '1', paid_in_5_minutes: '1', kept: '1', waiting: '0' });
  });

  it('see sums that equal the sums of the detail rows', async () => {
    const all = await connectAs(ALL);
    const pairs: readonly (readonly [sums: string, rows: string])[] = [
      [
        `SELECT account_id, day, currency, methods, created, paid, created_amount_minor, refunded_amount_minor, waiting + processing
          + kept + failed + cancelled + expired + refunded + disputed FROM funnel_by_day`,
        `SELECT account_id, created_day, currency, methods, count(*), count(paid_at), sum(amount_minor), sum(refunded_minor), count(*)
          FROM payments GROUP BY 1, 2, 3, 4`,
      ],
      [
        'SELECT account_id, day, currency, method, payments, amount, provider_fee, platform_fee, net_minor FROM sales_by_day',
        `SELECT account_id, paid_day, currency, paid_with, count(*), sum(amount), sum(provider_fee), sum(platform_fee), sum(net_minor)
          FROM payments WHERE paid_at IS NOT NULL GROUP BY 1, 2, 3, 4`,
      ],
      [
        'SELECT account_id, day, currency, ledger_account, credits - debits, postings FROM daily_balances',
        `SELECT account_id, posted_day, currency, ledger_account, sum(amount), count(*) FROM ledger_postings GROUP BY 1, 2, 3, 4`,
      ],
      [
        `SELECT payment_id, provider_fee, platform_fee, merchant_fee FROM fees WHERE kind = 'payment'`,
        'SELECT payment_id, provider_fee, platform_fee, amount - net FROM payments WHERE paid_at IS NOT NULL',
      ],
    ];
    for (const [sums, rows] of pairs) {
      expect((await all.query(`(${sums}) EXCEPT (${rows})`)).rows, sums).to.deep.equal([]);
      expect((await all.query(`(${rows}) EXCEPT (${sums})`)).rows, rows).to.deep.equal([]);
      expect((await all.query(sums)).rows.length, sums).to.be.above(0);
    }
  });

  describe('that are hostile', () => {
    it('can’t read other schemas or change anything', async () => {
      const one = await connectAs(ONE);
      await one.query('SET default_transaction_read_only = off');
      const attempts: readonly (readonly [string, RegExp])[] = [
        ['SELECT * FROM rm_payments.payments', /permission denied for schema rm_payments/],
        ['SELECT * FROM event_store.events', /permission denied for schema event_store/],
        ['SELECT * FROM operations.timers', /permission denied for schema operations/],
        ['SELECT * FROM analytics_access.grants', /permission denied for schema analytics_access/],
        ['SELECT * FROM analytics_access.caller', /permission denied for schema analytics_access/],
        ['SELECT * FROM public.schema_migrations', /permission denied/],
        [`UPDATE analytics.payments SET account_id = 'x'`, /cannot update view|permission denied for view payments/],
        ['DELETE FROM analytics.refunds', /cannot delete from view|permission denied for view refunds/],
        ['DO $$ BEGIN LOCK TABLE analytics.payments IN ACCESS EXCLUSIVE MODE; END $$', /permission denied/],
        ['CREATE TABLE analytics.mine (a int)', /permission denied for schema analytics/],
        ['CREATE TABLE public.mine (a int)', /permission denied for schema public/],
        ['CREATE TEMP TABLE mine (a int)', /permission denied to create temporary tables/],
        [
          `CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE sql AS 'SELECT true'`,
          /permission denied to create temporary tables/,
        ],
        ['CREATE SCHEMA mine', /permission denied for database/],
        [`ALTER VIEW analytics.payments SET (security_barrier = false)`, /must be owner of view payments/],
        [`ALTER ROLE ${ONE} CONNECTION LIMIT 100`, /permission denied to alter role/],
        ['CREATE ROLE mine', /permission denied to create role/],
        [`SET ROLE ${ALL}`, /permission denied to set role/],
        ['SET ROLE quita', /permission denied to set role/],
        [`SET SESSION AUTHORIZATION ${ALL}`, /permission denied to set session authorization/],
        [
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'quita'`,
          /permission denied to terminate process/,
        ],
        [`SELECT pg_read_file('/etc/passwd')`, /permission denied for function pg_read_file/],
        [`COPY (SELECT 1) TO '/tmp/x'`, /permission denied to COPY to a file/],
        [`COPY (SELECT 1) TO PROGRAM 'id'`, /permission denied to COPY to or from an external program/],
        ['CREATE EXTENSION dblink', /permission denied|is not available/],
        ['SET temp_file_limit = -1', /permission denied to set parameter "temp_file_limit"/],
        ['SELECT event_store.append_events(NULL)', /permission denied for schema event_store/],
      ];
      for (const [text, expected] of attempts) expect(await refusal(one, text), text).to.match(expected);
    });

    it('learn nothing about other accounts through functions, operators, errors or catalogs', async () => {
      const one = await connectAs(ONE);
      const notices: string[] = [];
      one.on('notice', ({ message }) => notices.push(message ?? ''));
      const theirs = other.accountId;
      // An error in a condition would reveal rows that the view hides.
      const leaks = [
        `SELECT count(*) FROM payments WHERE 1 / (CASE WHEN account_id = '${theirs}' THEN 0 ELSE 1 END) = 1`,
        `SELECT count(*) FROM payments WHERE CAST(CASE WHEN account_id = '${theirs}' THEN payment_id ELSE '1' END AS integer) = 1`,
        `SELECT count(*) FROM payments WHERE substring(account_id FROM '[') IS NULL AND false`,
        `SELECT count(*) FROM daily_balances WHERE 1 / (CASE WHEN account_id = '${theirs}' THEN 0 ELSE 1 END) = 1`,
        `SELECT count(*) FROM refunds WHERE 1 / (CASE WHEN account_id = '${theirs}' THEN 0 ELSE 1 END) = 1`,
      ];
      for (const text of leaks) expect(await refusal(one, text), text).to.match(/^answered|invalid regular expression/);
      expect(notices.join()).to.not.contain(theirs);
      const seen = JSON.stringify([
        (await one.query('SELECT * FROM pg_stats')).rows,
        (await one.query('SELECT query FROM pg_stat_activity WHERE usename <> session_user')).rows,
        (await one.query(`SELECT * FROM pg_catalog.pg_shdescription`)).rows,
      ]);
      expect(seen).to.not.contain(theirs);
      expect(await refusal(one, 'SELECT rolpassword FROM pg_authid')).to.match(/permission denied for table pg_authid/);
    });

    it('lose their sessions after the time limit, whatever timeouts they set', async () => {
      const one = await connectAs(ONE);
      const ended = new Promise<void>((resolve) => one.once('end', () => resolve()));
      await one.query(
        'SET statement_timeout = 0; SET transaction_timeout = 0; SET idle_in_transaction_session_timeout = 0',
      );
      await one.query('BEGIN');
      await one.query('SELECT * FROM payments');
      expect(await restrain()).to.deep.equal([]);
      expect(await analysts(gateway.storage.operations, false, 0).restrain()).to.deep.equal([
        { role: ONE, why: 'too_long' },
      ]);
      await ended;
      const idle = await connectAs(ONE);
      expect(await analysts(gateway.storage.operations, false, 0).restrain()).to.deep.equal([]);
      expect((await idle.query('SELECT 1 AS one')).rows).to.deep.equal([{ one: 1 }]);
    });

    it('lose their session at once if they hold the lock of the event log, so that charges continue', async () => {
      const one = await connectAs(ONE);
      const ended = new Promise<void>((resolve) => one.once('end', () => resolve()));
      await one.query('SELECT pg_advisory_lock(5860930411590117)');
      const charge = gateway.post(
        '/v1/charges',
        { amount: 100, payment_method: 'pix' },
        { idempotencyKey: 'held-up-by-an-analyst' },
      );
      const isHeldUp = async () =>
        (await gateway.storage.reads.query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`))
          .rowCount > 0
          ? true
          : null;
      expect(await pollUntil(gateway.gateway.projected, 10_000, isHeldUp)).to.equal(true);
      expect(await restrain()).to.deep.equal([{ role: ONE, why: 'advisory_lock' }]);
      await ended;
      expect((await charge).status).to.equal(201);
    });

    it('can open at most three sessions', async () => {
      for (let n = 0; n < 3; n++) await connectAs(ONE);
      const fourth = await connectAs(ONE).catch((error: Error) => error.message);
      expect(fourth).to.match(/too many connections for role/);
    });
  });

  it('have low limits for time and memory, run no parallel workers, and are read-only by default', async () => {
    const one = await connectAs(ONE);
    const settings: Record<string, string> = {};
    for (const name of [
      'statement_timeout',
      'transaction_timeout',
      'idle_in_transaction_session_timeout',
      'work_mem',
      'temp_file_limit',
      'max_parallel_workers_per_gather',
      'default_transaction_read_only',
      'search_path',
    ])
      settings[name] = (await one.query(`SHOW ${name}`)).rows[0]?.[name] as string;
    expect(settings).to.deep.equal({
      statement_timeout: '30s',
      transaction_timeout: '40s',
      idle_in_transaction_session_timeout: '10s',
      work_mem: '16MB',
      temp_file_limit: '1GB',
      max_parallel_workers_per_gather: '0',
      default_transaction_read_only: 'on',
      search_path: 'analytics',
    });
  });

  it('keep their access when a read model is rebuilt', async () => {
    const one = await connectAs(ONE);
    const before = (await one.query('SELECT * FROM payments ORDER BY payment_id')).rows;
    expect((await run('projections', 'rebuild', 'payments')).code).to.equal(0);
    expect((await one.query('SELECT * FROM payments ORDER BY payment_id')).rows).to.deep.equal(before);
  });

  describe('when granted', () => {
    it('again for the same account get a new password, and are rejected for another account', async () => {
      const account = ACCOUNT.idPrefix + gateway.tenant.accountId;
      const before = passwords.get(ONE);
      const again = await grant(ONE, '--account', account);
      expect([again.isNew, again.password === before]).to.deep.equal([false, false]);
      await connectAs(ONE);
      for (const words of [[], ['--account', ACCOUNT.idPrefix + other.accountId]]) {
        const { code, err } = await run('analytics', 'grant', ONE, ...words);
        expect([code, err.trim().split('\n').at(-1)]).to.deep.equal([
          2,
          `quita: ${ONE} is granted for another account. Revoke that grant first.`,
        ]);
      }
      await connectAs(ONE);
    });

    it('need a free name without quotes and an existing account', async () => {
      const nobody = `${ACCOUNT.idPrefix}00000000000000000000000000`;
      for (const [words, message] of [
        [['Ana'], /The role must have 1 to 63 lower-case letters/],
        [['pg_reader'], /not start with pg_/],
        [['a"; DROP ROLE quita; --'], /The role must have/],
        [['quita'], /The database has a role quita that is no analyst/],
        ...['user', 'current_user', 'none', 'public'].map((word) => [[word], /SQL reserves the name/] as const),
        [['new_one', '--account', nobody], /There is no such account/],
        [['new_one', '--password-file', '/nowhere'], /can't be read \(ENOENT\)/],
      ] as const) {
        const { code, err } = await run('analytics', 'grant', ...words);
        expect(err, words.join(' ')).to.match(message);
        expect(code).to.equal(2);
      }
    });

    it('are listed with their sessions', async () => {
      await connectAs(ONE);
      const { json } = await run<{ analysts: readonly object[] }>('analytics', 'list', '--json');
      expect(json.analysts.map((one) => ({ ...one, grantedAt: '', grantedBy: '' }))).to.deep.equal([
        { role: ALL, accountId: null, sessions: 0, grantedAt: '', grantedBy: '' },
        {
          role: ONE,
          accountId: ACCOUNT.idPrefix + gateway.tenant.accountId,
          sessions: 1,
          grantedAt: '',
          grantedBy: '',
        },
      ]);
    });

    it('lose access and sessions once revoked', async () => {
      const role = `gone_${SUFFIX}`;
      await grant(role);
      const client = await connectAs(role);
      const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
      expect((await run('analytics', 'revoke', role)).code).to.equal(0);
      await ended;
      expect(await connectAs(role).catch((error: Error) => error.message)).to.match(/password authentication failed/);
      expect((await run('analytics', 'revoke', role)).err).to.match(/There is no analyst with this name/);
    });
  });

  it('lose long reads of a table when it is swapped; other sessions stay open', async () => {
    const session = new pg.Client({ connectionString: database.connectionString });
    await session.connect();
    open.push(session);
    const [reads, readsOther, owner] = [await connectAs(ALL), await connectAs(ONE), session];
    for (const [client, table] of [
      [reads, 'payments'],
      [readsOther, 'ledger_postings'],
      [owner, 'rm_payments.payments'],
    ] as const)
      await client.query(`BEGIN; SELECT count(*) FROM ${table}`);
    const isOpen = (client: pg.Client) =>
      client.query('SELECT 1').then(
        () => true,
        () => false,
      );
    const stillOpen = async () => [await isOpen(reads), await isOpen(readsOther), await isOpen(owner)];
    const payments = PROJECTIONS.find(({ name }) => name === 'payments') as (typeof PROJECTIONS)[number];
    await endLongReads(gateway.storage.operations, payments, 60);
    expect(await stillOpen(), 'all have just begun').to.deep.equal([true, true, true]);
    const ended = new Promise<void>((resolve) => reads.on('end', resolve));
    await endLongReads(gateway.storage.operations, payments, 0);
    await ended;
    expect(await stillOpen()).to.deep.equal([false, true, true]);
  });
});
