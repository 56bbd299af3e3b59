// The error table, both ways: every code of the domain has its status, and every code is answered to somebody (contract.md Errors).

import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { changeAccountSettings } from '../../application/accounts/changeAccountSettings.ts';
import type { ErrorCode } from '../../domain/kernel/rejection.ts';
import { ERRORS } from '../../http/kernel/errors.ts';
import { listen } from '../../infrastructure/boot/httpServer.ts';
import { watchBackends } from '../infrastructure/postgres/backends.ts';
import { FakeProvider } from '../support/fakeProvider.ts';
import { newKey, type Reply, type TestGateway } from '../support/gateway.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { RefundDesk } from './refundDesk.ts';
import { type ErrorReply, expectError, openReady, rawIdOf, rawSocket } from './support.ts';

// Both ways at compile time too: a code that is missing here, or in the table, or that is in the table only, does not build.
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
const sameCodes: Same<ErrorCode, keyof typeof ERRORS> = true;

type Provoke = (gateway: TestGateway) => Promise<Reply<unknown>>;
const CPF = '12345678909';
const charge =
  (body: Record<string, unknown>): Provoke =>
  (gateway) =>
    gateway.charge(body);
const JSON_TYPE = { 'content-type': 'application/json' };
const rawCharge =
  (raw: string, headers: Record<string, string> = JSON_TYPE): Provoke =>
  (gateway) =>
    gateway.call('POST', '/v1/charges', { raw, headers, idempotencyKey: newKey() });
const endpoint =
  (body: Record<string, unknown>): Provoke =>
  (gateway) =>
    gateway.post('/v1/webhooks/endpoints', { url: 'https://example.com', events: ['*'], ...body });
/** A refund of a payment that `pay` made, in an account of its own. */
const refusedRefund =
  (pay: (desk: RefundDesk) => Promise<string>, body: Record<string, unknown> = {}): Provoke =>
  async (gateway) => {
    const desk = await RefundDesk.open(gateway);
    return desk.ask<unknown>(await pay(desk), body);
  };

/** The second live charge of an account that may make one an hour; live mode has a bank of the test's own here. */
const secondLiveCharge =
  (velocity: { readonly customerPerHour?: number; readonly accountPerHour?: number }): Provoke =>
  async () => {
    const live = await openReady({ liveProvider: new FakeProvider() });
    const { tenant, gateway } = live;
    await changeAccountSettings(gateway)(tenant.accountId, { velocity }, 'operator:test');
    const charge = () => live.charge({ customer: { document: CPF } }, { key: tenant.liveKey });
    const first = await charge();
    expect(first.status, first.text).to.equal(201);
    const second = await charge();
    await live.close();
    return second;
  };

