// A separate listener for operators (rule S7).
import { expect } from 'chai';
import { isRejection } from '../../../../domain/kernel/rejection.ts';
import { API_ROUTES } from '../../../../http/api/routes.ts';
import { pngImage } from '../../../support/images.ts';
import { enrol } from '../../../support/totp.ts';
import type { Reply, TestGateway, TestUser } from '../../../world/gateway.ts';
import { expectError, openReady } from '../../../world/http.ts';

describe('with a listener for operators', () => {
  let gateway: TestGateway;
  let operator: TestUser;
  before(async () => {
    gateway = await openReady({ hasOpsListener: true });
    operator = await gateway.addUser('OPERATOR');
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const logIn = (user: TestUser, at: string, more = {}): Promise<Reply<Record<string, unknown>>> =>
    gateway.post('/v1/auth/login', { email: user.email, password: user.password, ...more }, { key: null, at });
  const tokenOf = ({ body }: Reply<Record<string, unknown>>) => ({ authorization: `Bearer ${body['token']}` });

  it('lets operators log in, work and log out there', async () => {
    const reply = await logIn(operator, gateway.opsUrl);
    expect(reply.status).to.equal(200);
    const accounts = await gateway.get('/ops/v1/accounts', { key: null, headers: tokenOf(reply), at: gateway.opsUrl });
    expect(accounts.status).to.equal(200);
    const out = { key: null, headers: tokenOf(reply), at: gateway.opsUrl };
    expect((await gateway.call('POST', '/v1/auth/logout', out)).status).to.equal(204);
  });
  /** Skips the test gateway’s check, because the document declares no 404 for missing routes. */
  const codeAt = async (at: string, path: string, method = 'GET', headers: Record<string, string> = {}) => {
    const response = await fetch(at + path, { method, headers });
    return [response.status, ((await response.json()) as { error?: { code: string } }).error?.code];
  };
  it('has no operator routes on the main listener, whatever the token', async () => {
    const headers = tokenOf(await logIn(operator, gateway.opsUrl));
    for (const { method, path } of API_ROUTES.filter(({ principal }) => principal === 'operator'))
      for (const sent of [headers, {}])
        expect(await codeAt(gateway.baseUrl, path.replaceAll(/\{\w+\}/g, 'x'), method, sent), path).to.deep.equal([
          404,
          'not_found',
        ]);
    expect(await codeAt(gateway.baseUrl, '/metrics')).to.deep.equal([404, 'not_found']);
    expect(await codeAt(gateway.baseUrl, '/ops/v1/accounts', 'OPTIONS')).to.deep.equal([404, 'not_found']);
  });
  it('rejects operators’ logins on the main listener, and reveals why only for the right password', async () => {
    expectError(await logIn(operator, gateway.baseUrl), 403, 'role_required');
    expectError(await logIn({ ...operator, password: 'outra senha de teste' }, gateway.baseUrl), 401, 'unauthorized');
    const { userId, ...rest } = operator;
    expectError(await logIn({ userId, ...rest, email: `x${rest.email}` }, gateway.baseUrl), 401, 'unauthorized');
  });
  it('doesn’t reveal on the main listener whether an operator’s code is right', async () => {
    const user = await gateway.addUser('OPERATOR');
    const { recoveryCodes } = await enrol(gateway, tokenOf(await logIn(user, gateway.opsUrl)));
    for (const more of [{}, { code: '000000' }, { code: recoveryCodes[0] }])
      expectError(await logIn(user, gateway.baseUrl, more), 403, 'role_required');
    expect((await logIn(user, gateway.opsUrl, { code: recoveryCodes[0] })).status).to.equal(200);
  });
  it('lets members of accounts log in on the main listener', async () => {
    expect((await logIn(await gateway.addUser(), gateway.baseUrl)).status).to.equal(200);
  });
  it('serves metrics and health on the operators’ listener, but no routes of merchants and payers', async () => {
    const at = gateway.opsUrl;
    expect((await gateway.get('/metrics', { key: null, at })).status).to.equal(200);
    for (const path of ['/health/live', '/health/ready']) {
      expect((await gateway.get(path, { key: null, at })).status).to.equal(200);
      expect((await gateway.get(path, { key: null })).status).to.equal(200);
    }
    for (const path of ['/v1/wallets', '/v1/charges', '/docs', '/openapi.json', '/', '/account/password'])
      expect(await codeAt(at, path, 'GET', { apikey: gateway.tenant.testKey }), path).to.deep.equal([404, 'not_found']);
  });
  it('serves logos on both listeners, because operators’ pages show them', async () => {
    const { services } = gateway.gateway;
    const by = { actor: 'operator:test', requestId: null };
    const changed = await services.changeLogo(gateway.tenant.accountId, pngImage(), by);
    if (isRejection(changed)) throw new Error(changed.message);
    for (const at of [gateway.opsUrl, gateway.baseUrl])
      expect((await fetch(`${at}/pay/logos/${changed.logo}`)).status).to.equal(200);
  });
});

describe('without a listener for operators', () => {
  it('serves operators on the main listener', async () => {
    const gateway = await openReady();
    const headers = await gateway.logIn('OPERATOR');
    expect(gateway.opsUrl).to.equal(gateway.baseUrl);
    expect((await gateway.get('/ops/v1/accounts', { key: null, headers })).status).to.equal(200);
    await gateway.close();
  });
});
