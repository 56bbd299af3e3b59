// Requests a minute for each key (decisions E8).
import { expect } from 'chai';
import { ACCOUNT } from '../../application/aggregates.ts';
import { byProcess } from '../../application/because.ts';
import { changeSettings } from '../../domain/account/settings.ts';
import { streamName } from '../../domain/kernel/event.ts';
import { newKey, type Reply, type TestGateway, type TestTenant } from '../support/gateway.ts';
import { expectError, openReady } from './support.ts';

const PER_MINUTE = 5;
const limits = ({ headers }: Reply<unknown>) => [
  headers.get('x-ratelimit-limit-minute'),
  headers.get('x-ratelimit-remaining-minute'),
];

describe('rate limit', () => {
  let gateway: TestGateway;
  let tenant: TestTenant;
  /** The tenant's test key, as options of a call. */
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

  it('counts down on every authenticated answer, then is 429 with Retry-After, and nothing is done', async () => {
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
  it('is each key’s own, and no concern of those without one', async () => {
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
  it('stands on refusals of every kind once the caller is known, on none before', async () => {
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

  const agree = async (rateLimitPerMinute: number | null) => {
    const { accountId } = tenant;
    const { commands, accounts } = gateway.gateway;
    const why = byProcess('test', { accountId, mode: 'live' }, accountId, accountId);
    const decide = changeSettings({ rateLimitPerMinute }, accounts.realNow());
    await commands.execute(ACCOUNT, streamName.account(accountId), decide, why);
  };
  const sandbox = async (perMinute: number) => {
    const reply = await gateway.post('/v1/sandbox/settings', { rate_limit_per_minute: perMinute }, own);
    expect(reply.status, reply.text).to.equal(200);
    return reply;
  };
  const look = (mode: 'test' | 'live') =>
    gateway.get('/v1/wallets', { key: mode === 'test' ? tenant.testKey : tenant.liveKey });

  it('is the account’s own where one is agreed, for both modes', async () => {
    await agree(3);
    for (const mode of ['test', 'live'] as const) {
      for (const left of ['2', '1', '0']) expect(limits(await look(mode))).to.deep.equal(['3', left]);
      const over = await look(mode);
      expectError(over, 429, 'rate_limited');
      expect(limits(over)).to.deep.equal(['3', '0']);
    }
    const other = await gateway.newTenant();
    expect(limits(await gateway.get('/v1/wallets', { key: other.testKey }))).to.deep.equal(['5', '4']);
    await agree(8); // what was asked within the minute counts on, the refused request too
    expect(limits(await look('live'))).to.deep.equal(['8', '3']);
    await agree(null);
    expectError(await look('live'), 429, 'rate_limited');
  });
  it('none was agreed: no refusal and no headers', async () => {
    await agree(0);
    for (let i = 0; i <= PER_MINUTE; i++) {
      const reply = await look('live');
      expect([reply.status, ...limits(reply)]).to.deep.equal([200, null, null]);
    }
  });
  it('of test keys is the sandbox’s where the merchant set it (X3); live keys keep theirs', async () => {
    expect(limits(await sandbox(2))).to.deep.equal(['5', '4']);
    expect(limits(await look('test'))).to.deep.equal(['2', '0']);
    expectError(await look('test'), 429, 'rate_limited');
    expect(limits(await look('live'))).to.deep.equal(['5', '4']);
  });
  it('of test keys can be switched off and on again', async () => {
    await sandbox(0);
    for (let i = 0; i < 2 * PER_MINUTE; i++) {
      const reply = await look('test');
      expect([reply.status, ...limits(reply)]).to.deep.equal([200, null, null]);
    }
    await sandbox(10);
    expect(limits(await look('test'))[0]).to.equal('10');
    expect(limits(await look('live'))).to.deep.equal(['5', '4']);
  });
});
