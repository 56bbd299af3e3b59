// The callback routes of institutions: which callbacks are accepted, and what is stored.

import { request } from 'node:http';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { openLog } from '../../../../infrastructure/log/log.ts';
import { openBody } from '../../../../infrastructure/providers/callbackBodies.ts';
import { CallbackDesk, type Connected, newEndToEndId } from '../../../world/callbackDesk.ts';
import { testKeyring } from '../../../world/gateway.ts';
import { expectError, rawCall } from '../../../world/http.ts';
import { NO_SCHEDULES } from '../../../world/withoutWorld.ts';

type StoredRow = Parameters<typeof openBody>[1] & { readonly times: number };

const BYTES_MAX = 256 * 1_024;
const HEADER = { name: 'X-Client-Verify', value: 'SUCCESS' };

describe('callbacks of institutions over HTTP', () => {
  let desk: CallbackDesk;
  let connection: Connected;
  let locked: Connected;
  let lines = '';
  before(async () => {
    const to = new Writable({
      write: (chunk, _encoding, done) => {
        lines += String(chunk);
        done();
      },
    });
    desk = await CallbackDesk.open([{}, { requireClientCertificate: true }, {}, {}], {
      log: openLog('trace', to),
      certificateHeader: HEADER,
      startSchedule: NO_SCHEDULES,
      addressPerMinute: 40,
      trustProxy: 'loopback',
    });
    connection = desk.first;
    [locked] = desk.others as readonly [Connected];
  });
  after(() => desk.close());
  beforeEach(async () => {
    await desk.gateway.storage.operations.query('DELETE FROM operations.provider_callbacks');
  });
  const stored = async () => {
    const text =
      'SELECT connection_id, body_hash, raw, key_id, sealed, times FROM operations.provider_callbacks ORDER BY id';
    const { rows } = await desk.gateway.storage.operations.query<StoredRow>(text);
    return rows.map((row) => [openBody(testKeyring(), row).toString('latin1'), row.times] as const);
  };
  const pathOf = (id: string, secret: string): string => `/providers/${id}/${secret}`;
  const post = (path: string, raw = '{}') => desk.gateway.call('POST', path, { raw, key: null });

  it('are stored byte for byte before the response, with and without the appended /pix', async () => {
    const [first, second] = ['{"pix" : []}', '{"pix":[]}'];
    for (const [body, end] of [
      [first, ''],
      [second, '/pix'],
    ] as const) {
      const reply = await desk.call(body, { end });
      expect([reply.status, reply.text]).to.deep.equal([200, '{}']);
    }
    expect(await stored()).to.deep.equal([
      [first, 1],
      [second, 1],
    ]);
  });

  it('are stored once and counted when the same body arrives again', async () => {
    for (const end of ['', '/pix', ''] as const) expect((await desk.call('{"a":1}', { end })).status).to.equal(200);
    expect(await stored()).to.deep.equal([['{"a":1}', 3]]);
    const at = await desk.needs.callbackReads.latest(connection.id);
    expect(Date.parse(at ?? '')).to.be.closeTo(Date.now(), 60_000);
    expect(await desk.needs.callbackReads.latest(locked.id)).to.equal(null);
  });

  it('may have any content type, encoding and syntax, or no body', async () => {
    const bytes = Buffer.from([0x7b, 0x00, 0xff, 0xfe, 0x22]);
    for (const body of ['', 'não é JSON\0', bytes]) expect((await desk.call(body)).status).to.equal(200);
    expect(await stored()).to.deep.equal([
      ['', 1],
      [Buffer.from('não é JSON\0').toString('latin1'), 1],
      [bytes.toString('latin1'), 1],
    ]);
    expect(await desk.untilHandled()).to.deep.equal([['notUnderstood'], ['notUnderstood'], ['notUnderstood']]);
  });

  it('are test calls when sent at a registration', async () => {
    expect((await desk.call({ evento: 'teste_webhook' })).status).to.equal(200);
    expect(await desk.untilHandled()).to.deep.equal([['testCall']]);
  });

  it('have at most 256 KiB, with or without Content-Length', async () => {
    const path = pathOf(connection.id, connection.secret);
    const whole = 'x'.repeat(BYTES_MAX);
    expect((await post(path, whole)).status).to.equal(200);
    expectError(await post(path, `${whole}x`), 413, 'payload_too_large');
    const chunks = await rawCall(desk.gateway, { method: 'POST', path, chunks: [whole, 'x', ''] });
    expectError(chunks, 413, 'payload_too_large');
    expect((await stored()).map(([raw]) => raw.length)).to.deep.equal([BYTES_MAX]);
  });

  it('get the same 404 for a wrong secret and unknown or removed connections, even if too large', async () => {
    const { id: connectionId, secret: right } = connection;
    const removed = desk.others[1] as Connected;
    expect((await desk.call('', { connection: removed })).status).to.equal(200);
    await desk.untilHandled();
    await desk.remove(removed);
    await desk.gateway.storage.operations.query('DELETE FROM operations.provider_callbacks');
    const answers = [];
    for (const [id, secret] of [
      [connectionId, `${right}0`],
      [connectionId, locked.secret],
      ['0'.repeat(26), right],
      ['pc_none', right],
      [removed.id, removed.secret],
    ] as const) {
      const reply = await post(pathOf(id, secret), 'x'.repeat(BYTES_MAX + 1));
      expectError(reply, 404, 'not_found');
      answers.push(reply.text.replace(/"request_id":"[^"]*"/, ''));
    }
    expect(new Set(answers).size).to.equal(1);
    expect(await stored()).to.deep.equal([]);
  });

  it('are accepted with the previous secret until the next rotation', async () => {
    const rotated = desk.others[2] as Connected;
    const newer = await desk.rotate(rotated);
    for (const secret of [newer, rotated.secret])
      expect((await desk.call('1', { connection: rotated, secret })).status).to.equal(200);
    const newest = await desk.rotate(rotated);
    expectError(await desk.call('1', { connection: rotated }), 404, 'not_found');
    for (const secret of [newer, newest])
      expect((await desk.call('1', { connection: rotated, secret })).status).to.equal(200);
  });

  it('need the proxy’s header if the connection requires a certificate', async () => {
    const call = (headers: Record<string, string>) => desk.call('{}', { connection: locked, headers });
    expectError(await call({}), 403, 'client_certificate_required');
    expectError(await call({ 'x-client-verify': 'FAILED' }), 403, 'client_certificate_required');
    expect((await call({ 'x-client-verify': 'SUCCESS' })).status).to.equal(200);
    expect(await stored()).to.deep.equal([['{}', 1]]);
  });

  it('reveal no secret in logs, errors and metrics', async () => {
    const { storage, faults, securityEvents, gateway } = desk.gateway;
    await storage.operations.query('ALTER TABLE operations.provider_callbacks RENAME TO provider_callbacks_away');
    const failed = await desk.call({ pix: [{ endToEndId: newEndToEndId() }] }, { end: '/pix' });
    await storage.operations.query('ALTER TABLE operations.provider_callbacks_away RENAME TO provider_callbacks');
    expectError(failed, 503, 'service_unavailable');
    for (const method of ['GET', 'PUT', 'DELETE'])
      expectError(
        await desk.gateway.call(method, pathOf(connection.id, connection.secret), { key: null }),
        405,
        'method_not_allowed',
      );
    expectError(await post(`${pathOf(connection.id, connection.secret)}/other`), 404, 'not_found');
    await desk.told({ endToEndId: 'not an id' });
    await desk.untilHandled();
    const { rows } = await storage.reads.query('SELECT * FROM operations.request_log');
    const said = [
      lines,
      failed.text,
      JSON.stringify([securityEvents, rows]),
      ...faults.map((fault) => `${fault} ${(fault as Error).stack} ${JSON.stringify(fault)}`),
      ...gateway.gauges.map(({ name }) => name),
    ].join('\n');
    expect(lines).to.include('provider callback needs an operator');
    expect(said).to.not.include(connection.secret);
  });

  it('count failed attempts per address and never block the right secret', async () => {
    const { id: connectionId } = connection;
    let reply = await post(pathOf(connectionId, 'errado'));
    for (let n = 0; n < 40 && reply.status === 404; n++) reply = await post(pathOf(connectionId, 'errado'));
    expectError(reply, 429, 'rate_limited');
    expect((await desk.call('{}')).status).to.equal(200);
  });
});

describe('the limits per connection', () => {
  const PER_MINUTE = 5;
  const IN_FLIGHT_MAX = 2;
  let desk: CallbackDesk;
  let calm: Connected;
  before(async () => {
    desk = await CallbackDesk.open([{}, {}], {
      startSchedule: NO_SCHEDULES,
      ofConnection: { perMinute: PER_MINUTE, inFlightMax: IN_FLIGHT_MAX },
    });
    [calm] = desk.others as readonly [Connected];
  });
  after(() => desk.close());

  it('don’t affect other connections', async () => {
    for (let n = 0; n < PER_MINUTE; n++) expect((await desk.call(String(n))).status).to.equal(200);
    const reply = await desk.call('one more');
    expectError(reply, 429, 'rate_limited');
    expect(Number(reply.headers.get('retry-after'))).to.be.within(1, 60);
    expect((await desk.call('{}', { connection: calm })).status).to.equal(200);
  });

  it('cap the callbacks whose bodies are still arriving', async () => {
    const { callbackSecrets } = desk.gateway.gateway.services;
    const requiresCertificate = callbackSecrets.requiresCertificate.bind(callbackSecrets);
    const slow = [];
    for (let n = 0; n < IN_FLIGHT_MAX; n++) {
      const asked = Promise.withResolvers<void>();
      callbackSecrets.requiresCertificate = async (id) => {
        asked.resolve();
        return requiresCertificate(id);
      };
      const req = request(new URL(`/providers/${calm.id}/${calm.secret}`, desk.gateway.baseUrl), { method: 'POST' });
      req.on('error', () => undefined).write('{');
      slow.push(req);
      await asked.promise;
    }
    const reply = await desk.call('{}', { connection: calm });
    expectError(reply, 503, 'service_unavailable');
    expect(reply.headers.get('retry-after')).to.equal('2');
    expectError(await desk.call('{}'), 429, 'rate_limited');
    for (const req of slow) req.destroy();
  });
});
