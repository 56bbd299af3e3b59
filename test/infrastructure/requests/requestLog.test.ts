// The request log in Postgres: batches, daily partitions and lists.
import { expect } from 'chai';
import type { LoggedRequest, RequestLogReads } from '../../../application/ports/requestLog.ts';
import { type AccountId, BEHIND_TIME, encodeTimedId, type RequestLogId } from '../../../domain/kernel/ids.ts';
import { addSeconds, type Timestamp, toMillis } from '../../../domain/kernel/time.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { requestLogReads, requestLogStore, requestUpkeep } from '../../../infrastructure/requests/requestLog.ts';
import { plansOf, rowsRead } from '../../projections/engine/plans.ts';
import { useDatabase } from '../../world/postgres.ts';

const ACCOUNT = 'a'.repeat(26) as AccountId;
const AT = '2031-03-10T23:59:59.999Z' as Timestamp;

describe('the request log in Postgres', () => {
  let pool: PgPool;
  useDatabase('suite', 4, (opened) => {
    pool = opened;
  });
  beforeEach(() => pool.query('TRUNCATE operations.request_log'));

  const idAt = (at: Timestamp, n: number) => {
    const rest = Buffer.alloc(BEHIND_TIME);
    rest.writeUInt32BE(n);
    return encodeTimedId(toMillis(at), rest) as RequestLogId;
  };
  const request = (n: number, of: Partial<LoggedRequest> = {}): LoggedRequest => ({
    id: idAt(of.createdAt ?? AT, n),
    requestId: `req_${n}`,
    accountId: ACCOUNT,
    mode: 'live',
    method: 'GET',
    path: '/v1/wallets',
    status: 200,
    durationMs: 3,
    keyFingerprint: '0123456789abcdef',
    userId: null,
    createdAt: AT,
    logPosition: null,
    ...of,
  });
  const write = (...requests: LoggedRequest[]) => requestLogStore(pool).write(requests);
  const reads = () => requestLogReads(pool);
  const all = () => reads().list(ACCOUNT, { statuses: null, keyFingerprint: null }, null, 100);
  const days = async () => {
    const { rows } = await pool.query<{ day: string }>(
      `SELECT right(c.relname, 8) AS day FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
       WHERE i.inhparent = 'operations.request_log'::regclass ORDER BY 1`,
    );
    return rows.map(({ day }) => day);
  };
  const keepAt = (at: string, daysKept = 30) => requestUpkeep(pool, { now: () => Date.parse(at) }, daysKept).keepDays();

  it('returns what was written, and writes a repeated batch once', async () => {
    const ofUser = request(2, { mode: null, keyFingerprint: null, userId: 'u'.repeat(26) as LoggedRequest['userId'] });
    const batch = [request(1, { path: `/v1/charges/"'\\,{}` }), ofUser];
    await write(...batch);
    await write(...batch, request(3));
    expect(await all()).to.deep.equal([request(3), ofUser, batch[0]]);
    expect(await reads().withRequestId('req_2', 10)).to.deep.equal([ofUser]);
    expect(await reads().withRequestId('req_2', 10, ofUser.accountId as AccountId)).to.deep.equal([ofUser]);
    expect(await reads().withRequestId('req_2', 10, 'another' as AccountId)).to.deep.equal([]);
    expect(await reads().find(ACCOUNT, ofUser.id)).to.deep.equal(ofUser);
    expect(await reads().find('b'.repeat(26) as AccountId, ofUser.id)).to.equal(null);
    expect(await reads().find(ACCOUNT, '7'.padEnd(26, 'z') as RequestLogId)).to.equal(null);
  });
  it('writes only the new requests of a repeated batch, even if their day has no partition yet', async () => {
    const later = request(2, { createdAt: addSeconds(AT, 86_400 * 80) });
    await write(request(1));
    await write(request(1), later);
    await write(request(1), later);
    expect(await all()).to.deep.equal([later, request(1)]);
  });
  it('sorts requests of the same millisecond by ID, also across pages', async () => {
    const batch = [4, 3, 2, 1].map((n) => request(n, { requestId: 'req_same' }));
    await write(...batch.toReversed());
    for (const filter of [
      { statuses: null, keyFingerprint: null },
      { statuses: [200, 404], keyFingerprint: null },
    ]) {
      expect(await reads().list(ACCOUNT, filter, null, 2)).to.deep.equal(batch.slice(0, 2));
      expect(await reads().list(ACCOUNT, filter, batch[1] as LoggedRequest, 9)).to.deep.equal(batch.slice(2));
    }
    // With the same request ID, the newest requests are returned.
    const earlier = request(5, { requestId: 'req_same', createdAt: addSeconds(AT, -1) });
    await write(earlier);
    expect(await reads().withRequestId('req_same', 5)).to.deep.equal([...batch, earlier]);
    expect(await reads().withRequestId('req_same', 2)).to.deep.equal(batch.slice(0, 2));
  });
  it('stores requests of platform operators without an account', async () => {
    const ofOperator = request(1, { accountId: null, mode: null });
    await write(ofOperator);
    expect(await reads().withRequestId('req_1', 10)).to.deep.equal([ofOperator]);
    expect(await all()).to.deep.equal([]);
  });
  it('creates missing partitions for a batch', async () => {
    const later = request(2, { createdAt: addSeconds(AT, 86_400 * 40) });
    await write(request(1), later);
    expect(await all()).to.deep.equal([later, request(1)]);
  });
  it('keepDays creates partitions from yesterday to three days ahead, drops those older than 30 days, and is idempotent', async () => {
    await keepAt('2032-05-31T12:00:00.000Z');
    await write(request(1, { createdAt: '2032-05-31T00:00:00.000Z' as Timestamp }));
    const made = ['20320530', '20320531', '20320601', '20320602', '20320603'];
    expect(await days()).to.deep.equal(made);
    await keepAt('2032-06-30T23:59:59.999Z');
    await keepAt('2032-06-30T23:59:59.999Z');
    const next = ['20320629', '20320630', '20320701', '20320702', '20320703'];
    expect(await days()).to.deep.equal([...made.slice(1), ...next]);
    expect((await all()).length).to.equal(1);
    await keepAt('2032-07-01T00:00:00.000Z');
    expect(await days()).to.deep.equal([...made.slice(2), ...next, '20320704']);
    expect(await all()).to.deep.equal([]);
  });
  it('keepDays keeps partitions for the configured number of days', async () => {
    await keepAt('2032-08-10T12:00:00.000Z', 2);
    await keepAt('2032-08-12T12:00:00.000Z', 2);
    const left = (await days()).filter((day) => day > '203208' && day <= '20320812');
    expect(left).to.deep.equal(['20320810', '20320811', '20320812']);
  });
  it('keepDays fails for an old partition that is being read, and drops it in the next run', async () => {
    await keepAt('2032-10-10T12:00:00.000Z', 1);
    await pool.transaction(async (tx) => {
      await tx.query('SELECT count(*) FROM operations.request_log');
      const refused = await keepAt('2032-10-13T12:00:00.000Z', 1).catch((error: Error) => error.message);
      expect(refused).to.contain('lock timeout');
    });
    await keepAt('2032-10-13T12:00:00.000Z', 1);
    expect((await days()).filter((day) => day > '203210')[0]).to.equal('20321012');
  });
  it('concurrent keepDays calls in several processes create each partition once', async () => {
    await Promise.all(Array.from({ length: 4 }, () => keepAt('2033-01-01T12:00:00.000Z')));
    expect((await days()).slice(-5)).to.deep.equal(['20321231', '20330101', '20330102', '20330103', '20330104']);
  });
  it('finds a rare status, a key and the next page among all requests of an account', async () => {
    const many = Array.from({ length: 3_000 }, (_, n) =>
      request(n, {
        createdAt: addSeconds(AT, -n),
        ...(n % 1_000 === 999 && { status: 500, keyFingerprint: 'f'.repeat(16) }),
      }),
    );
    for (let n = 0; n < many.length; n += 1_000) await write(...many.slice(n, n + 1_000));
    await pool.query('ANALYZE operations.request_log');
    const rare = [999, 1_999, 2_999].map((n) => many[n]);
    expect(await reads().list(ACCOUNT, { statuses: [500, 503], keyFingerprint: null }, null, 10)).to.deep.equal(rare);
    expect(await reads().list(ACCOUNT, { statuses: null, keyFingerprint: 'f'.repeat(16) }, null, 10)).to.deep.equal(
      rare,
    );
    const after = many[999] as LoggedRequest;
    expect(await reads().list(ACCOUNT, { statuses: null, keyFingerprint: null }, after, 5)).to.deep.equal(
      many.slice(1_000, 1_005),
    );
    expect(await reads().list(ACCOUNT, { statuses: [500], keyFingerprint: 'f'.repeat(16) }, after, 5)).to.deep.equal(
      rare.slice(1),
    );
  });

  it('finds a rare or absent status among 100,000 requests of an account by index only', async () => {
    for (let day = 1; day <= 10; day++) await keepAt(`2031-03-${String(day).padStart(2, '0')}T12:00:00.000Z`);
    await pool.query(
      `INSERT INTO operations.request_log (id, request_id, account_id, mode, method, path, status, duration_ms, key_fingerprint, created_at)
       SELECT lpad(n::text, 26, '0'), 'req_' || n, $1, 'live', 'GET', '/v1/wallets', CASE WHEN n = 99000 THEN 404 WHEN n % 2 = 0 THEN 201 ELSE 200 END,
         3, CASE WHEN n = 99000 THEN repeat('f', 16) ELSE repeat('0', 16) END, timestamptz '${AT}' - n * interval '8.64 seconds'
       FROM generate_series(1, 100000) n`,
      [ACCOUNT],
    );
    await pool.query('ANALYZE operations.request_log');
    const rare = { statuses: [404], keyFingerprint: null };
    const asked: readonly (readonly [number, string, Parameters<RequestLogReads['list']>[1]])[] = [
      [1, 'status', rare],
      [0, 'status', { statuses: [500, 501, 502, 503], keyFingerprint: null }],
      [1, 'status', { statuses: [400, 401, 403, 404, 429], keyFingerprint: null }],
      [20, 'status', { statuses: [200], keyFingerprint: null }],
      [20, 'status', { statuses: [200, 201, 202, 204], keyFingerprint: null }],
      [1, 'key', { statuses: null, keyFingerprint: 'f'.repeat(16) }],
    ];
    for (const [count, by, filter] of asked) {
      let found: readonly LoggedRequest[] = [];
      const nodes = await plansOf(pool, async (db) => {
        found = await requestLogReads(db).list(ACCOUNT, filter, null, 20);
      });
      const { statuses } = filter;
      expect(found, `${statuses}`).to.have.length(count);
      // The planner reads a whole partition if it has almost no requests.
      const reading = nodes.filter((node) => node['Relation Name'] !== undefined && rowsRead([node]) > 1);
      expect(
        reading.map((node) => node['Index Name'] ?? node['Node Type']).filter((name) => !name.includes(by)),
      ).to.deep.equal([]);
      expect(rowsRead(nodes), `${statuses}`).to.be.at.most(20 * ((statuses?.length ?? 1) + 1) * 2);
    }
  });

  it('lists page views with other requests, or omits them', async () => {
    const userId = 'u'.repeat(26) as LoggedRequest['userId'];
    const ofUser = (n: number, path: string, of: Partial<LoggedRequest> = {}) =>
      request(n, { mode: null, keyFingerprint: null, userId, path, ...of });
    const view = ofUser(1, '/dashboard/test/payments');
    const head = ofUser(2, '/dashboard', { method: 'HEAD', status: 303 });
    const action = ofUser(3, '/dashboard/test/payments/new', { method: 'POST', status: 303 });
    const api = ofUser(4, '/v1/users');
    const operators = ofUser(5, '/dashboard/platform', { accountId: null });
    const call = request(6);
    const files = ofUser(7, '/dashboard/test/payments/export');
    const failed = ofUser(8, '/dashboard/test/wallet', { status: 500 });
    await write(view, head, action, api, operators, call, files, failed);
    const any = { statuses: null, keyFingerprint: null };
    const listed = (filter: Parameters<RequestLogReads['list']>[1], after: LoggedRequest | null = null, limit = 10) =>
      reads().list(ACCOUNT, filter, after, limit);
    expect(await listed(any)).to.deep.equal([failed, files, call, api, action, head, view]);
    expect(await listed(any, action, 1)).to.deep.equal([head]);
    expect(await listed({ ...any, statuses: [200, 303] })).to.deep.equal([files, call, api, action, head, view]);
    expect(await listed({ ...any, withoutViews: true })).to.deep.equal([failed, files, call, api, action]);
    expect(await listed({ ...any, withoutViews: true, statuses: [303] })).to.deep.equal([action]);
    expect(await listed({ ...any, onlyChanges: true })).to.deep.equal([action]);
    expect(await reads().list(null, any, null, 10)).to.deep.equal([operators]);
    expect(await reads().find(ACCOUNT, view.id)).to.deep.equal(view);
    expect(await reads().find(null, operators.id)).to.deep.equal(operators);
    expect(await reads().find(ACCOUNT, operators.id)).to.equal(null);
    expect(await reads().withRequestId('req_1', 10, ACCOUNT)).to.deep.equal([view]);
    expect(await reads().withRequestId('req_5', 10)).to.deep.equal([operators]);
  });

  it('finds requests other than page views, and changes by users, among 100,000 others by index only', async () => {
    for (let day = 1; day <= 10; day++) await keepAt(`2031-03-${String(day).padStart(2, '0')}T12:00:00.000Z`);
    const insert = (owner: string, path: string, numbers: string) =>
      pool.query(
        `INSERT INTO operations.request_log (id, request_id, account_id, method, path, status, duration_ms, user_id, created_at)
         SELECT lpad(n::text, 26, '0'), 'req_' || n, $1, CASE WHEN n % 30000 = 0 THEN 'POST' ELSE 'GET' END, $2, 200, 3, repeat('u', 26),
           timestamptz '${AT}' - n * interval '8.64 seconds' FROM ${numbers} n`,
        [owner, path],
      );
    await insert(`${ACCOUNT}/views`, '/dashboard/test/payments', 'generate_series(1, 100000)');
    await insert(ACCOUNT, '/v1/users', 'generate_series(20000, 80000, 20000)');
    await insert('', '/ops/v1/accounts', 'generate_series(1, 100000)');
    await pool.query('ANALYZE operations.request_log');
    const any = { statuses: null, keyFingerprint: null };
    const asked: readonly (readonly [AccountId | null, readonly number[], Parameters<RequestLogReads['list']>[1]])[] = [
      [ACCOUNT, [20_000, 40_000, 60_000, 80_000], { ...any, withoutViews: true }],
      [ACCOUNT, [20_000, 40_000, 60_000, 80_000], { ...any, withoutViews: true, statuses: [200] }],
      [null, [30_000, 60_000, 90_000], { ...any, onlyChanges: true }],
    ];
    for (const [account, numbers, filter] of asked) {
      let found: readonly LoggedRequest[] = [];
      const nodes = await plansOf(pool, async (db) => {
        found = await requestLogReads(db).list(account, filter, null, 20);
      });
      expect(found.map(({ id }) => Number(id))).to.deep.equal(numbers);
      expect(rowsRead(nodes), JSON.stringify(filter)).to.be.at.most(2 * numbers.length);
    }
  });

  it('reads little more than it returns, among 100,000 requests of 100 accounts in ten days', async () => {
    const account = String(7).padStart(26, '0') as AccountId;
    for (let day = 1; day <= 10; day++) await keepAt(`2031-03-${String(day).padStart(2, '0')}T12:00:00.000Z`);
    await pool.query(
      `INSERT INTO operations.request_log (id, request_id, account_id, mode, method, path, status, duration_ms, key_fingerprint, created_at)
       SELECT lpad(n::text, 26, '0'), 'req_' || n, lpad((n % 100)::text, 26, '0'), 'live', 'GET', '/v1/wallets',
         CASE WHEN n / 100 % 100 = 0 THEN 500 ELSE 200 END, 3, CASE WHEN n / 100 % 100 = 1 THEN repeat('f', 16) ELSE repeat('0', 16) END,
         timestamptz '${AT}' - n * interval '8.64 seconds' FROM generate_series(1, 100000) n`,
    );
    const middle = request(50_007, { createdAt: addSeconds(AT, -432_060) });
    await pool.query("UPDATE operations.request_log SET id = $1, created_at = $2 WHERE request_id = 'req_50007'", [
      middle.id,
      middle.createdAt,
    ]);
    await pool.query('ANALYZE operations.request_log');
    const any = { statuses: null, keyFingerprint: null };
    const asked: { readonly [name: string]: readonly [number, (log: RequestLogReads) => Promise<unknown>] } = {
      'a page': [30, (log) => log.list(account, any, null, 20)],
      'a page behind another': [30, (log) => log.list(account, any, middle, 20)],
      'a page of rare statuses': [60, (log) => log.list(account, { ...any, statuses: [500, 503] }, null, 20)],
      'a page of a rare key': [60, (log) => log.list(account, { ...any, keyFingerprint: 'f'.repeat(16) }, null, 20)],
      'a cursor': [30, (log) => log.find(account, middle.id)],
      'requests show': [30, (log) => log.withRequestId('req_50007', 20)],
    };
    for (const [name, [rowsMax, read]] of Object.entries(asked)) {
      let found: unknown;
      const nodes = await plansOf(pool, async (db) => {
        found = await read(requestLogReads(db));
      });
      expect([found].flat(), name).to.have.length.above(0).and.not.include(null);
      expect(rowsRead(nodes), name).to.be.within(1, rowsMax);
    }
  });
});