/** One way to each code, with the status that contract.md and rules E give it, and its param. */
const PROVOKED: { readonly [Code in ErrorCode]: readonly [number, Provoke, string?] } = {
  invalid_request: [400, charge({ amount: 0, currency: 'X' })],
  invalid_amount: [400, charge({ amount: 0 }), 'amount'],
  invalid_currency: [400, charge({ currency: 'USD' }), 'currency'],
  invalid_payment_method: [400, charge({ payment_method: 'card' }), 'payment_method'],
  invalid_expires_in: [400, charge({ expires_in: 59 }), 'expires_in'],
  invalid_description: [400, charge({ description: 1 }), 'description'],
  invalid_customer: [400, charge({ customer: { document: '1' } }), 'customer.document'],
  invalid_metadata: [400, charge({ metadata: [] }), 'metadata'],
  invalid_json: [400, rawCharge('{')],
  invalid_url: [400, endpoint({ url: 'ftp://example.com' }), 'url'],
  invalid_event: [400, endpoint({ events: ['charge.refunded'] }), 'events'],
  invalid_filter: [400, (gateway) => gateway.get('/v1/webhooks/deliveries?limit=101'), 'limit'],
  invalid_cursor: [400, (gateway) => gateway.get('/v1/charges?starting_after=ch_none'), 'starting_after'],
  invalid_payer_tax_id: [400, charge({ expected_payer_tax_id: '1', customer: { name: 'A' } }), 'expected_payer_tax_id'],
  payer_tax_id_mismatch: [
    400,
    charge({ expected_payer_tax_id: CPF, customer: { name: 'A', document: '11222333000181' } }),
    'expected_payer_tax_id',
  ],
  customer_name_required: [400, charge({ expected_payer_tax_id: CPF }), 'customer.name'],
  idempotency_key_required: [400, (gateway) => gateway.post('/v1/pix/charges', { amount: 1 }), 'Idempotency-Key'],
  invalid_idempotency_key: [400, (gateway) => gateway.charge({}, { idempotencyKey: 'short' }), 'Idempotency-Key'],
  endpoint_limit_reached: [
    400,
    async (gateway) => {
      const key = (await gateway.newTenant()).testKey;
      const register = () =>
        gateway.post('/v1/webhooks/endpoints', { url: 'https://example.com', events: ['*'] }, { key });
      for (let i = 0; i < 16; i++) expect((await register()).status).to.equal(201);
      return register();
    },
  ],
  refund_limit_reached: [
    400,
    refusedRefund(async (desk) => {
      const charge = await desk.paid(101);
      await Promise.all(Array.from({ length: 100 }, () => desk.refund(charge, { amount: 1, strategy: 'devolution' })));
      return charge;
    }),
  ],
  resend_limit_reached: [
    400,
    async (gateway) => {
      const { merchant } = await RefundDesk.open(gateway);
      const path = `/v1/payments/${rawIdOf((await merchant.charge()).id)}/resend-webhook`;
      const resends = await Promise.all(Array.from({ length: 100 }, () => gateway.post(path, {}, merchant)));
      expect(resends.map(({ status, body }) => [status, (body as { resent: boolean }).resent])).to.deep.equal(
        Array(100).fill([200, false]),
      );
      return gateway.post(path, {}, merchant);
    },
  ],
  refund_amount_exceeds_remaining: [400, refusedRefund((desk) => desk.paid(100), { amount: 101 }), 'amount'],
  transaction_not_refundable: [400, refusedRefund(async ({ merchant }) => (await merchant.charge()).id)],
  transaction_not_cancellable: [
    400,
    async (gateway) => {
      const { merchant } = await RefundDesk.open(gateway);
      const cancel = `/v1/payments/${rawIdOf((await merchant.charge()).id)}/cancel`;
      expect((await gateway.post(cancel, {}, merchant)).status).to.equal(200);
      return gateway.post(cancel, {}, merchant);
    },
  ],
  charge_disputed: [
    400,
    refusedRefund(async (desk) => {
      const id = await desk.paidBy('CREDIT_CARD');
      await desk.post(`/v1/sandbox/payments/${id}/chargeback`, {});
      return id;
    }),
  ],
  REFUND_NOT_SUPPORTED: [422, refusedRefund((desk) => desk.paidBy('BOLETO'))],
  'fraud.customer_velocity_exceeded': [403, secondLiveCharge({ customerPerHour: 1 })],
  'fraud.account_velocity_exceeded': [403, secondLiveCharge({ accountPerHour: 1 })],
  unauthorized: [401, (gateway) => gateway.charge({}, { key: null })],
  mode_not_allowed: [403, (gateway) => gateway.get('/v1/sandbox/clock', { key: gateway.tenant.liveKey })],
  not_found: [404, (gateway) => gateway.get('/v1/charges/none')],
  method_not_allowed: [405, (gateway) => gateway.call('DELETE', '/v1/wallets')],
  idempotency_key_reused: [
    409,
    async (gateway) => {
      const idempotencyKey = newKey();
      await gateway.charge({}, { idempotencyKey });
      return gateway.charge({ amount: 2 }, { idempotencyKey });
    },
    'Idempotency-Key',
  ],
  idempotency_request_in_progress: [
    409,
    async (gateway) => (await twinThatWaitedTooLong(gateway)).twin,
    'Idempotency-Key',
  ],
  payload_too_large: [413, rawCharge(' '.repeat(65_537))],
  unsupported_media_type: [415, rawCharge('{}', { 'content-type': 'text/plain' })],
  unprocessable_entity: [422, (gateway) => gateway.charge({}, { key: gateway.tenant.liveKey })],
  rate_limited: [
    429,
    async () => {
      const limited = await openReady({ perMinute: 1 });
      try {
        await limited.get('/v1/wallets');
        return await limited.get('/v1/wallets');
      } finally {
        await limited.close();
      }
    },
  ],
  headers_too_large: [431, () => onRealServer(`GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(17_000)}\r\n\r\n`)],
  internal_error: [
    500,
    (gateway) => whileServiceThrows(gateway, new TypeError('secret detail'), () => gateway.get('/v1/wallets')),
  ],
  service_unavailable: [503, charge({ metadata: { sandbox_provider: 'unavailable' } })],
};

