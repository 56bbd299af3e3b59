// `trigger`, `deliveries` and `dlq`: commands for a merchant's webhooks, on a running gateway.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { EVENT_CATALOGUE } from '../../../domain/presentation/catalogue.ts';
import { DELIVERY_STATUSES } from '../../../domain/presentation/delivery.ts';
import { COMMANDS, TRIGGERS } from '../../../infrastructure/cli/commands.ts';
import { NO_PROGRESS, screenOf } from '../../../infrastructure/cli/output.ts';
import { scenariosOf } from '../../../infrastructure/cli/trigger.ts';
import type { Delivery } from '../../../infrastructure/webhooks/commands/deliveries.ts';
import { runWords, runWordsIn } from '../../support/cli.ts';
import { ALL_RETRIES_SECONDS, answering, deliveryIdOf, Receivers, refuses } from '../../world/deliveryFacts.ts';
import { startedDatabase, type TestGateway, type TestTenant } from '../../world/gateway.ts';
import { openReady } from '../../world/http.ts';
import { Merchant } from '../../world/merchant.ts';
import { type Receiver, typeOf } from '../../world/receiver.ts';

interface Triggered {
  readonly event: string;
  readonly chargeId: string;
  readonly paymentId: string;
  readonly refundId: string | null;
  readonly payoutId: string | null;
  readonly clockAdvancedSeconds: number;
  readonly deliveries: readonly Delivery[];
}
interface Listed {
  readonly deliveries: readonly Delivery[];
  readonly total: number;
}

