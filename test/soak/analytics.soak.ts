// The queries of the analysts’ guide at 1,000,000 payments: each takes less than a second, for an analyst of all accounts and for one of a
// single account (`npm run soak -- analytics`; PAYMENTS changes the number). Also POST /v1/charges on the embedded database beside runaway
// queries.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import type { AccountId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { analysts } from '../../infrastructure/analytics/analysts.ts';
import { connectionConfig, PgPool, PgSession } from '../../infrastructure/postgres/session.ts';
import { liveSchema } from '../../projections/engine/projection.ts';
import { publish } from '../../projections/engine/publishedViews.ts';
import { createSchema } from '../../projections/engine/schemaVersions.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { cpuMsOf } from '../bench/cpu.ts';
import { GatewayUnderTest } from '../bench/gatewayUnderTest.ts';
import { LoadGenerator } from '../bench/load.ts';
import { HISTORY_ACCOUNT, paymentHistory } from '../bench/paymentHistory.ts';
import { median } from '../bench/statistics.ts';
import { migratedDatabase, type TestDatabase } from '../world/postgres.ts';

const PAYMENTS = Number(process.env['PAYMENTS'] ?? 1_000_000);
const BATCH = 1_500;
const UNTIL = '2030-01-31T23:00:00.000Z' as Timestamp;
const MONTH = `BETWEEN '2030-01-01' AND '2030-01-31'`;
const YEAR = ['2029-02-01', '2030-01-31'] as const;
const MS_MAX = 1_000;
const PASSWORD = 'a-password-of-a-soak';

const QUESTIONS = [
  ...readFileSync(new URL('../../docs/guides/analytics.md', import.meta.url), 'utf8').matchAll(
    /^### (\d+\. .*)\n[\s\S]*?^```sql\n([\s\S]*?)^```/gm,
  ),
].flatMap(([, name = '', sql = '']) => {
  const ofYear = sql.replaceAll(MONTH, `BETWEEN '${YEAR[0]}' AND '${YEAR[1]}'`);
  const readsEachPayment = sql.includes('analytics.payments');
  return [
    { name, sql },
    ...(readsEachPayment || ofYear === sql ? [] : [{ name: `${name} (the whole year)`, sql: ofYear }]),
  ];
});

/** Fills the other read models: two deliveries per payment, a refund for every 50th, a dispute for every 200th, and payouts. */
const OTHERS = `
  INSERT INTO rm_webhook_deliveries.deliveries (id, account_id, mode, revision, recorded_on, of_revision, resend, form, attempts,
      last_status_code, scheduled_at, updated_at, status, of_stream, payment_id, event_type, endpoint_id)
    SELECT p.id || e.n, p.account_id, p.mode, 0, p.created_at::date, 0, 0, 1, 1, 200, p.created_at, p.created_at + interval '1 second',
      CASE WHEN hashtext(p.id) % 100 = 0 THEN 'FAILED' ELSE 'DELIVERED' END, 'payment-' || p.id, p.id, e.type, 'endpoint'
    FROM rm_payments.payments p, (VALUES (1, 'charge.created'), (2, 'charge.paid')) AS e(n, type);
  INSERT INTO rm_refunds.refunds (id, account_id, mode, revision, state, payment_id, status)
    SELECT p.id, p.account_id, p.mode, 1, json_build_object('status', 'completed', 'requestedAt', p.paid_at, 'completedAt', p.paid_at,
        'order', json_build_object('amount', p.amount, 'currency', p.currency, 'method', p.paid_with, 'strategy', 'cashout')),
      p.id, 'completed'
    FROM rm_payments.payments p WHERE p.paid_at IS NOT NULL AND hashtext(p.id) % 50 = 0;
  INSERT INTO rm_disputes.cases (id, account_id, mode, revision, state, payment_id, type, status, created_at)
    SELECT p.id, p.account_id, p.mode, 1, json_build_object('status', 'open', 'held', p.amount,
        'terms', json_build_object('amount', p.amount, 'currency', p.currency)), p.id, 'med', 'open', p.paid_at
    FROM rm_payments.payments p WHERE p.paid_at IS NOT NULL AND hashtext(p.id) % 200 = 0;
  INSERT INTO rm_payouts.requested (id, account_id, mode, revision, state, status, created_at)
    SELECT p.id, p.account_id, p.mode, 1, json_build_object('status', 'paid', 'paidAt', p.paid_at,
        'terms', json_build_object('amount', p.amount, 'fee', 50, 'currency', p.currency)), 'paid', p.paid_at
    FROM rm_payments.payments p WHERE p.paid_at IS NOT NULL AND hashtext(p.id) % 200 = 1;`;