/** Runs `ask` while looking up a key fails; the same key was never asked for, so nothing remembered it. */
const whileServiceThrows = async <T>(gateway: TestGateway, error: Error, ask: () => Promise<T>): Promise<T> => {
  const services = gateway.gateway.services as { findKey: typeof gateway.gateway.services.findKey };
  const { findKey } = services;
  services.findKey = () => Promise.reject(error);
  try {
    return await ask();
  } finally {
    services.findKey = findKey;
  }
};

/** K4: a slow first request, and a twin whose patience (a timer of 10 s of createCharge.ts) is made to end at once. */
const twinThatWaitedTooLong = async (gateway: TestGateway) => {
  const real = globalThis.setTimeout;
  const impatient = ((run: (...args: unknown[]) => void, ms?: number, ...rest: unknown[]) => {
    const isPatience = ms === 10_000 && (new Error().stack ?? '').includes('createCharge.ts');
    return real(() => run(...rest), isPatience ? 0 : ms);
  }) as typeof setTimeout;
  const idempotencyKey = newKey();
  const ask = () => gateway.charge({ metadata: { sandbox_provider: 'slow' } }, { idempotencyKey });
  globalThis.setTimeout = impatient;
  try {
    const both = [ask(), ask()];
    const twin = await Promise.race(both);
    return { twin, replies: await Promise.all(both), ask };
  } finally {
    globalThis.setTimeout = real;
  }
};

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });

/** What the program's own HTTP server answers to bytes that never become a request. */
const onRealServer = async (bytes: string): Promise<Reply<unknown>> => {
  const port = await freePort();
  const server = await listen('127.0.0.1', port, 'https://pay.example');
  try {
    const text = await rawSocket(port, bytes, () => false);
    const [head = '', payload = ''] = text.split('\r\n\r\n');
    const [first = '', ...lines] = head.split('\r\n');
    const headers = new Headers(lines.map((line) => line.split(': ') as [string, string]));
    return { status: Number(first.split(' ')[1]), headers, text: payload, body: JSON.parse(payload) };
  } finally {
    await server.stop(0);
  }
};

