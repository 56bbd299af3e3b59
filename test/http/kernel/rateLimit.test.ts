// Requests per minute for each key (rule E8).

import { expect } from 'chai';
import type express from 'express';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import { metadataForProcess } from '../../../application/core/eventMetadata.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { changeSettings } from '../../../domain/account/settings.ts';
import { rateLimit } from '../../../http/kernel/admission.ts';
import type { Caller } from '../../../http/kernel/callers.ts';
import { MinuteWindows } from '../../../http/kernel/minuteWindows.ts';
import { newKey, type Reply, startedDatabase, type TestGateway, type TestTenant } from '../../world/gateway.ts';
import { expectError, openReady } from '../../world/http.ts';
import type { TestDatabase } from '../../world/postgres.ts';

const PER_MINUTE = 5;
const limits = ({ headers }: Reply<unknown>) => [
  headers.get('x-ratelimit-limit-minute'),
  headers.get('x-ratelimit-remaining-minute'),
];

describe('rate limit', () => {
  let gateway: TestGateway;
  let tenant: TestTenant;
  /** The tenant's test key, as call options. */
  let own: { readonly key: string };
  before(async () => {
    gateway = await openReady({ perMinute: PER_MINUTE });
  });
  after(() => gateway.close());
  beforeEach(async () => {
    tenant = await gateway.newTenant();
    own = { key: tenant.testKey };
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));
  const charge = (body: Record<string, unknown> = {}) => gateway.charge(body, { ...own, idempotencyKey: newKey() });

  it('counts down on every authenticated answer, then returns 429 with Retry-After and writes nothing', async () => {
    for (let left = PER_MINUTE - 1; left >= 0; left--) {
      const reply = left % 2 === 0 ? await gateway.get('/v1/charges/none', own) : await gateway.get('/v1/wallets', own);
      expect(limits(reply)).to.deep.equal(['5', String(left)]);
    }
    const head = await gateway.storage.store.head();
    for (const reply of [await charge(), await charge({ amount: 0 })]) {
      expectError(reply, 429, 'rate_limited');
      expect(limits(reply)).to.deep.equal(['5', '0']);
      expect(Number(reply.headers.get('retry-after'))).to.be.within(1, 60);
    }
    expect(await gateway.storage.store.head()).to.equal(head);
  });
  it('is separate for each key and doesn’t apply to requests without one', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => gateway.get('/v1/wallets', own)));
    expect(all.filter(({ status }) => status === 200).length).to.equal(PER_MINUTE);
    expect(all.filter(({ status }) => status === 429).length).to.equal(20 - PER_MINUTE);
    const live = await gateway.get('/v1/wallets', { key: tenant.liveKey });
    expect([live.status, ...limits(live)]).to.deep.equal([200, '5', '4']);
    for (let i = 0; i < 10; i++) {
      expect((await gateway.get('/v1/webhooks/event-catalog')).status).to.equal(200);
      const stranger = await gateway.get('/v1/wallets', { key: null });
      expectError(stranger, 401, 'unauthorized');
      expect(limits(stranger)).to.deep.equal([null, null]);
    }
  });
  it('sets headers on rejections once the caller is known, but not before', async () => {
    const replies = [
      await gateway.get('/v1/charges/none', own),
      await gateway.charge({}, { ...own, idempotencyKey: 'short' }),
      await gateway.call('POST', '/v1/charges', { ...own, raw: '{', headers: { 'content-type': 'application/json' } }),
    ];
    expect(replies.map(({ status }) => status)).to.deep.equal([404, 400, 400]);
    expect(replies.map(limits)).to.deep.equal([
      ['5', '4'],
      ['5', '3'],
      ['5', '2'],
    ]);
    const live = await gateway.get('/v1/sandbox/clock', { key: tenant.liveKey });
    expectError(live, 403, 'mode_not_allowed');
    expect(limits(live)).to.deep.equal(['5', '4']);
    for (const reply of [await gateway.get('/v1/nowhere', own), await gateway.call('DELETE', '/v1/charges', own)])
      expect(limits(reply)).to.deep.equal([null, null]);
  });

  it('logs admitted and rejected requests, of keys and of users', async () => {
    const user = await gateway.addUser('VIEWER', { tenant });
    const headers = await gateway.logIn('VIEWER', user);
    for (let i = 0; i <= PER_MINUTE; i++) {
      await gateway.get('/v1/wallets', own);
      await gateway.get('/v1/account', { key: null, headers });
    }
    await gateway.writeRequests();
    const { rows } = await gateway.storage.reads.query<{ path: string; status: number; n: number }>(
      `SELECT path, status, count(*)::int AS n FROM operations.request_log WHERE account_id = $1
       GROUP BY path, status ORDER BY path, status`,
      [tenant.accountId],
    );
    expect(rows.map(({ path, status, n }) => [path, status, n])).to.deep.equal([
      ['/v1/account', 200, PER_MINUTE],
      ['/v1/account', 429, 1],
      ['/v1/wallets', 200, PER_MINUTE],
      ['/v1/wallets', 429, 1],
    ]);
  });

  it('lets a user log out when it is exhausted, and counts that request', async () => {
    const headers = await gateway.logIn('VIEWER', await gateway.addUser('VIEWER', { tenant }));
    const look = () => gateway.get('/v1/account', { key: null, headers });
    for (let i = 0; i < PER_MINUTE; i++) expect((await look()).status).to.equal(200);
    expect((await look()).status).to.equal(429);
    const done = await gateway.post('/v1/auth/logout', undefined, { key: null, headers });
    const told = ['x-ratelimit-limit-minute', 'x-ratelimit-remaining-minute', 'retry-after'];
    expect([done.status, ...told.map((name) => done.headers.get(name))]).to.deep.equal([
      204,
      String(PER_MINUTE),
      '0',
      null,
    ]);
    expect((await look()).status).to.equal(401);
    expect((await gateway.post('/v1/auth/logout', undefined, { key: null, headers })).status).to.equal(401);
  });

  const agree = async (rateLimitPerMinute: number | null) => {
    const { accountId } = tenant;
    const { commands, accounts } = gateway.gateway;
    const why = metadataForProcess('test', { accountId, mode: 'live' }, accountId, accountId);
    const decide = changeSettings({ rateLimitPerMinute }, accounts.realNow(), DECLARED_SETTINGS.settings);
    await commands.execute(ACCOUNT, ACCOUNT.stream(accountId), decide, why);
  };
  const sandboxReply = (perMinute: number) =>
    gateway.post('/v1/sandbox/settings', { rate_limit_per_minute: perMinute }, own);
  const sandbox = async (perMinute: number) => {
    const reply = await sandboxReply(perMinute);
    expect(reply.status, reply.text).to.equal(200);
    return reply;
  };
  const look = (mode: 'test' | 'live') =>
    gateway.get('/v1/wallets', { key: mode === 'test' ? tenant.testKey : tenant.liveKey });

  it('is the account’s own limit if it has one, in both modes', async () => {
    await agree(3);
    for (const mode of ['test', 'live'] as const) {
      for (const left of ['2', '1', '0']) expect(limits(await look(mode))).to.deep.equal(['3', left]);
      const over = await look(mode);
      expectError(over, 429, 'rate_limited');
      expect(limits(over)).to.deep.equal(['3', '0']);
    }
    const other = await gateway.newTenant();
    expect(limits(await gateway.get('/v1/wallets', { key: other.testKey }))).to.deep.equal(['5', '4']);
    await agree(8); // Requests of this minute still count, including the rejected one.
    expect(limits(await look('live'))).to.deep.equal(['8', '3']);
    await agree(null);
    expectError(await look('live'), 429, 'rate_limited');
  });
  it('rejects nothing and sets no headers if the account has no limit', async () => {
    await agree(0);
    for (let i = 0; i <= PER_MINUTE; i++) {
      const reply = await look('live');
      expect([reply.status, ...limits(reply)]).to.deep.equal([200, null, null]);
    }
  });
  describe('the sandbox’s own setting (X3)', () => {
    it('lowers the limit of test keys without counting itself, and leaves live keys alone', async () => {
      expect(limits(await sandbox(2))).to.deep.equal(['5', '4']);
      expect(limits(await look('test'))).to.deep.equal(['2', '1']);
      expect(limits(await look('test'))).to.deep.equal(['2', '0']);
      expectError(await look('test'), 429, 'rate_limited');
      expect(limits(await look('live'))).to.deep.equal(['5', '4']);
    });
    it('never raises the limit: 1,000,000, 0, one above the limit', async () => {
      for (const [perMinute, left] of [
        [1_000_000, '4'],
        [0, '2'],
        [PER_MINUTE + 1, '0'],
      ] as const) {
        expect(limits(await sandbox(perMinute))).to.deep.equal(['5', left]);
        if (left !== '0') expect(limits(await look('test'))[0]).to.equal('5');
      }
      expectError(await look('test'), 429, 'rate_limited');
      expectError(await sandboxReply(0), 429, 'rate_limited');
    });
    it('can be changed with a key that has exhausted it', async () => {
      await sandbox(1);
      expect(limits(await look('test'))).to.deep.equal(['1', '0']);
      expectError(await look('test'), 429, 'rate_limited');
      await sandbox(0);
      expect(limits(await look('test'))).to.deep.equal(['5', '0']);
    });
    it('counts its own changes against the account’s limit only', async () => {
      await agree(6);
      for (const left of ['5', '4', '3']) expect(limits(await sandbox(3))).to.deep.equal(['6', left]);
      for (const left of ['2', '1', '0']) expect(limits(await look('test'))).to.deep.equal(['3', left]);
      expectError(await sandboxReply(3), 429, 'rate_limited');
    });
    it('lowers the account’s own limit, whether that is higher, lower or none', async () => {
      await agree(0);
      await sandbox(2);
      expect(limits(await look('test'))).to.deep.equal(['2', '1']);
      expect(limits(await look('live'))).to.deep.equal([null, null]);
      await agree(9);
      expect(limits(await look('test'))).to.deep.equal(['2', '0']);
      await sandbox(20);
      expect(limits(await look('test'))[0]).to.equal('9');
      await agree(null);
      expect(limits(await look('live'))[0]).to.equal('5');
    });
  });
});