describe('the queries of the analysts’ guide', () => {
  let database: TestDatabase;
  let pool: PgPool;
  const roles: readonly (readonly [string, AccountId | null])[] = [
    [`soak_all_${process.pid}`, null],
    [`soak_one_${process.pid}`, HISTORY_ACCOUNT],
  ];
  before(async () => {
    database = await migratedDatabase();
    const config = connectionConfig(database.connectionString, 'soak');
    pool = new PgPool(config, 2, () => undefined);
    const session = await PgSession.open({ ...config, statement_timeout: 0 });
    for (const projection of PROJECTIONS) {
      await createSchema(session, projection, liveSchema(projection.name));
      await publish(session, projection);
    }
    const writers = PROJECTIONS.filter(({ name }) => ['payments', 'wallet', 'dailyBalances'].includes(name)).map(
      (one) => one.writer(liveSchema(one.name)),
    );
    for (const batch of paymentHistory(PAYMENTS, UNTIL, BATCH))
      await session.transaction(async (tx) => {
        for (const writer of writers) await writer.apply(batch, tx);
      });
    await session.query(OTHERS);
    await session.query('VACUUM ANALYZE');
    await session.close();
    const by = { actor: 'operator:soak', at: UNTIL };
    for (const [role, accountId] of roles) await analysts(pool, false).grant(role, accountId, PASSWORD, by);
  });
  after(async () => {
    for (const [role] of roles) await analysts(pool, false).revoke(role);
    await pool.close();
    await database.drop();
  });

  for (const [n, who] of ['of all accounts', 'of one account'].entries())
    it(`take at most ${MS_MAX} ms each for an analyst ${who}`, async () => {
      const [role] = roles[n] as (typeof roles)[number];
      const url = Object.assign(new URL(database.connectionString), { username: role, password: PASSWORD });
      const analyst = new pg.Client({ connectionString: url.href });
      await analyst.connect();
      // The session’s backend process. On a busy machine, its CPU time is more reliable than elapsed time.
      const { pid } = (await analyst.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0] as {
        pid: number;
      };
      const slow: string[] = [];
      for (const { name, sql } of QUESTIONS) {
        const times: number[] = [];
        const cpuTimes: number[] = [];
        for (let round = 0; round < 4; round++) {
          const [beganAt, cpuBefore] = [performance.now(), await cpuMsOf(pid)];
          await analyst.query(sql);
          times.push(performance.now() - beganAt);
          cpuTimes.push((await cpuMsOf(pid)) - cpuBefore);
        }
        const [ms, cpu] = [median(times.slice(1)), median(cpuTimes.slice(1))];
        console.log(`${String(Math.round(ms)).padStart(6)} ms  ${String(cpu).padStart(6)} ms of CPU  ${name}`);
        if (Math.min(ms, cpu || ms) > MS_MAX) {
          const plan = await analyst.query({ text: `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) ${sql}`, rowMode: 'array' });
          slow.push(`${name}: ${Math.round(ms)} ms`);
          if (process.env['PLANS']) console.log(plan.rows.join('\n'));
        }
      }
      await analyst.end();
      expect(slow).to.deep.equal([]);
    });
});

describe('an analyst’s runaway queries', () => {
  it('slow down POST /v1/charges by less than a quarter', async () => {
    const gateway = await GatewayUnderTest.start();
    const { address, password } = await gateway.cli<{ address: string; password: string }>(
      'analytics',
      'grant',
      'runaway',
    );
    const generator = new LoadGenerator();
    const run = (durationMs: number) => {
      const { port, apiKey } = gateway;
      return generator.run({ port, apiKeys: [apiKey], connections: 32, durationMs, perSecond: null });
    };
    const rates: { alone: number[]; beside: number[] } = { alone: [], beside: [] };
    await run(5_000);
    for (let round = 0; round < 4; round++) {
      rates.alone.push((await run(5_000)).perSecond);
      const sessions = await Promise.all(
        [1, 2, 3].map(async () => {
          const client = new pg.Client({ connectionString: Object.assign(new URL(address), { password }).href });
          client.on('error', () => undefined);
          await client.connect();
          await client.query('SET statement_timeout = 0');
          client.query('SELECT count(*) FROM payments a, payments b, payments c').catch(() => undefined);
          return client;
        }),
      );
      await pause(2_500); // Waits until the worker has checked for runaway queries again.
      rates.beside.push((await run(5_000)).perSecond);
      await Promise.all(sessions.map((client) => client.end().catch(() => undefined)));
      await gateway.sql.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'runaway'`);
    }
    generator.close();
    const [alone, beside] = [median(rates.alone), median(rates.beside)];
    console.log(`POST /v1/charges: ${Math.round(alone)}/s alone, ${Math.round(beside)}/s beside three runaway queries`);
    await gateway.stop();
    expect(beside / alone).to.be.above(0.75);
  });
});
