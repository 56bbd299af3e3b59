// One way to provoke each error code (contract.md Errors), for its test and for the examples of the OpenAPI document.

import { mkdtemp, rm, truncate } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import express, { type Express } from 'express';
import { changeAccountSettings } from '../../../application/accounts/changeAccountSettings.ts';
import { metadataForProcess } from '../../../application/core/eventMetadata.ts';
import type { Stopwatch } from '../../../application/ports/system.ts';
import type { EndpointId } from '../../../domain/kernel/ids.ts';
import type { ErrorCode } from '../../../domain/kernel/rejection.ts';
import { WEBHOOK_ENDPOINT } from '../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { OPERATIONS } from '../../../http/kernel/health.ts';
import { route } from '../../../http/kernel/route.ts';
import { listen, SOCKET_BOUNDS, type SocketBounds } from '../../../infrastructure/server/httpServer.ts';
import { systemStopwatch } from '../../../infrastructure/system/system.ts';
import { enrol } from '../../support/totp.ts';
import { cookieOf, formOf } from '../../world/browser.ts';
import { CallbackDesk } from '../../world/callbackDesk.ts';
import { ConnectionDesk } from '../../world/connectionDesk.ts';
import { EvidenceDesk, FILE, put, untilUploading } from '../../world/evidenceDesk.ts';
import { FakeProvider } from '../../world/fakeProvider.ts';
import { FakeRail } from '../../world/fakeRail.ts';
import { newKey, type Reply, type TestGateway } from '../../world/gateway.ts';
import { openReady, rawIdOf, rawSocket } from '../../world/http.ts';
import { Merchant } from '../../world/merchant.ts';
import { PayoutDesk } from '../../world/payoutDesk.ts';
import { freePort } from '../../world/program.ts';
import { RefundDesk } from '../../world/refundDesk.ts';
import { refusedReturn } from '../../world/refusedReturn.ts';
import { untilNoRun } from './opsExamples.ts';

export type Provoke = (gateway: TestGateway) => Promise<Reply<unknown>>;
const CPF = '12345678909';
export const charge =
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
/** Requests a refund of a payment made by `pay`, in its own account. */
const refusedRefund =
  (pay: (desk: RefundDesk) => Promise<string>, body: Record<string, unknown> = {}): Provoke =>
  async (gateway) => {
    const desk = await RefundDesk.open(gateway);
    return desk.ask<unknown>(await pay(desk), body);
  };

const erase = async (gateway: TestGateway, payment: string, more: object = {}): Promise<Reply<unknown>> => {
  const headers = await gateway.logIn('OPERATOR', await gateway.addUser('OPERATOR'));
  const body = { payment, reason: 'request 17', ...more };
  return gateway.call('POST', '/ops/v1/privacy/erase', { key: null, headers, body });
};
const erasureOf =
  (make: (desk: RefundDesk) => Promise<string>): Provoke =>
  async (gateway) =>
    erase(gateway, await make(await RefundDesk.open(gateway)));

/** Opens a dispute case in its own account and calls `ask` with it. */
const onCase =
  (ask: (gateway: TestGateway, key: { readonly key: string }, id: string) => Promise<Reply<unknown>>): Provoke =>
  async (gateway) => {
    const desk = await RefundDesk.open(gateway);
    const opened = await desk.post<{ id: string }>(`/v1/sandbox/charges/${await desk.paid(1_000)}/med`, {});
    return ask(gateway, { key: desk.merchant.key }, opened.body.id);
  };

/** Creates two live charges in an account limited to one per hour. Live mode uses a fake bank. */
const secondLiveCharge =
  (velocity: { readonly customerPerHour?: number; readonly accountPerHour?: number }): Provoke =>
  async () => {
    const live = await openReady({ liveProvider: new FakeProvider() });
    const { tenant, gateway } = live;
    await changeAccountSettings(gateway)(tenant.accountId, { velocity }, { actor: 'operator:test', requestId: null });
    const charge = () => live.charge({ customer: { document: CPF } }, { key: tenant.liveKey });
    const first = await charge();
    expect(first.status, first.text).to.equal(201);
    const second = await charge();
    await live.close();
    return second;
  };

const withEvidence =
  (ask: (desk: EvidenceDesk) => Promise<Reply<unknown>>): Provoke =>
  async (gateway) =>
    ask(await EvidenceDesk.open(gateway));