describe('errors', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());

  it('are the same codes in the domain and in the table', () => expect(sameCodes).to.equal(true));

  it('are all provoked here', () =>
    expect(Object.keys(PROVOKED).sort()).to.deep.equal((Object.keys(ERRORS) as ErrorCode[]).sort()));

  for (const [code, [status, provoke, param]] of Object.entries(PROVOKED) as [
    ErrorCode,
    readonly [number, Provoke, string?],
  ][])
    it(`${status} ${code}`, async () => {
      gateway.faults.length = 0;
      const reply = await provoke(gateway);
      expectError(reply, status, code, param);
      expect(ERRORS[code].status).to.equal(status);
      expect(ERRORS[code].when).to.match(/^[A-Z`].*\.$/);
      expect(gateway.faults.length).to.equal(code === 'internal_error' ? 1 : 0);
    });

  it('429, 409 in progress and 503 say when to come back', async () => {
    expect(
      (await charge({ metadata: { sandbox_provider: 'unavailable' } })(gateway)).headers.get('retry-after'),
    ).to.equal('2');
    const { twin, replies, ask } = await twinThatWaitedTooLong(gateway);
    expect([twin.status, twin.headers.get('retry-after')]).to.deep.equal([409, '1']);
    // The one that ran made the charge, and the key goes on to give it.
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([201, 409]);
    const again = await ask();
    expect([again.status, again.headers.get('idempotent-replayed')]).to.deep.equal([201, 'true']);
  });

  describe('a fault of ours', () => {
    it('says nothing of its cause, which is told to the log with the request id', async () => {
      gateway.faults.length = 0;
      const cause = new TypeError('password=hunter2 at /srv/app.ts');
      const reply = await whileServiceThrows(gateway, cause, () =>
        gateway.charge({}, { headers: { 'x-request-id': 'find-me' } }),
      );
      expectError(reply, 500, 'internal_error');
      expect(reply.text).to.not.match(/hunter2|TypeError|\.ts/);
      expect((reply.body as unknown as ErrorReply).request_id).to.equal('find-me');
      expect(gateway.faults).to.deep.equal([cause]);
    });
    it('is 503 when the database is away, whichever way it says so', async () => {
      const away = [
        { code: 'ECONNREFUSED' },
        { code: '57P01' },
        { code: '08006' },
        { code: '53100', message: 'could not extend file: No space left on device' },
        { code: '53200', message: 'out of memory' },
        { code: '53300', message: 'sorry, too many clients already' },
        { code: 'EPIPE' },
        { message: 'Connection terminated unexpectedly' },
        { message: 'timeout exceeded when trying to connect' },
      ];
      for (const { message = 'away', ...more } of away as { message?: string; code?: string }[]) {
        const reply = await whileServiceThrows(gateway, Object.assign(new Error(message), more), () =>
          gateway.get('/v1/wallets'),
        );
        expectError(reply, 503, 'service_unavailable');
        expect(reply.headers.get('retry-after')).to.equal('2');
      }
    });
    it('a database without a place for connections (53300): every route that asks it is 503, and 200 again afterwards', async () => {
      const database = await migratedDatabase();
      const crowded = await openReady({ database });
      const { body } = await crowded.charge<{ id: string }>();
      const paths = [
        ...['/v1/charges', `/v1/charges/${body.id}`, '/v1/payments', `/v1/payments/${rawIdOf(body.id)}`],
        ...[`/v1/payments/${rawIdOf(body.id)}/refunds`, '/v1/payments/stats', '/v1/wallets', '/v1/wallets/balance'],
        ...['/v1/webhooks/endpoints', '/v1/webhooks/deliveries', `/pay/${rawIdOf(body.id)}`],
      ];
      const ask = () => Promise.all(paths.map((path) => crowded.get(path)));
      const statuses = async () => (await ask()).map(({ status }, i) => `${paths[i]} ${status}`);
      const well = paths.map((path) => `${path} 200`);
      expect(await statuses()).to.deep.equal(well);
      const backends = await watchBackends(database.connectionString);
      const limit = async (most: number) => {
        const { rows } = await backends.sql.query<{ name: string }>('SELECT current_database() AS name');
        await backends.sql.query(`ALTER DATABASE ${rows[0]?.name} CONNECTION LIMIT ${most}`);
      };
      await limit(1);
      await backends.sql.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
      const [reads, write] = await Promise.all([ask(), crowded.charge()]);
      for (const reply of [...reads, write]) expectError(reply, 503, 'service_unavailable');
      await limit(-1);
      await backends.until(async () => (await statuses()).every((status, i) => status === well[i]), 15_000);
      expect((await crowded.charge()).status).to.equal(201);
      await backends.close();
      await crowded.close();
      await database.drop();
    });
    it('every connection cut in the middle of many requests: each is 201 or 503, and each key makes one charge', async () => {
      const cut = await openReady();
      const keys = Array.from({ length: 40 }, newKey);
      const ask = (idempotencyKey: string) => cut.charge({ amount: 4_321 }, { idempotencyKey });
      const first = Promise.all(keys.map(ask));
      await cut.storage.reads
        .query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
        )
        .catch(() => undefined);
      for (const reply of await first) if (reply.status !== 201) expectError(reply, 503, 'service_unavailable');
      const settled = new Map<string, string>();
      const until = Date.now() + 15_000;
      for (const key of keys)
        for (let reply = await ask(key); ; reply = await ask(key)) {
          if (reply.status === 201) {
            settled.set(key, rawIdOf((reply.body as { id: string }).id));
            break;
          }
          expectError(reply, 503, 'service_unavailable');
          expect(Date.now(), 'the database does not come back').to.be.below(until);
        }
      expect(new Set(settled.values()).size).to.equal(40);
      expect(cut.faults.filter((fault) => fault instanceof TypeError)).to.deep.equal([]);
      const { rows } = await cut.storage.reads.query<{ n: number }>(
        `SELECT count(*) AS n FROM event_store.events WHERE stream LIKE 'payment-%'`,
      );
      expect(rows).to.deep.equal([{ n: 80 }]);
      await cut.close();
    });
  });

  describe('what is no HTTP', () => {
    for (const [what, bytes] of [
      ['nonsense', 'hello\r\n\r\n'],
      ['a bad method', 'P@ST / HTTP/1.1\r\n\r\n'],
      ['a bad header', 'GET / HTTP/1.1\r\nHost: x\r\nBad Header: y\r\n\r\n'],
      ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ] as const)
      it(`${what} is 400 with the interface’s body`, async () =>
        void expectError(await onRealServer(bytes), 400, 'invalid_request'));
  });
});
