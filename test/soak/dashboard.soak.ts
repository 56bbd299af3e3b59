// The dashboard of an account with 1,000,000 payments and 5,000,000 deliveries: each page takes less than 100 ms (p95), at most 6
// statements without a table scan, and less than 60 kB. Also an export of all payments in constant memory (`npm run soak -- dashboard`;
// PAYMENTS changes the number).
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { connectionConfig, PgSession } from '../../infrastructure/postgres/session.ts';
import { liveSchema } from '../../projections/engine/projection.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { paymentHistory } from '../bench/paymentHistory.ts';
import { nodesOf, type Plan } from '../projections/engine/plans.ts';
import { cookieOf } from '../world/browser.ts';
import type { TestGateway } from '../world/gateway.ts';
import { openReady } from '../world/http.ts';
import { migratedDatabase, type TestDatabase } from '../world/postgres.ts';
import { type CountedRequests, countRequests } from '../world/statementsOf.ts';

const PAYMENTS = Number(process.env['PAYMENTS'] ?? 1_000_000);
const DELIVERIES = 5;
const BATCH = 1_500;
/** The first rounds compile statements and code, so they don’t count. */
const [WARM_UP, ROUNDS] = [3, 43];
const [MS_MAX, BYTES_MAX, STATEMENTS_MAX, GROWTH_MAX] = [100, 60_000, 6, 30_000_000];
/** A request needs up to three more statements to find its session, user and account. */
const WHO_ASKS = /operations\.sessions|event_store\.of_stream/;
/** Tables that grow with the payments. */
const LARGE = ['payments', 'payments_apart', 'search_keys', 'deliveries', 'entries'];

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const inUse = (): number => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