/** Uses its own gateway, whose evidence folder is known here. */
const damagedEvidence: Provoke = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quita-evidence-'));
  const gateway = await openReady({ evidence: { folder } });
  const desk = await EvidenceDesk.open(gateway);
  const upload = await desk.grant();
  expect(await put(upload, FILE)).to.equal(200);
  await truncate(join(folder, desk.merchant.tenant.accountId, rawIdOf(upload.id)), 10);
  const reply = await desk.complete(upload);
  await gateway.close();
  await rm(folder, { recursive: true });
  return reply;
};

const payout = (gateway: TestGateway, body: object = {}, key?: string): Promise<Reply<unknown>> =>
  gateway.post(
    '/v1/payouts',
    { amount: 1, destination: { pix_key: 'ana@example.com' }, ...body },
    { idempotencyKey: newKey(), ...(key !== undefined && { key }) },
  );

const withoutCertificate: Provoke = async () => {
  const desk = await CallbackDesk.open([{ requireClientCertificate: true }]);
  const reply = await desk.call({});
  await desk.close();
  return reply;
};

/** Deletes a connection that a pending charge uses, on its own gateway. */
const connectionInUse: Provoke = async () => {
  const desk = await ConnectionDesk.open();
  const { id } = await desk.add(await desk.simulator());
  const charge = await desk.charge();
  expect(charge.status, charge.text).to.equal(201);
  const reply = await desk.ask<unknown>('DELETE', `/${id}`);
  await desk.close();
  return reply;
};

const FOR_OPERATORS = route('GET', '/ops', {
  operationId: 'operate',
  summary: 'Operate the platform',
  tag: OPERATIONS,
  principal: 'operator',
  responses: { 204: { kind: 'empty', description: 'Done.' } },
  errors: [],
  handle: async () => ({ status: 204 }),
});

