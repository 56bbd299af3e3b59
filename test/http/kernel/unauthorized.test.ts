// What a 401 says: whether the credential is missing, malformed or in another header, never whether it once existed (issue 18, point 23).
import { expect } from 'chai';
import type { TestGateway } from '../../world/gateway.ts';
import { type ErrorReply, expectError, openReady } from '../../world/http.ts';

const UNKNOWN_KEY = `ak_test_${'x'.repeat(32)}`;

describe('a 401', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());

  const told = async (path: string, headers: Record<string, string>): Promise<string> => {
    const reply = await gateway.get(path, { key: null, headers });
    expectError(reply, 401, 'unauthorized');
    return (reply.body as unknown as ErrorReply).error.message;
  };
  const ofKey = (headers: Record<string, string>) => told('/v1/wallets', headers);
  const ofToken = (headers: Record<string, string>) => told('/v1/api-keys', headers);

  it('says that the key is missing, and which other header seems to contain it', async () => {
    expect(await ofKey({})).to.equal('The `apikey` header is missing.');
    const { testKey } = gateway.tenant;
    for (const [name, value] of [
      ['authorization', `Bearer ${testKey}`],
      ['authorization', `Basic ${Buffer.from(`${testKey}:`).toString('base64')}`],
      ['x-api-key', testKey],
      ['X-API-KEY', UNKNOWN_KEY],
      ['api-key', 'nonsense'],
    ] as const)
      expect(await ofKey({ [name]: value })).to.equal(
        `The \`apikey\` header is missing. The request has the header \`${name.toLowerCase()}\`: send the key in \`apikey\` instead.`,
      );
  });
  it('says that the key is malformed, whatever else is sent', async () => {
    const { testKey } = gateway.tenant;
    for (const apikey of ['nonsense', `${testKey}x`, testKey.slice(1), `Bearer ${testKey}`, `${testKey}, ${testKey}`])
      for (const more of [{}, { authorization: 'Bearer x' }])
        expect(await ofKey({ apikey, ...more })).to.match(/^The API key is malformed. A key is `ak_live_`/);
  });
  it('gives the same message for an unknown key, a revoked key and a key respelled for the other mode', async () => {
    const owner = await gateway.logIn();
    const issue = { label: 'gone', test: true };
    const made = await gateway.post<{ id: string; apiKey: string }>('/v1/api-keys', issue, {
      key: null,
      headers: owner,
    });
    await gateway.call('DELETE', `/v1/api-keys/${made.body.id}`, { key: null, headers: owner });
    const respelled = gateway.tenant.testKey.replace('ak_test_', 'ak_live_');
    for (const apikey of [UNKNOWN_KEY, made.body.apiKey, respelled])
      expect(await ofKey({ apikey })).to.equal('The API key is invalid.');
  });
  it('says whether the token is missing, malformed or invalid, and that an API key is not a token', async () => {
    const { testKey } = gateway.tenant;
    expect(await ofToken({})).to.equal('The `Authorization` header is missing.');
    for (const apikey of [testKey, UNKNOWN_KEY])
      expect(await ofToken({ apikey })).to.equal(
        'The `Authorization` header is missing. This route does not accept API keys: log in and send the token.',
      );
    for (const authorization of ['Bearer', `Bearer ${testKey}`, `Basic ${testKey}`, 'a.b.c'])
      expect(await ofToken({ authorization })).to.equal(
        'The `Authorization` header must be `Bearer` followed by a dashboard token.',
      );
    const { authorization } = await gateway.logIn();
    await gateway.call('POST', '/v1/auth/logout', { key: null, headers: { authorization } });
    for (const sent of ['Bearer a.b.c', authorization, `${authorization}x`])
      expect(await ofToken({ authorization: sent })).to.equal('The token is invalid, or its session has ended.');
  });
});
