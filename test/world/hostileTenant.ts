// A tenant with markup, direction marks and long words in every text field, and the dashboard pages that show them.
import { expect } from 'chai';
import { changeAccountSettings } from '../../application/accounts/changeAccountSettings.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { pngImage } from '../support/images.ts';
import { cookieOf, type FormFile, ownFiles } from './browser.ts';
import { newKey, type TestGateway, type TestTenant, type TestUser } from './gateway.ts';
import { rawIdOf } from './http.ts';
import { Merchant } from './merchant.ts';
import { Receiver } from './receiver.ts';

/** Runs a script if a page doesn’t escape it, and changes the direction of the text after it. */
export const MARKUP = `"><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\u2066`;
const WORD = 'W'.repeat(10_000);
/** Returns a hostile text of at most `length` characters. */
export const hostileText = (length: number): string => (MARKUP + WORD).slice(0, length);
const FILE_NAME = `"><img src=x onerror=alert(1)>${'W'.repeat(200)}.png`;

export interface HostileTenant {
  readonly tenant: TestTenant;
  readonly owner: TestUser;
  /** Paths below `/dashboard/test`. */
  readonly pages: readonly string[];
  close(): Promise<void>;
}

export const openHostileTenant = async (gateway: TestGateway): Promise<HostileTenant> => {
  const tenant = await gateway.newTenant();
  const key = tenant.testKey;
  const owner = await gateway.addUser('OWNER', { tenant });
  const bearer = await gateway.logIn('OWNER', owner);
  const receiver = await Receiver.open((_hit, res) => {
    res.statusCode = 500;
    res.end(MARKUP + WORD);
  });
  const asOwner = <T>(path: string, body?: unknown, method = 'POST') =>
    gateway.call<T>(method, path, { key: null, headers: bearer, ...(body !== undefined && { body }) });
  await asOwner('/v1/users/invite', { email: `h-${newKey()}@example.com`, role: 'VIEWER', name: hostileText(200) });
  await asOwner('/v1/api-keys', { label: hostileText(60), test: true });
  const renamed = await changeAccountSettings(gateway.gateway.needs)(
    tenant.accountId,
    { merchantName: `<script>alert(1)</script>${'W'.repeat(60)}` } as never,
    { actor: 'operator:test', requestId: null },
  );
  if (isRejection(renamed)) throw new Error(renamed.message);
  const hook = { url: `${receiver.url}/${'W'.repeat(1_500)}`, events: ['charge.created', 'charge.paid'] };
  const endpoint = await gateway.post<{ id: string }>('/v1/webhooks/endpoints', hook, { key });
  expect(endpoint.status, endpoint.text).to.equal(201);
  const charge = await gateway.charge<{ id: string }>(
    {
      amount: 99_999_999_999,
      customer: { name: hostileText(200), email: `${'w'.repeat(60)}@example.com` },
      description: hostileText(500),
      metadata: { [hostileText(200)]: hostileText(3_000), 'another <b>key</b>': { deep: [hostileText(2_000)] } },
    },
    { key, headers: { 'x-request-id': 'W'.repeat(128) } },
  );
  expect(charge.status, charge.text).to.equal(201);
  const { id } = charge.body;
  const paid = { payer: { name: hostileText(140), document: null } };
  expect((await gateway.post(`/v1/sandbox/charges/${id}/pay`, paid, { key })).status).to.equal(200);
  await gateway.get(`/v1/charges/${encodeURIComponent(hostileText(250))}`, { key });
  const payout = { amount: 1, destination: { pix_key: 'ana@example.com' }, description: hostileText(140) };
  const requested = await gateway.post<{ id: string }>('/v1/payouts', payout, { key, idempotencyKey: newKey() });
  expect(requested.status, requested.text).to.equal(201);
  const report = { reason: hostileText(500) };
  const opened = await gateway.post<{ id: string }>(`/v1/sandbox/charges/${id}/med`, report, { key });
  expect(opened.status, opened.text).to.equal(201);
  const dispute = `/disputes/${rawIdOf(opened.body.id)}`;
  const file: FormFile = {
    field: 'files',
    name: FILE_NAME.replaceAll('"', '%22'),
    type: 'image/png',
    bytes: pngImage(),
  };
  const form = ownFiles(bearer, [file]);
  const sent = await gateway.call('POST', `/dashboard/test${dispute}/evidence`, {
    key: null,
    raw: form.raw,
    headers: { ...cookieOf(bearer), ...form.headers },
  });
  expect(sent.status, sent.text).to.equal(303);
  await gateway.post(`/v1/med/cases/${opened.body.id}/appeal`, { reason: hostileText(2_000) }, { key });
  await receiver.until(() => receiver.got.length > 0);
  const [delivery] = await new Merchant(gateway, key).untilDeliveries((all) =>
    all.some(({ lastResponseBody }) => Boolean(lastResponseBody)),
  );
  await gateway.writeRequests();
  const [request] = await gateway.gateway.services.requestsWithId(tenant.accountId, 'W'.repeat(128));
  return {
    tenant,
    owner,
    close: () => receiver.close(),
    pages: [
      ...['', '/payments', `/payments/${rawIdOf(id)}`, '/wallet', '/payouts', `/payouts/${rawIdOf(requested.body.id)}`],
      ...['/disputes', dispute, '/webhooks', `/webhooks/endpoints/${endpoint.body.id}`],
      ...[`/webhooks/deliveries/${rawIdOf(delivery?.id ?? '')}`, '/developers', '/developers/requests'],
      ...[`/developers/requests/log_${request?.id}`, '/sandbox', '/settings', '/settings/team'],
    ],
  };
};