/** For each code: the status defined by contract.md and rules E, a way to provoke it, and its param. */
export const PROVOKED: { readonly [Code in ErrorCode]: readonly [number, Provoke, string?] } = {
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
  csrf_rejected: [
    403,
    async (gateway) =>
      gateway.call('POST', '/dashboard/sign-out', {
        key: null,
        headers: cookieOf(await gateway.logIn()),
        ...formOf({ csrf: 'of another page' }),
      }),
  ],
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
  change_limit_reached: [
    400,
    async (gateway) => {
      const { id } = (await endpoint({})(gateway)).body as { id: string };
      const stream = WEBHOOK_ENDPOINT.stream(rawIdOf(id) as EndpointId);
      const at = await gateway.gateway.accounts.now(gateway.tenant.accountId, 'test');
      const changes = Array.from({ length: 1_999 }, (_, n) => ({
        type: 'WebhookEndpointChanged' as const,
        data: { url: `https://example.com/${n}`, events: null, status: null, at },
      }));
      const metadata = metadataForProcess('test', { ...gateway.tenant, mode: 'test' }, id, id);
      await gateway.gateway.commands.record(
        WEBHOOK_ENDPOINT,
        stream,
        () => ({ events: changes, reply: null }),
        metadata,
      );
      return gateway.call('PATCH', `/v1/webhooks/endpoints/${id}`, { body: { status: 'INACTIVE' } });
    },
  ],
  invalid_connection: [
    400,
    async (gateway) => {
      const headers = await gateway.logIn('OPERATOR');
      const body = {
        ...{
          preset: 'unknown',
          name: 'Banco',
          baseUrl: 'https://bank.example',
          tokenUrl: 'https://bank.example/token',
        },
        ...{ clientId: 'quita', clientSecret: 'segredo', pixKey: 'pix@quita.example' },
      };
      return gateway.call('POST', '/ops/v1/providers', { key: null, headers, body });
    },
    'preset',
  ],
  connection_in_use: [400, connectionInUse],
  endpoint_not_active: [
    400,
    async (gateway) => {
      const merchant = await Merchant.open(gateway);
      const registered = await merchant.register('http://127.0.0.1:1024/', ['charge.created']);
      await merchant.charge();
      await merchant.flushed();
      const { id } = await merchant.delivery();
      await merchant.delete(registered);
      return gateway.post(`/v1/webhooks/deliveries/${id}/retry`, {}, merchant);
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
  charge_not_disputable: [
    400,
    async (gateway) => {
      const { merchant } = await RefundDesk.open(gateway);
      return gateway.post(`/v1/sandbox/charges/${(await merchant.charge()).id}/med`, {}, merchant);
    },
  ],
  invalid_file_name: [400, withEvidence((desk) => desk.ask({ file_name: '../nota.png' })), 'file_name'],
  invalid_file_size: [400, withEvidence((desk) => desk.ask({ file_size: 10_485_761 })), 'file_size'],
  invalid_mime_type: [400, withEvidence((desk) => desk.ask({ mime_type: 'image/svg+xml' })), 'mime_type'],
  invalid_evidence: [
    400,
    withEvidence(async (desk) => {
      const upload = await desk.grant({ mime_type: 'application/pdf' });
      expect(await put(upload, FILE)).to.equal(200);
      return desk.complete(upload);
    }),
  ],
  evidence_limit_reached: [
    400,
    withEvidence(async (desk) => {
      for (let i = 0; i < 20; i++) await desk.add();
      return desk.ask();
    }),
  ],
  EVIDENCE_NOT_UPLOADED: [409, withEvidence(async (desk) => desk.complete(await desk.grant()))],
  EVIDENCE_SIZE_MISMATCH: [409, damagedEvidence],
  upload_limit_reached: [
    429,
    withEvidence(async (desk) => {
      for (let i = 0; i < 20; i++) await desk.grant();
      return desk.ask();
    }),
  ],
  upload_in_progress: [
    409,
    async (gateway) => {
      const upload = await (await EvidenceDesk.open(gateway)).grant();
      const slow = request(upload.upload_url, { method: 'PUT', headers: upload.upload_headers });
      slow.on('error', () => undefined).write(FILE.subarray(1));
      await untilUploading(gateway, upload);
      const path = upload.upload_url.slice(gateway.baseUrl.length);
      const reply = await gateway.call('PUT', path, { raw: FILE, headers: { 'content-type': 'image/png' }, key: null });
      slow.destroy();
      return reply;
    },
  ],
  upload_too_slow: [
    408,
    () =>
      onRealServer('PUT /evidence/x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{', {
        bounds: { ...SOCKET_BOUNDS, uploadGraceMs: 100 },
        app: express().put('/evidence/:id', () => undefined),
      }),
  ],
  invalid_signature: [403, (gateway) => gateway.get(`/evidence/mev_${'0'.repeat(26)}?token=none`, { key: null })],
  case_not_open: [
    400,
    onCase(async (gateway, key, id) => {
      expect((await gateway.post(`/v1/med/cases/${id}/accept`, {}, key)).status).to.equal(200);
      return gateway.post(`/v1/med/cases/${id}/accept`, {}, key);
    }),
  ],
  held_already_settled: [
    409,
    async (gateway) => {
      const { id } = await refusedReturn(gateway);
      const headers = await gateway.logIn('OPERATOR', await gateway.addUser('OPERATOR'));
      const body = { writtenOff: true, reason: 'The payer’s account is closed.' };
      const settle = () => gateway.call('POST', `/ops/v1/held/${id}/settle`, { key: null, headers, body });
      expect((await settle()).status).to.equal(200);
      return settle();
    },
  ],
  payment_not_final: [409, erasureOf((desk) => desk.merchant.charge().then(({ id }) => id))],
  retention_not_passed: [409, erasureOf((desk) => desk.paid(1_000))],
  payment_erased: [
    409,
    async (gateway) => {
      const desk = await RefundDesk.open(gateway);
      const id = await desk.paid(1_000);
      expect((await erase(gateway, id, { despiteRetention: true })).status).to.equal(200);
      return desk.ask<unknown>(id, {});
    },
  ],
  case_under_review: [
    400,
    onCase(async (gateway, key, id) => {
      const decided = await gateway.post(`/v1/sandbox/med/cases/${id}/decide`, { result: 'agreed', review: true }, key);
      expect(decided.status).to.equal(200);
      return gateway.post(`/v1/med/cases/${id}/accept`, {}, key);
    }),
  ],
  invalid_reason: [
    400,
    onCase((gateway, key, id) => gateway.post(`/v1/med/cases/${id}/appeal`, { reason: 'no' }, key)),
    'reason',
  ],
  invalid_pix_key: [400, (gateway) => payout(gateway, { destination: { pix_key: '1' } }), 'destination.pix_key'],
  insufficient_funds: [422, (gateway) => payout(gateway), 'amount'],
  destination_not_allowed: [
    422,
    async () => {
      const live = await openReady({ livePayoutRail: new FakeRail() });
      const reply = await payout(live, {}, live.tenant.liveKey);
      await live.close();
      return reply;
    },
    'destination.pix_key',
  ],
  payout_not_cancellable: [
    400,
    async (gateway) => {
      const desk = await PayoutDesk.open(gateway);
      const { id } = await desk.untilStatus((await desk.payout()).id, 'processing');
      return desk.post(`/v1/payouts/${id}/cancel`);
    },
  ],
  payout_not_awaiting_approval: [
    400,
    async (gateway) => {
      const desk = await PayoutDesk.open(gateway);
      return desk.review((await desk.payout()).id, 'approve');
    },
  ],
  REFUND_NOT_SUPPORTED: [422, refusedRefund((desk) => desk.paidBy('BOLETO'))],
  'fraud.customer_velocity_exceeded': [403, secondLiveCharge({ customerPerHour: 1 })],
  'fraud.account_velocity_exceeded': [403, secondLiveCharge({ accountPerHour: 1 })],
  unauthorized: [401, (gateway) => gateway.charge({}, { key: null })],
  second_factor_required: [
    401,
    async (gateway) => {
      const user = await gateway.addUser();
      await enrol(gateway, await gateway.logIn('OWNER', user));
      return gateway.post<unknown>('/v1/auth/login', { email: user.email, password: user.password }, { key: null });
    },
  ],
  second_factor_enrolment_required: [
    403,
    async () => {
      const operators = await openReady({ operatorsNeedSecondFactor: true });
      const headers = await operators.logIn('OPERATOR');
      const reply = await operators.get<unknown>('/ops/v1/accounts', { key: null, headers });
      await operators.close();
      return reply;
    },
  ],
  client_certificate_required: [403, withoutCertificate],
  role_required: [
    403,
    async () => {
      const operators = await openReady({ moreRoutes: [FOR_OPERATORS] });
      const reply = await operators.get<unknown>('/ops', { key: null, headers: await operators.logIn('OWNER') });
      await operators.close();
      return reply;
    },
  ],
  API_KEY_ROLE_REQUIRED: [
    403,
    async (gateway) => gateway.post('/v1/api-keys', {}, { key: null, headers: await gateway.logIn('MEMBER') }),
  ],
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
  work_in_progress: [
    409,
    async (gateway) => {
      const headers = await gateway.logIn('OPERATOR', await gateway.addUser('OPERATOR'));
      const verify = () =>
        gateway.call('POST', '/ops/v1/projections/runs', { key: null, headers, body: { work: 'verify' } });
      const [, second] = [await verify(), await verify()];
      await untilNoRun(gateway);
      return second as Reply<unknown>;
    },
  ],
  service_unavailable: [503, charge({ metadata: { sandbox_provider: 'unavailable' } })],
};

/** Runs `ask` while key lookups fail. The key must not be cached from an earlier call. */
export const whileServiceThrows = async <T>(gateway: TestGateway, error: Error, ask: () => Promise<T>): Promise<T> => {
  const services = gateway.gateway.services as { findKey: typeof gateway.gateway.services.findKey };
  const { findKey } = services;
  services.findKey = () => Promise.reject(error);
  try {
    return await ask();
  } finally {
    services.findKey = findKey;
  }
};

/** K4: a slow first request and a concurrent duplicate, whose 10 s wait (application/core/keyedLock.ts) ends at once. */
export const twinThatWaitedTooLong = async (gateway: TestGateway) => {
  const stopwatch: { pause: Stopwatch['pause'] } = systemStopwatch;
  const { pause } = stopwatch;
  const idempotencyKey = newKey();
  const ask = () => gateway.charge({ metadata: { sandbox_provider: 'slow' } }, { idempotencyKey });
  stopwatch.pause = (ms, signal) => pause(ms === 10_000 ? 0 : ms, signal);
  try {
    const both = [ask(), ask()];
    const twin = await Promise.race(both);
    return { twin, replies: await Promise.all(both), ask };
  } finally {
    stopwatch.pause = pause;
  }
};

/** Returns the answer of the program’s own HTTP server to raw bytes. */
export const onRealServer = async (
  bytes: string,
  { bounds = SOCKET_BOUNDS, app }: { readonly bounds?: SocketBounds; readonly app?: Express } = {},
): Promise<Reply<unknown>> => {
  const port = await freePort();
  const server = await listen('127.0.0.1', port, 'https://pay.example', bounds);
  if (app !== undefined) server.serve(app);
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