describe('rate limit of an account', () => {
  const RECORDED = new Map<string, string>();
  const res = { setHeader: (name: string, value: string) => RECORDED.set(name, value) } as unknown as express.Response;
  const callerOf = (key: number, accountId: string, mode: 'test' | 'live') =>
    ({
      account: { settings: { rateLimitPerMinute: 2 }, sandbox: { rateLimitPerMinute: 0 } },
      tenant: { accountId, mode },
      actor: `key:${key}`,
    }) as unknown as Caller;

  it('is ten times a key’s limit, per mode; requests beyond a key’s limit count for that key only', async () => {
    const windows = new MinuteWindows({ remembered: 100, takeShares: null });
    const limit = rateLimit(windows, 600);
    const ask = async (key: number, accountId = 'a', mode: 'test' | 'live' = 'live') =>
      (await limit(callerOf(key, accountId, mode), { limit: 'key' }, res))?.perMinute ?? null;
    for (let i = 0; i < 30; i++) expect(await ask(0)).to.equal(i < 2 ? null : 2);
    for (let key = 1; key < 10; key++)
      expect([await ask(key), await ask(key), await ask(key)]).to.deep.equal([null, null, 2]);
    expect([await ask(10), await ask(11), await ask(10), await ask(10)]).to.deep.equal([20, 20, 20, 2]);
    expect(await ask(12, 'a', 'test')).to.equal(null);
    expect(await ask(13, 'b')).to.equal(null);
    // Users of the account have their own limit.
    for (let i = 0; i < 3; i++)
      expect(
        (await limit({ ...callerOf(0, 'a', 'live'), actor: 'user:1' }, { limit: 'user' }, res))?.perMinute ?? null,
      ).to.equal(i < 2 ? null : 2);
    await ask(14);
    expect(RECORDED.get('X-RateLimit-Limit-Minute')).to.equal('20');
    expect(RECORDED.get('X-RateLimit-Remaining-Minute')).to.equal('0');
  });
});

