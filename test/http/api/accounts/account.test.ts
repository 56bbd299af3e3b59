// The account as its members see it: what each role can read and change (rules D2, M7a, O3).

import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { changeAccountSettings } from '../../../../application/accounts/changeAccountSettings.ts';
import { DECLARED_SETTINGS } from '../../../../application/capabilities.ts';
import { ACCOUNT, type AccountSettings } from '../../../../domain/account/account.ts';
import { toMinor } from '../../../../domain/kernel/money.ts';
import type { AccountRole } from '../../../../domain/user/user.ts';
import { accountSchemas } from '../../../../http/api/accounts/accountSchema.ts';
import { jpegImage, pngImage } from '../../../support/images.ts';
import { parseBrCode } from '../../../support/pix/brCodeParse.ts';
import type { Reply, TestGateway, TestTenant } from '../../../world/gateway.ts';
import { eventTypes, expectError, openReady, rawIdOf } from '../../../world/http.ts';

type Body = Record<string, unknown>;
type Headers = Readonly<Record<string, string>>;

describe('the account', () => {
  let gateway: TestGateway;
  let tenant: TestTenant;
  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());
  beforeEach(async () => {
    tenant = await gateway.newTenant();
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const as = async (role: AccountRole): Promise<Headers> =>
    gateway.logIn(role, await gateway.addUser(role, { tenant }));
  const read = (headers: Headers) => gateway.get<Body & { settings: Body }>('/v1/account', { key: null, headers });
  const change = (headers: Headers, body: Body) =>
    gateway.call<Body>('PATCH', '/v1/account/settings', { key: null, headers, body });
  const upload = (headers: Headers, raw: Buffer, type = 'image/png') =>
    gateway.call<Body>('PUT', '/v1/account/logo', { key: null, headers: { ...headers, 'content-type': type }, raw });
  const remove = (headers: Headers) => gateway.call<Body>('DELETE', '/v1/account/logo', { key: null, headers });
  const changes = async () => {
    const types = await eventTypes(gateway, ACCOUNT.stream(tenant.accountId));
    return types.filter((type) => type === 'AccountSettingsChanged').length;
  };
  const good = (reply: Reply<Body>): Body => {
    expect(reply.status, reply.text).to.equal(200);
    return reply.body;
  };

  for (const role of ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER'] as const)
    it(`is returned to ${role} in full, with the same setting names as on the command line`, async () => {
      const body = good(await read(await as(role)));
      const { settings } = await gateway.gateway.accounts.get(tenant.accountId);
      expect(body).to.deep.include({ id: `acct_${tenant.accountId}`, name: 'Loja de Teste', logoUrl: null, settings });
      expect(Object.keys(body)).to.deep.equal(['id', 'name', 'email', 'createdAt', 'logoUrl', 'settings']);
    });

  it('lets OWNER and ADMIN change the merchant’s own settings; repeats write no event', async () => {
    const [owner, admin] = [await as('OWNER'), await as('ADMIN')];
    const { settings } = good(await read(owner)) as { settings: Body };
    const colored = { ...settings, color: '#ffe600' };
    expect(good(await change(admin, { color: '#ffe600' }))).to.deep.equal(colored);
    expectError(await change(admin, { color: '#000000', unknown: 1 }), 400, 'invalid_request', 'unknown');
    expect(good(await change(admin, { color: '#ffe600' }))).to.deep.equal(colored);
    expect(await changes()).to.equal(1);
    const all = { ...colored, chargeWindowSeconds: 600, cashoutDestinations: ['99991111140'] };
    const sent = { chargeWindowSeconds: 600, cashoutDestinations: ['99991111140', '99991111140'] };
    expect(good(await change(owner, sent))).to.deep.equal(all);
    expect((good(await read(admin)) as { settings: Body }).settings).to.deep.equal(all);
    const back = { color: null, chargeWindowSeconds: 3_600, cashoutDestinations: [] };
    expect(good(await change(owner, back))).to.deep.equal(settings);
    expect(good(await change(owner, {}))).to.deep.equal(settings);
    expect(await changes()).to.equal(3);
  });
  it('lets only an OWNER set the payout destinations, which then apply to refunds', async () => {
    const [owner, admin] = [await as('OWNER'), await as('ADMIN')];
    expectError(await change(admin, { cashoutDestinations: null }), 403, 'role_required', 'cashoutDestinations');
    expectError(
      await change(admin, { cashoutDestinations: ['loja@example.com'] }),
      403,
      'role_required',
      'cashoutDestinations',
    );
    good(await change(owner, { cashoutDestinations: ['loja@example.com'] }));
    const { testKey: key } = tenant;
    const { body: charge } = await gateway.charge<{ id: string }>({}, { key });
    expect((await gateway.post(`/v1/sandbox/charges/${charge.id}/pay`, {}, { key })).status).to.equal(200);
    const refund = (destinationKey: string) => {
      const body = { idempotencyKey: `to-${destinationKey}`, amount: 1, destinationKey };
      return gateway.post(`/v1/payments/${rawIdOf(charge.id)}/refund`, body, { key });
    };
    expectError(await refund('outra@example.com'), 422, 'REFUND_NOT_SUPPORTED');
    expect((await refund('loja@example.com')).status).to.equal(201);
    good(await change(owner, { cashoutDestinations: null }));
    expect((await refund('outra@example.com')).status).to.equal(201);
  });
  it('refunds to any key in test mode, despite the empty list of a new account', async () => {
    expect((await gateway.gateway.accounts.get(tenant.accountId)).settings.cashoutDestinations).to.deep.equal([]);
    const { testKey: key } = tenant;
    const { body: charge } = await gateway.charge<{ id: string }>({}, { key });
    expect((await gateway.post(`/v1/sandbox/charges/${charge.id}/pay`, {}, { key })).status).to.equal(200);
    const body = { idempotencyKey: 'to-anybody', amount: 1, destinationKey: 'outra@example.com' };
    expect((await gateway.post(`/v1/payments/${rawIdOf(charge.id)}/refund`, body, { key })).status).to.equal(201);
  });
  it('lets only an OWNER limit refunds by count and sum, and keeps omitted limits', async () => {
    const [owner, admin] = [await as('OWNER'), await as('ADMIN')];
    expectError(await change(admin, { refundVelocity: { countPerHour: 5 } }), 403, 'role_required', 'refundVelocity');
    expectError(await change(admin, { refundVelocity: {} }), 403, 'role_required', 'refundVelocity');
    expect(await changes()).to.equal(0);
    const velocity = async (refundVelocity: Body) => good(await change(owner, { refundVelocity }))['refundVelocity'];
    expect(await velocity({ countPerHour: 5 })).to.deep.equal({ countPerHour: 5, sumPerHour: null });
    expect(await velocity({ sumPerHour: 700 })).to.deep.equal({ countPerHour: 5, sumPerHour: 700 });
    expect(await velocity({ sumPerHour: 700 })).to.deep.equal({ countPerHour: 5, sumPerHour: 700 }); // twice
    expect(await velocity({})).to.deep.equal({ countPerHour: 5, sumPerHour: 700 });
    const { settings } = await gateway.gateway.accounts.get(tenant.accountId);
    expect(settings.refundVelocity).to.deep.equal({ countPerHour: 5, sumPerHour: 700 });
    const taken = { countPerHour: null, sumPerHour: null };
    expect(await velocity(taken)).to.deep.equal(taken);
    expect(await changes()).to.equal(3);
  });
  for (const role of ['MEMBER', 'VIEWER'] as const)
    it(`lets ${role} change nothing`, async () => {
      const headers = await as(role);
      for (const body of [{}, { color: '#000000' }, { cashoutDestinations: null }, { refundVelocity: {} }])
        expectError(await change(headers, body), 403, 'role_required');
      expectError(await upload(headers, pngImage()), 403, 'role_required');
      expectError(await remove(headers), 403, 'role_required');
      expect(await changes()).to.equal(0);
    });
  it('lets no OWNER change what the operator agreed: fees, limits, names, tax ID', async () => {
    const owner = await as('OWNER');
    const { settings } = await gateway.gateway.accounts.get(tenant.accountId);
    const own = ['color', 'chargeWindowSeconds', ...accountSchemas(DECLARED_SETTINGS).ownersOnly] as readonly string[];
    const operators = Object.entries(settings).filter(([name]) => !own.includes(name));
    expect(operators).to.have.length(10);
    for (const [name, value] of operators) {
      expectError(await change(owner, { color: '#000000', [name]: value }), 403, 'role_required', name);
      expectError(await change(owner, { [name]: null }), 403, 'role_required', name);
    }
    expect(await changes()).to.equal(0);
  });
  for (const [param, body] of [
    ['color', { color: '#FFE600' }],
    ['color', { color: 'red' }],
    ['color', { color: 7 }],
    ['chargeWindowSeconds', { chargeWindowSeconds: 59 }],
    ['chargeWindowSeconds', { chargeWindowSeconds: null }],
    ['cashoutDestinations', { cashoutDestinations: ['x'] }],
    ['cashoutDestinations', { cashoutDestinations: 'any' }],
    ['cashoutDestinations', { cashoutDestinations: Array(301).fill('99991111140') }],
    ['cashoutDestinations.0', { cashoutDestinations: [7] }],
    ['refundVelocity', { refundVelocity: null }],
    ['refundVelocity.countPerHour', { refundVelocity: { countPerHour: -1 } }],
    ['refundVelocity.sumPerHour', { refundVelocity: { sumPerHour: 1.5 } }],
    ['refundVelocity.perDay', { refundVelocity: { perDay: 1 } }],
  ] as const)
    it(`rejects ${JSON.stringify(body).slice(0, 60)}`, async () => {
      expectError(await change(await as('OWNER'), body), 400, 'invalid_request', param);
      expect(await changes()).to.equal(0);
    });

  it('lets OWNER and ADMIN upload and remove the logo', async () => {
    const [owner, admin] = [await as('OWNER'), await as('ADMIN')];
    const [png, jpg] = [pngImage(40, 40), jpegImage(40, 40)];
    const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    expect(good(await upload(admin, png))['logo']).to.equal(sha(png));
    expect(good(await upload(admin, png))['logo']).to.equal(sha(png)); // twice
    expect(await changes()).to.equal(1);
    const { logoUrl } = good(await read(owner));
    expect(logoUrl).to.equal(`${gateway.baseUrl}/pay/logos/${sha(png)}`);
    expect(Buffer.from(await (await fetch(logoUrl as string)).arrayBuffer()).equals(png)).to.equal(true);
    expect(good(await upload(owner, jpg, 'image/jpeg'))['logo']).to.equal(sha(jpg));
    expect(good(await remove(owner))['logo']).to.equal(null);
    expect(good(await remove(owner))['logo']).to.equal(null); // twice
    expect(await changes()).to.equal(3);
    expect((await fetch(logoUrl as string)).status).to.equal(404);
  });
  it('rejects uploads that are not a valid PNG or JPEG', async () => {
    const owner = await as('OWNER');
    expectError(await upload(owner, Buffer.from('<svg/>')), 400, 'invalid_request', 'logo');
    expectError(await upload(owner, Buffer.alloc(0)), 400, 'invalid_request', 'logo');
    expectError(await upload(owner, pngImage(8, 8)), 400, 'invalid_request', 'logo');
    expectError(await upload(owner, pngImage(), 'image/svg+xml'), 415, 'unsupported_media_type');
    expectError(await upload(owner, Buffer.alloc(65_537)), 413, 'payload_too_large');
    expect(await changes()).to.equal(0);
  });
  it('shows callers only their own settings', async () => {
    const owner = await as('OWNER');
    good(await change(owner, { color: '#123456' }));
    tenant = await gateway.newTenant();
    expect((good(await read(await as('OWNER'))) as { settings: Body }).settings['color']).to.equal(null);
  });
  it('keeps the Pix code and fees of existing charges when settings change (O2)', async () => {
    const { testKey: key, accountId } = tenant;
    const agreed = (settings: Parameters<ReturnType<typeof changeAccountSettings>>[1]) =>
      changeAccountSettings(gateway.gateway)(accountId, settings, { actor: 'operator:test', requestId: null });
    const made = async () =>
      (await gateway.charge<{ id: string; pix: { br_code: string } }>({ amount: 1_000 }, { key })).body;
    const pay = (id: string) => gateway.post(`/v1/sandbox/charges/${id}/pay`, {}, { key });
    const payment = async (id: string) => (await gateway.get<Body>(`/v1/payments/${rawIdOf(id)}`, { key })).body;
    const [settled, open] = [await made(), await made()];
    await pay(settled.id);
    const platform: AccountSettings['fees']['PIX']['platform'] = { percentBps: 1_000, fixed: toMinor(5) };
    await agreed({ receiverName: 'OUTRA LOJA', receiverCity: 'RECIFE', fees: { PIX: { platform } } });
    expect(await payment(settled.id)).to.include({ providerFee: 10, platformFee: 10, netAmount: 980 });
    const code = (await gateway.get<{ pix: { br_code: string } }>(`/v1/charges/${open.id}`, { key })).body.pix.br_code;
    expect(code).to.equal(open.pix.br_code);
    await pay(open.id);
    expect(await payment(open.id)).to.include({ providerFee: 10, platformFee: 105, netAmount: 885 });
    const parsed = parseBrCode((await made()).pix.br_code);
    expect(parsed.ok && parsed.brCode).to.include({ merchantName: 'OUTRA LOJA', merchantCity: 'RECIFE' });
  });
});