describe('the webhook commands', () => {
  let gateway: TestGateway;
  let shop: Merchant & { readonly tenant: TestTenant };
  let receiver: Receiver;
  const receivers = new Receivers();
  let database: Awaited<ReturnType<typeof startedDatabase>>;
  before(async () => {
    database = await startedDatabase();
    gateway = await openReady({ database });
  });
  after(async () => {
    await gateway.close();
    await database.drop();
  });
  beforeEach(async () => {
    shop = await Merchant.open(gateway);
    receiver = await receivers.open();
  });
  afterEach(async () => {
    expect(gateway.faults).to.deep.equal([]);
    await receivers.close();
  });

  const env = (key = shop.tenant.testKey) => ({ API_KEY: key, PUBLIC_URL: gateway.baseUrl });
  const run = <T = Record<string, unknown>>(...words: string[]) => runWordsIn<T>(env(), ...words);
  const good = async <T>(...words: string[]): Promise<T> => {
    const { code, err, json } = await run<T>(...words, '--json');
    expect([code, err]).to.deep.equal([0, '']);
    return json;
  };
  const refused = async (message: string, ...words: string[]) => {
    const { code, out, err } = await run(...words);
    expect([code, out, err]).to.deep.equal([2, '', `quita: ${message}\n`]);
  };

  describe('trigger', () => {
    const SCENARIOS = scenariosOf(TRIGGERS);
    it('has a scenario for exactly the events of the catalog', () =>
      expect(Object.keys(SCENARIOS)).to.deep.equal(EVENT_CATALOGUE.map(({ event }) => event)));

    for (const event of Object.keys(SCENARIOS))
      it(`${event} sends a signed webhook for a real charge and shows its delivery`, async () => {
        const { id: endpointId } = await shop.register(receiver.url, [event]);
        const triggered = await good<Triggered>('trigger', event);
        const { chargeId, paymentId, refundId, payoutId, clockAdvancedSeconds, deliveries } = triggered;
        expect(triggered.event).to.equal(event);
        expect(chargeId).to.match(/^ch_[0-9a-z]{26}$/);
        expect(paymentId).to.equal(chargeId.replace('ch_', 'tx_'));
        expect(refundId === null).to.equal(!/withdrawal|refunded/.test(event));
        expect(payoutId === null).to.equal(!event.startsWith('payout.'));
        expect(clockAdvancedSeconds).to.equal(event.endsWith('.expired') ? 61 : 0);
        const about = receiver.got.filter(({ rawBody }) => rawBody.includes((payoutId ?? chargeId).slice(3)));
        expect(about.length).to.be.at.least(1);
        expect(about.map(typeOf)).to.deep.equal(about.map(() => event));
        expect(deliveries.map(({ id }) => id)).to.have.members(about.map(deliveryIdOf));
        for (const one of deliveries) expect(one).to.include({ endpointId, eventType: event, status: 'DELIVERED' });
      });

    it('prints the charge and the result of its webhook as text', async () => {
      const first = await run('trigger', 'charge.expired');
      expect([first.code, first.err]).to.deep.equal([0, '']);
      expect(first.out).to.match(
        /^charge\.expired: charge (ch_\w{26}) of R\$ 10\.00, payment tx_\w{26}\nThe account's test clock was advanced by 61 s\.\nNo endpoint subscribes to this event: nothing was sent\.\n$/,
      );
      await shop.register(receiver.url, ['charge.paid']);
      const { out } = await run('trigger', 'charge.paid');
      expect(out).to.match(/^charge\.paid: charge (ch_\w{26}) of R\$ 10\.00, payment tx_\w{26}\n/);
      expect(out.split('\n')[1]).to.match(
        / {2}wd_\w{26} {2}charge\.paid {2}we_\w{26} {2}DELIVERED {2}1\/15 {2}- {2}200$/,
      );
    });

    it('rejects unknown events, live keys, and a missing or unknown key, and says what to do', async () => {
      const { code, err } = await run('trigger', 'charge.payd');
      expect(code).to.equal(2);
      expect(err).to.match(
        /^quita: command-argument value 'charge.payd' is invalid for argument 'event'. Allowed choices are [^\n]*charge.paid/,
      );
      const live = await runWordsIn(env(shop.tenant.liveKey), 'trigger', 'charge.paid');
      expect([live.code, live.err]).to.deep.equal([
        2,
        'quita: trigger works only in the sandbox: API_KEY must be a test key\n',
      ]);
      const none = await runWordsIn({ DATABASE_URL: 'postgres://127.0.0.1/none' }, 'trigger', 'charge.paid');
      expect([none.code, none.err]).to.deep.equal([
        2,
        'quita: API_KEY must be set to a key of the account: with DATABASE_URL there is no demo account\n',
      ]);
      const unknown = await runWordsIn(env(`ak_test_${'x'.repeat(32)}`), 'trigger', 'charge.paid');
      expect(unknown.code).to.equal(2);
      expect(unknown.err).to.match(/^quita: POST \/v1\/charges failed with 401: .* \(unauthorized\)\n$/);
    });
  });

  describe('deliveries list', () => {
    it('lists deliveries, newest first, or reports that there are none', async () => {
      expect((await run('deliveries', 'list')).out).to.equal('no deliveries\n');
      expect(await good('deliveries', 'list')).to.deep.equal({ deliveries: [], total: 0 });
      await shop.register(receiver.url);
      await good('trigger', 'charge.paid');
      const listed = await good<Listed>('deliveries', 'list');
      const { data, total } = await shop.deliveries();
      expect([listed.total, total]).to.deep.equal([5, 5]);
      expect(listed.deliveries).to.deep.equal(data);
      const { out } = await run('deliveries', 'list');
      expect(out.split('\n').map((line) => line.split('  ')[1])).to.deep.equal([
        ...data.map(({ id }) => id),
        undefined,
      ]);
    });

    it('filters by status, event and endpoint, and rejects invalid filters', async () => {
      const failing = await receivers.open(refuses);
      const [mine, other] = [
        await shop.register(receiver.url, ['*']),
        await shop.register(failing.url, ['charge.paid']),
      ];
      await good('trigger', 'charge.paid');
      const count = async (...words: string[]) => (await good<Listed>('deliveries', 'list', ...words)).total;
      expect(await count()).to.equal(6);
      expect(await count('--status', 'PENDING')).to.equal(1);
      expect(await count('--event', 'charge.paid')).to.equal(2);
      expect(await count('--event', 'charge.paid', '--endpoint', mine.id)).to.equal(1);
      expect(await count('--endpoint', other.id, '--status', 'DELIVERED')).to.equal(0);
      await refused(
        `option '--status <value>' argument 'pending' is invalid. Allowed choices are ${DELIVERY_STATUSES.join(', ')}. (npm run cli -- deliveries list --help explains it)`,
        ...['deliveries', 'list', '--status', 'pending'],
      );
      const wrong = await run('deliveries', 'list', '--endpoint', 'x');
      expect([wrong.code, wrong.out]).to.deep.equal([2, '']);
      expect(wrong.err).to.match(
        /^quita: GET \/v1\/webhooks\/deliveries\?\S+ failed with 400: .* \(invalid_filter\)\n$/,
      );
    });
  });

  it('deliveries show prints the result of each attempt, and rejects unknown and invalid IDs', async () => {
    const failing = await receivers.open((_hit, res) => void res.writeHead(500).end('no\u001b[2J way'));
    const { id: endpointId } = await shop.register(failing.url, ['charge.created']);
    await shop.charge();
    await shop.flush();
    await shop.advance(10);
    const { id, payload } = await shop.delivery();
    const one = await good<Delivery & { attemptLog: { number: number; error: string }[] }>('deliveries', 'show', id);
    expect(one).to.include({ id, endpointId, status: 'PENDING', attempts: 2, lastError: 'status: 500' });
    expect(one.attemptLog.map(({ number, error }) => [number, error])).to.deep.equal([
      [1, 'status: 500'],
      [2, 'status: 500'],
    ]);
    const [first, second, ...rest] = (await run('deliveries', 'show', id)).out.split('\n');
    expect(first).to.equal(`${id}: charge.created to ${endpointId}`);
    expect(second).to.match(/^PENDING, created \S+Z, 2 of 15 attempts made, next attempt at \S+Z$/);
    expect(rest.slice(0, 2).map((line) => /^(\d) {2}\S+Z {2}\d+ {2}(.*)$/.exec(line)?.slice(1))).to.deep.equal([
      ['1', 'status: 500'],
      ['2', 'status: 500'],
    ]);
    expect(rest.slice(2)).to.deep.equal(['last response: no?[2J way', `payload: ${JSON.stringify(payload)}`, '']);
    await refused(
      '"x" is not a delivery id (wd_…); npm run cli -- deliveries list shows them',
      'deliveries',
      'show',
      'x',
    );
    const none = `wd_${'0'.repeat(26)}`;
    await refused(
      `GET /v1/webhooks/deliveries/${none} failed with 404: There is no such delivery. (not_found)`,
      ...['deliveries', 'show', none],
    );
  });

  it('dlq list shows only deliveries that failed after the last attempt', async () => {
    expect((await run('dlq', 'list')).out).to.equal('no failed deliveries\n');
    const failing = await receivers.open(refuses);
    await shop.register(failing.url, ['charge.created']);
    await shop.charge();
    await shop.flush();
    expect(await good('dlq', 'list')).to.deep.equal({ deliveries: [], total: 0 });
    await shop.advance(ALL_RETRIES_SECONDS);
    const { deliveries, total } = await good<Listed>('dlq', 'list');
    expect([total, deliveries.map(({ status, attempts }) => [status, attempts])]).to.deep.equal([1, [['FAILED', 15]]]);
    expect((await run('dlq', 'list', '--event', 'charge.created')).out).to.match(
      /^\S+ {2}wd_\w{26} {2}charge\.created {2}we_\w{26} {2}FAILED {2}15\/15 {2}- {2}status: 500\n$/,
    );
    expect((await run('dlq', 'list', '--event', 'charge.paid')).out).to.equal('no failed deliveries\n');
  });

  it('deliveries retry sends a delivery again, and rejects unknown and invalid IDs', async () => {
    await shop.register(receiver.url, ['charge.created']);
    await shop.charge();
    await shop.flush();
    const { id } = await shop.delivery();
    const delivery = await good<Delivery>('deliveries', 'retry', id);
    expect(delivery).to.include({ id, status: 'PENDING', attempts: 1, maxAttempts: 16 });
    await shop.untilDeliveries(([one]) => one?.attempts === 2 && one.status === 'DELIVERED');
    expect(receiver.got.map(deliveryIdOf)).to.deep.equal([id, id]);
    expect((await run('deliveries', 'retry', id)).out.split('\n')[0]).to.match(
      /^wd_\w{26}: charge\.created to we_\w{26}$/,
    );
    await refused(
      '"x" is not a delivery id (wd_…); npm run cli -- deliveries list shows them',
      'deliveries',
      'retry',
      'x',
    );
    const none = `wd_${'0'.repeat(26)}`;
    await refused(
      `POST /v1/webhooks/deliveries/${none}/retry failed with 404: There is no such delivery. (not_found)`,
      ...['deliveries', 'retry', none],
    );
    await shop.untilDeliveries(([one]) => one?.status === 'DELIVERED');
  });

  describe('dlq redrive', () => {
    let isWell: boolean;
    let accountId: string;
    const operate = (...words: string[]) => runWords(database.connectionString, ...words);
    const redriven = async (...words: string[]) => {
      const { code, err, json } = await operate('dlq', 'redrive', '--account', accountId, ...words, '--json');
      expect(code, err).to.equal(0);
      return json;
    };
    beforeEach(async () => {
      isWell = false;
      accountId = `acct_${shop.tenant.accountId}`;
      const failing = await receivers.open(answering(() => (isWell ? 200 : 500)));
      await shop.register(failing.url, ['charge.created']);
      for (let n = 0; n < 2; n++) await shop.charge();
      await shop.flushed();
      await shop.advance(ALL_RETRIES_SECONDS);
      isWell = true;
    });

    it('sends failed deliveries again, once, beside the running program', async () => {
      const counts = { accountId, mode: 'test', matched: 2, queued: 2, sent: 2 };
      expect(await redriven('--dry-run')).to.deep.equal({
        ...{ matched: 2, queued: 0, sent: 0 },
        accounts: [{ ...counts, queued: 0, sent: 0 }],
      });
      expect((await shop.deliveries('?status=FAILED')).total).to.equal(2);
      expect(await redriven()).to.deep.equal({ matched: 2, queued: 2, sent: 2, accounts: [counts] });
      await shop.untilDeliveries((all) => all.every(({ status }) => status === 'DELIVERED'));
      expect((await operate('dlq', 'redrive', '--account', accountId)).out).to.equal('no failed deliveries\n');
    });

    it('filters by endpoint, event and time, and rejects invalid filters', async () => {
      const nothing = { matched: 0, queued: 0, sent: 0, accounts: [] };
      expect(await redriven('--event', 'charge.paid')).to.deep.equal(nothing);
      expect(await redriven('--endpoint', `we_${'0'.repeat(26)}`)).to.deep.equal(nothing);
      expect(await redriven('--created-before', '2020-01-01')).to.deep.equal(nothing);
      expect(await redriven('--created-after', '2999-01-01')).to.deep.equal(nothing);
      const { out } = await operate('dlq', 'redrive', '--account', accountId, '--created-after', '2020-01-01');
      expect(out).to.equal(`${accountId}  test  2  2  2\n`);
      for (const [name, value, what] of [
        ['endpoint', 'x', 'we_ id'],
        ['created-after', 'yesterday', 'ISO 8601 date or date-time'],
        ['created-before', '2026-13-01', 'ISO 8601 date or date-time'],
      ] as const) {
        const { code, err } = await operate('dlq', 'redrive', `--${name}`, value);
        expect([code, err.split('\n').at(-2)]).to.deep.equal([2, `quita: --${name} "${value}" is not a valid ${what}`]);
      }
    });
  });

  it('deliveries tail prints each change from its start until it is stopped', async () => {
    await shop.register(receiver.url, ['charge.created']);
    await shop.charge(); // this charge precedes the command, so it is not shown
    await shop.flush();
    const looked = Promise.withResolvers<void>();
    const { deliveries } = gateway.gateway.services.views;
    const list = deliveries.list.bind(deliveries);
    const spied = async (...args: Parameters<typeof list>) => {
      const page = await list(...args);
      looked.resolve();
      return page;
    };
    Object.assign(deliveries, { list: spied });
    const stop = new AbortController();
    const printed: Delivery[] = [];
    let wake = Promise.withResolvers<void>();
    const [tail] = COMMANDS.filter(({ name }) => name === 'deliveries tail');
    if (!tail?.isLocal) throw new Error('there is no such command');
    const ended = tail.run(
      { env: env(), signal: stop.signal },
      { args: [], options: { event: 'charge.created' }, isJson: true },
      {
        print: (line) => {
          printed.push(JSON.parse(line) as Delivery);
          wake.resolve();
        },
        warn: () => undefined,
        screen: screenOf({ write: () => undefined }, {}),
        progress: NO_PROGRESS,
      },
    );
    await Promise.race([ended, looked.promise]);
    Object.assign(deliveries, { list });
    const { id } = await shop.charge();
    while (printed.at(-1)?.status !== 'DELIVERED') {
      wake = Promise.withResolvers();
      await Promise.race([ended, wake.promise]);
    }
    stop.abort();
    expect(await ended).to.deep.equal({ json: undefined, text: '' });
    for (const { eventType, payload } of printed)
      expect([eventType, (payload as { data: { object: { id: string } } }).data.object.id]).to.deep.equal([
        'charge.created',
        id,
      ]);
  });

  it('deliveries tail warns once when its polls fail, and continues', async () => {
    const created = { id: 'wd_1', eventType: 'charge.created', status: 'PENDING', attempts: 0 };
    const answers: readonly (readonly [number, object])[] = [
      [200, { data: [], total: 0 }],
      [503, { error: { message: 'the read models are behind', code: 'service_unavailable' } }],
      [503, {}],
      [200, { data: [created], total: 1 }],
    ];
    let asked = 0;
    const server = createServer((_, response) => {
      const [status, body] = answers[asked++] ?? answers.at(-1)!;
      response.writeHead(status).end(JSON.stringify(body));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const stop = new AbortController();
    const [printed, warned]: [unknown[], string[]] = [[], []];
    const [tail] = COMMANDS.filter(({ name }) => name === 'deliveries tail');
    if (!tail?.isLocal) throw new Error('there is no such command');
    await tail.run(
      { env: { ...env(), PUBLIC_URL: url }, signal: stop.signal },
      { args: [], options: {}, isJson: true },
      {
        print: (line) => {
          printed.push(JSON.parse(line));
          stop.abort();
        },
        warn: (line) => warned.push(line),
        screen: screenOf({ write: () => undefined }, {}),
        progress: NO_PROGRESS,
      },
    );
    server.close();
    expect(printed).to.deep.equal([created]);
    expect(warned).to.deep.equal([
      'GET /v1/webhooks/deliveries?limit=100 failed with 503: the read models are behind (service_unavailable); polling again until Ctrl-C',
    ]);
  });
});