describe('rate limit across processes', () => {
  let database: TestDatabase;
  let gateways: readonly TestGateway[];
  before(async () => {
    database = await startedDatabase();
    // The clock stands still: database answers are never late and the minute doesn't end.
    const options = { database, perMinute: 600, addressPerMinute: 60, isAlone: false, limitsNow: () => 0 } as const;
    const first = await openReady(options);
    gateways = [first, await openReady({ ...options, roles: { serves: true, projects: false, works: false } })];
  });
  after(async () => {
    for (const gateway of gateways.toReversed()) await gateway.close();
    await database.drop();
  });

  it('counts what other processes admitted, without a query per request', async () => {
    const [first] = gateways as readonly [TestGateway];
    const tenant = await first.newTenant();
    let statements = 0;
    for (const { storage } of gateways) {
      const { operations } = storage;
      const query = operations.query.bind(operations);
      operations.query = ((...statement: Parameters<typeof query>) => {
        if (JSON.stringify(statement).includes('take_request_shares')) statements += 1;
        return query(...statement);
      }) as typeof operations.query;
    }
    const lefts: number[] = [];
    for (let i = 0; i < 15; i++)
      for (const gateway of gateways) {
        const ask = () => gateway.get('/v1/wallets', { key: tenant.testKey });
        const replies = await Promise.all(Array.from({ length: 8 }, ask));
        for (const reply of replies) {
          expect(reply.status, reply.text).to.equal(200);
          lefts.push(Number(limits(reply)[1]));
        }
      }
    expect(lefts).to.have.length(240);
    expect(Math.max(...lefts)).to.equal(599);
    expect(lefts.at(-1)).to.be.within(240, 479); // Each process has admitted 120 and holds shares in advance.
    expect(statements).to.be.below(120);
  });
  it('is one per address, plus what each process admits before it shares', async () => {
    const ask = (gateway: TestGateway) => gateway.get('/v1/webhooks/event-catalog', { key: null });
    const all = await Promise.all(gateways.flatMap((gateway) => Array.from({ length: 70 }, () => ask(gateway))));
    expect(all.filter(({ status }) => status === 200).length).to.be.within(60, 62);
  });
});

describe('rate limit of a deployment without one', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await openReady({ perMinute: 0 });
  });
  after(() => gateway.close());

  it('rejects nothing and sets no headers, and a sandbox can still set and remove its own', async () => {
    const look = () => gateway.get('/v1/wallets');
    expect([(await look()).status, ...limits(await look())]).to.deep.equal([200, null, null]);
    const set = await gateway.post('/v1/sandbox/settings', { rate_limit_per_minute: 4 });
    expect([set.status, ...limits(set)]).to.deep.equal([200, null, null]);
    expect(limits(await look())).to.deep.equal(['4', '1']);
    expect(limits(await look())).to.deep.equal(['4', '0']);
    expectError(await look(), 429, 'rate_limited');
    expect((await gateway.post('/v1/sandbox/settings', { rate_limit_per_minute: 0 })).status).to.equal(200);
    expect([(await look()).status, ...limits(await look())]).to.deep.equal([200, null, null]);
  });
});