describe(`the dashboard at ${PAYMENTS} payments`, function () {
  this.timeout(0);
  let database: TestDatabase;
  let gateway: TestGateway;
  let counted: CountedRequests;
  let cookie: { readonly cookie: string };
  /** Paths by name. */
  let pages: ReadonlyMap<string, string>;
  before(async () => {
    counted = countRequests();
    database = await migratedDatabase();
    gateway = await openReady({ database });
    const { accountId } = gateway.tenant;
    const endpoint = await gateway.post<{ id: string }>('/v1/webhooks/endpoints', {
      url: 'https://example.com/hooks',
      events: ['charge.failed'],
    });
    const real = (await gateway.charge<{ id: string }>()).body.id;
    await gateway.post(`/v1/sandbox/charges/${real}/pay`);
    await gateway.untilProjected();
    const session = await PgSession.open({
      ...connectionConfig(database.connectionString, 'soak'),
      statement_timeout: 0,
    });
    const writers = PROJECTIONS.filter(({ name }) => ['payments', 'wallet', 'dailyBalances'].includes(name)).map(
      (one) => one.writer(liveSchema(one.name)),
    );
    const until = new Date().toISOString() as Timestamp;
    for (const batch of paymentHistory(PAYMENTS, until, BATCH, undefined, () => accountId))
      await session.transaction(async (tx) => {
        for (const writer of writers) await writer.apply(batch, tx);
      });
    await session.query(
      `INSERT INTO rm_webhook_deliveries.deliveries (id, account_id, mode, revision, recorded_on, of_revision, resend, form, attempts,
         last_status_code, scheduled_at, updated_at, status, of_stream, payment_id, event_type, endpoint_id)
       SELECT left(p.id, 25) || n, p.account_id, p.mode, 0, p.created_at::date, 2, 0, 1, 1, 200, p.created_at, p.created_at + interval '1 second',
         CASE WHEN hashtext(p.id) % 100 = 0 THEN 'FAILED' ELSE 'DELIVERED' END, 'payment-' || p.id, p.id,
         CASE WHEN n % 2 = 0 THEN 'payment.completed' ELSE 'charge.paid' END, $1
       FROM rm_payments.payments p, generate_series(1, ${DELIVERIES}) n WHERE p.account_id = $2 ON CONFLICT DO NOTHING`,
      [endpoint.body.id.slice('we_'.length), accountId],
    );
    await session.query(
      `INSERT INTO rm_webhook_deliveries.delivery_counts (account_id, mode, endpoint_id, event_type, status, deliveries)
       SELECT account_id, mode, endpoint_id, event_type, status, count(*) FROM rm_webhook_deliveries.deliveries WHERE account_id = $1
       GROUP BY 1, 2, 3, 4, 5 ON CONFLICT (account_id, mode, endpoint_id, event_type, status) DO UPDATE SET deliveries = excluded.deliveries`,
      [accountId],
    );
    // Deliveries that pages show belong to a payment with events in the log.
    for (const status of ['DELIVERED', 'FAILED'])
      await session.query(
        `UPDATE rm_webhook_deliveries.deliveries SET of_stream = $1 WHERE id IN (
           SELECT id FROM rm_webhook_deliveries.deliveries WHERE account_id = $2 AND status = $3 ORDER BY scheduled_at DESC LIMIT 60)`,
        [PAYMENT.stream(real.slice('ch_'.length) as PaymentId), accountId, status],
      );
    await session.query('VACUUM ANALYZE');
    const { rows } = await session.query<{
      id: string;
      txid: string;
      document: string;
      email: string;
      reference: string;
    }>(
      `SELECT p.id, p.txid, p.customer_document AS document, p.customer_email AS email, substring(a.rest FROM '"(E9[0-9A-Za-z]{30})"') AS reference
       FROM rm_payments.payments p JOIN rm_payments.payments_apart a USING (id)
       WHERE p.account_id = $1 AND p.status = 'PAID' ORDER BY p.created_at OFFSET ${Math.floor(PAYMENTS / 2)} LIMIT 1`,
      [accountId],
    );
    const shown = await session.query<{ id: string }>(
      'SELECT id FROM rm_webhook_deliveries.deliveries WHERE of_stream = $1 LIMIT 1',
      [PAYMENT.stream(real.slice('ch_'.length) as PaymentId)],
    );
    await session.close();
    const [one] = rows;
    if (one === undefined) throw new Error('no payment was made');
    cookie = cookieOf(await gateway.logIn('OWNER', await gateway.addUser('OWNER')));
    const at = '/dashboard/test';
    const list = (query: Readonly<Record<string, string>>) => `${at}/payments?${new URLSearchParams(query)}`;
    pages = new Map([
      ['overview', at],
      ['payments', list({})],
      ['payments after a payment', list({ after: `ch_${one.id}` })],
      ['payments, oldest first', list({ sort: 'oldest' })],
      ['payments, highest first', list({ sort: 'highest' })],
      ['payments, lowest first, after a payment', list({ sort: 'lowest', after: `ch_${one.id}` })],
      ['paid payments, highest first', list({ status: 'paid', sort: 'highest' })],
      ['cancelled payments, lowest first', list({ status: 'cancelled', sort: 'lowest' })],
      ['payments by card', list({ method: 'CREDIT_CARD' })],
      ['payments by boleto', list({ method: 'BOLETO' })],
      ['payments of a month, highest first', list({ from: until.slice(0, 8).concat('01'), sort: 'highest' })],
      ['payments of a range of amounts', list({ min: '500', max: '600' })],
      ['payments of an amount', list({ q: '12,34' })],
      ['payments of a document', list({ q: one.document })],
      ['payments of an address, highest first', list({ q: one.email, sort: 'highest' })],
      ['payments of a customer and a status', list({ customer: one.document, status: 'paid', min: '1' })],
      ['search for an id', list({ q: `ch_${one.id}` })],
      ['search for a txid', list({ q: one.txid })],
      ['search for an end-to-end id', list({ q: one.reference })],
      ['search for nothing', list({ q: 'E99999004203001010000abcdefghijk' })],
      ['one payment', `${at}/payments/${one.id}`],
      ['one payment with its events', `${at}/payments/${real.slice('ch_'.length)}`],
      ['wallet', `${at}/wallet`],
      ['payouts', `${at}/payouts`],
      ['disputes', `${at}/disputes`],
      ['webhooks', `${at}/webhooks`],
      ['failed deliveries', `${at}/webhooks?status=FAILED`],
      ['endpoint', `${at}/webhooks/endpoints/${endpoint.body.id}`],
      ['delivery', `${at}/webhooks/deliveries/${shown.rows[0]?.id}`],
      ['redrive', `${at}/webhooks/redrive`],
      ['developers', `${at}/developers`],
      ['requests', `${at}/developers/requests`],
      ['settings', `${at}/settings`],
    ]);
  });
  after(async () => {
    counted.stop();
    await gateway.close();
    await database.drop();
  });

  const plansOf = async (name: string): Promise<readonly string[]> => {
    const scans: string[] = [];
    for (const { text, values } of counted.statements(name)) {
      const { rows } = await gateway.storage.reads.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
        `EXPLAIN (FORMAT JSON) ${text}`,
        values,
      );
      const nodes = nodesOf(rows[0]?.['QUERY PLAN'][0]?.Plan as Plan);
      for (const node of nodes)
        if (node['Node Type'].includes('Seq Scan') && LARGE.includes(node['Relation Name'] ?? ''))
          scans.push(`${node['Relation Name']}: ${text.replaceAll(/\s+/g, ' ').slice(0, 200)}`);
    }
    return scans;
  };

  it(`serves each page within ${MS_MAX} ms (p95), with at most ${STATEMENTS_MAX} statements`, async () => {
    const wrong: string[] = [];
    for (const [name, path] of pages) {
      const times: number[] = [];
      let bytes = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const begun = performance.now();
        const reply = await fetch(gateway.baseUrl + path, {
          headers: { accept: 'text/html', ...cookie, ...counted.headers(name) },
          redirect: 'manual',
        });
        bytes = Buffer.byteLength(await reply.text());
        if (round >= WARM_UP) times.push(performance.now() - begun);
        if (round === 0 && reply.status !== 200 && reply.status !== 303)
          wrong.push(`${name}: answered ${reply.status} ${gateway.faults.at(-1)}`);
      }
      const p95 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] as number;
      const own = counted.statements(name).filter(({ text }, n) => n >= 3 || !WHO_ASKS.test(text)).length;
      const scans = await plansOf(name);
      console.log(
        `      ${p95.toFixed(1).padStart(7)} ms  ${String(own).padStart(2)} statements  ${String(bytes).padStart(6)} bytes  ${name}`,
      );
      if (p95 > MS_MAX) wrong.push(`${name}: ${p95.toFixed(0)} ms`);
      if (own > STATEMENTS_MAX) wrong.push(`${name}: ${own} statements`);
      if (bytes > BYTES_MAX) wrong.push(`${name}: ${bytes} bytes`);
      wrong.push(...scans.map((scan) => `${name} scans ${scan}`));
    }
    expect(wrong).to.deep.equal([]);
  });

  const download = async (query: string, onChunk: (chunk: Buffer) => void) => {
    const begun = performance.now();
    const reply = await fetch(`${gateway.baseUrl}/dashboard/test/payments/export?${query}`, { headers: cookie });
    expect(reply.status).to.equal(200);
    let bytes = 0;
    const before = inUse();
    let most = before;
    const sink = new Writable({
      write: (chunk: Buffer, _, done) => {
        if (Math.floor(bytes / 5_000_000) !== Math.floor((bytes + chunk.length) / 5_000_000))
          most = Math.max(most, inUse());
        bytes += chunk.length;
        onChunk(chunk);
        done();
      },
    });
    await pipeline(reply.body as never, sink);
    const [seconds, growth] = [(performance.now() - begun) / 1_000, most - before];
    console.log(
      `      ${query || 'all'}: ${(bytes / 1e6).toFixed(1)} MB in ${seconds.toFixed(1)} s, memory +${(growth / 1e6).toFixed(0)} MB`,
    );
    return growth;
  };
  for (const query of ['', 'sort=highest'])
    it(`exports all payments page by page in constant memory (${query || 'newest first'})`, async () => {
      let lines = -1;
      const growth = await download(query, (chunk) => {
        for (const byte of chunk) if (byte === 10) lines++;
      });
      expect(lines).to.equal(PAYMENTS + 1);
      expect(growth).to.be.below(GROWTH_MAX);
    });
});
