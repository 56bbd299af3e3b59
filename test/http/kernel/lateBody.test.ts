// A body that arrives after its headers: what may end meanwhile is checked again.
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { pngImage } from '../../support/images.ts';
import { newKey, type TestGateway } from '../../world/gateway.ts';
import { expectError, openReady, rawCall } from '../../world/http.ts';

const CHARGE = JSON.stringify({ amount: 1_234, payment_method: 'pix' });
const JSON_TYPE = { 'content-type': 'application/json' };

describe('a request whose body arrives late', () => {
  let gateway: TestGateway;
  let owner: Record<string, string>;
  before(async () => {
    gateway = await openReady();
    owner = await gateway.logIn('OWNER');
  });
  after(() => gateway.close());

  const charge = (apikey: string, beforeBody: () => Promise<void>) => {
    const headers = { ...JSON_TYPE, apikey, 'idempotency-key': newKey() };
    return rawCall(gateway, { headers, chunks: [CHARGE], beforeBody });
  };
  const ok = async (reply: Promise<{ status: number; text: string }>) => {
    const { status, text } = await reply;
    expect(status, text).to.equal(200);
  };

  it('is refused if the key was revoked meanwhile, and has no effect', async () => {
    const issue = { label: 'gone', test: true };
    const { body } = await gateway.post<{ id: string; apiKey: string }>('/v1/api-keys', issue, {
      key: null,
      headers: owner,
    });
    const revoke = () => ok(gateway.call('DELETE', `/v1/api-keys/${body.id}`, { key: null, headers: owner }));
    expectError(await charge(body.apiKey, revoke), 401, 'unauthorized');
    expect((await gateway.get<{ data: unknown[] }>('/v1/payments')).body.data).to.deep.equal([]);
  });
  it('is refused if the user signed out meanwhile and the handler reads the body itself', async () => {
    const headers = { 'content-type': 'image/png', ...(await gateway.logIn('OWNER')) };
    const [first, rest] = [pngImage().subarray(0, 20), pngImage().subarray(20)];
    const chunks = (async function* () {
      yield first;
      const out = await gateway.call('POST', '/v1/auth/logout', { key: null, headers });
      expect(out.status).to.equal(204);
      yield rest;
    })();
    const sent = await fetch(`${gateway.baseUrl}/v1/account/logo`, {
      ...{ method: 'PUT', headers, body: Readable.from(chunks), duplex: 'half' },
    } as unknown as RequestInit);
    expect(sent.status).to.equal(401);
  });
  it('is accepted if nothing ended meanwhile', async () => {
    expect((await charge(gateway.tenant.testKey, async () => undefined)).status).to.equal(201);
  });
  it('is refused if the user was disabled or lost its role meanwhile', async () => {
    for (const [change, status, code] of [
      ['disable', 401, 'unauthorized'],
      ['role', 403, 'API_KEY_ROLE_REQUIRED'],
    ] as const) {
      const user = await gateway.addUser('ADMIN');
      const headers = { ...JSON_TYPE, ...(await gateway.logIn('ADMIN', user)) };
      const beforeBody = () =>
        ok(gateway.post(`/v1/users/usr_${user.userId}/${change}`, { role: 'VIEWER' }, { key: null, headers: owner }));
      const chunks = [JSON.stringify({ label: 'back door' })];
      expectError(await rawCall(gateway, { path: '/v1/api-keys', headers, chunks, beforeBody }), status, code);
    }
  });
});
