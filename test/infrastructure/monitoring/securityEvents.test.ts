// The security log: who changed which settings, and which webhook addresses were blocked.
import { expect } from 'chai';
import pino from 'pino';
import { keyFingerprint } from '../../../application/accounts/apiKeys.ts';
import type { AttemptOutcome, WebhookSender } from '../../../application/ports/webhookSender.ts';
import { reportingBlocked, securityLog } from '../../../infrastructure/monitoring/securityLog.ts';
import { openWebhookSender } from '../../../infrastructure/webhookSender/webhookSender.ts';
import { TestGateway } from '../../world/gateway.ts';

type Line = Record<string, unknown>;
const openLines = () => {
  const lines: Line[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(JSON.parse(line) as Line) });
  const security = (): Line[] =>
    lines.flatMap(({ level, msg: _, ...rest }) => (rest['security'] === undefined ? [] : [{ level, ...rest }]));
  return { log, security, all: lines };
};

const OUTCOME: AttemptOutcome = {
  ok: true,
  statusCode: 200,
  error: null,
  responseBody: null,
  retryAfterMs: null,
  durationMs: 1,
};
const fake = (error: string | null): WebhookSender => ({
  send: async () => ({ ...OUTCOME, ok: error === null, error }),
  sendInTurn: async (requestOf) => ((await requestOf()) === null ? null : { ...OUTCOME, ok: error === null, error }),
  judgeUrl: () => null,
  close: async () => undefined,
});
const request = (url: string) => ({
  url,
  headers: { 'x-acme-delivery-id': 'wd_1' },
  body: '{"payer":"Ana"}',
  mode: 'test' as const,
  account: 'acct',
});

describe('events of the security log', () => {
  it('name the host of a blocked webhook address, but not its path', async () => {
    const { log, security } = openLines();
    const sender = reportingBlocked(openWebhookSender({ allowPrivate: true }), securityLog(log));
    const [first, second] = ['http://169.254.169.254/latest?token=1', 'http://[fd00:ec2::254]/x'].map(request);
    expect((await sender.send(first!)).error).to.match(/^blocked: /);
    expect((await sender.sendInTurn(async () => second!))?.error).to.match(/^blocked: /);
    expect(await sender.sendInTurn(async () => null)).to.equal(null);
    expect(sender.judgeUrl('http://[fd00:ec2::254]/x', 'test')?.message).to.equal(
      'url must not point to a metadata address',
    );
    expect(sender.judgeUrl('ftp://example.com/x', 'test')).to.not.equal(null);
    const told = { level: 40, security: 'webhook_address_blocked', mode: 'test' };
    expect(security()).to.deep.equal([
      // The sender checks the URL at delivery and at registration, and reports both.
      { ...told, at: 'delivery', host: '169.254.169.254', deliveryId: 'wd_1' },
      { ...told, at: 'delivery', host: '[fd00:ec2::254]', deliveryId: 'wd_1' },
      { ...told, at: 'registration', host: '[fd00:ec2::254]' },
    ]);
    await sender.close();
  });

  it('don’t include deliveries that arrive or fail for other reasons', async () => {
    const { log, all } = openLines();
    for (const error of [null, 'timeout: no answer', 'status: 500', 'dns: ENOTFOUND'])
      await reportingBlocked(fake(error), securityLog(log)).send(request('https://example.com/'));
    expect(all).to.deep.equal([]);
  });

  describe('of a gateway', () => {
    const { log, security } = openLines();
    let gateway: TestGateway;
    before(async () => {
      gateway = await TestGateway.open({ log });
    });
    after(() => gateway.close());

    it('name the changed setting and the key that changed it, but no secrets', async () => {
      const { accountId, testKey } = gateway.tenant;
      const made = await gateway.post('/v1/webhooks/endpoints', {
        url: 'http://127.0.0.1:9999/secret-path',
        events: ['*'],
      });
      const id = made.body['id'] as string;
      const rotated = await gateway.post('/v1/webhooks/override-secret/rotate', {});
      expect((await gateway.post('/v1/sandbox/settings', { auto_confirm_refunds: false })).status).to.equal(200);
      expect((await gateway.post('/v1/sandbox/settings', { rate_limit_per_minute: -1 })).status).to.equal(400);
      const path = `/v1/webhooks/endpoints/${id}`;
      const wish = { url: 'http://127.0.0.1:9999/secret-too', status: 'INACTIVE' };
      expect((await gateway.call('PATCH', path, { body: wish })).status).to.equal(200);
      for (const body of [{}, { url: 'ftp://x' }]) await gateway.call('PATCH', path, { body });
      const swapped = await gateway.post(`${path}/rotate-secret`, {});
      await gateway.post(`${path}/rotate-secret`, { id: 'we_x' });
      const gone = await gateway.call('DELETE', path);
      expect(gone.status).to.equal(200);
      const told = security();
      for (const line of told) expect(line['requestId']).to.match(/^req_/);
      const by = `key:${keyFingerprint(testKey).slice(0, 16)}`;
      const same = { level: 30, security: 'settings_changed', account: `acct_${accountId}`, mode: 'test', by };
      expect(told.map(({ requestId: _, ...rest }) => rest)).to.deep.equal([
        { ...same, setting: 'webhook endpoint registered', endpointId: id },
        { ...same, setting: 'override secret' },
        { ...same, setting: 'sandbox', changed: ['autoConfirmRefunds'] },
        { ...same, setting: 'webhook endpoint changed', changed: ['url', 'status'], endpointId: id },
        { ...same, setting: 'webhook endpoint secret', endpointId: id },
        { ...same, setting: 'webhook endpoint deleted', endpointId: id },
      ]);
      const text = JSON.stringify(told);
      const secrets = [made, rotated, swapped].map(({ body }) => body['secret']);
      for (const secret of [testKey, ...secrets, 'secret-path', 'secret-too'])
        expect(text).to.not.contain(String(secret));
    });

    it('name the changed key and the user who changed it, but no secrets', async () => {
      const user = await gateway.addUser('ADMIN');
      const headers = await gateway.logIn('ADMIN', user);
      const before = security().length;
      const ask = (method: string, path: string, body?: object) =>
        gateway.call<{ id: string; apiKey: string }>(method, path, { key: null, headers, ...(body && { body }) });
      const { body: first } = await ask('POST', '/v1/api-keys', { test: true });
      const { body: second } = await ask('POST', `/v1/api-keys/${first.id}/rotate`, {});
      expect((await ask('POST', `/v1/api-keys/${first.id}/rotate`, {})).status).to.equal(404);
      expect((await ask('DELETE', `/v1/api-keys/${second.id}`)).status).to.equal(200);
      const told = security().slice(before);
      const of = { account: `acct_${gateway.tenant.accountId}`, mode: 'test', by: `user:usr_${user.userId}` };
      const same = { level: 30, security: 'settings_changed', ...of };
      expect(told.map(({ requestId: _, ...rest }) => rest)).to.deep.equal([
        { ...same, setting: 'API key issued', keyId: first.id },
        { ...same, setting: 'API key rotated', keyId: first.id },
        { ...same, setting: 'API key revoked', keyId: second.id },
      ]);
      for (const { apiKey } of [first, second]) expect(JSON.stringify(told)).to.not.contain(apiKey);
    });

    it('name an operator’s change, its target and its outcome, but not reads', async () => {
      const operator = await gateway.addUser('OPERATOR');
      const headers = await gateway.logIn('OPERATOR', operator);
      const { accountId } = await gateway.newTenant();
      const account = `acct_${accountId}`;
      const before = security().length;
      let asked = 0;
      const ask = async (method: string, path: string, status: number, body?: object) => {
        const id = { 'x-request-id': `asked-${++asked}` };
        const reply = await gateway.call(method, path, {
          key: null,
          headers: { ...headers, ...id },
          ...(body && { body }),
        });
        expect(reply.status, reply.text).to.equal(status);
      };
      await ask('GET', `/ops/v1/accounts/${account}`, 200);
      await ask('POST', `/ops/v1/accounts/${account}/suspend`, 200);
      await ask('PATCH', `/ops/v1/accounts/${account}/settings`, 400, { chargeWindowSeconds: 1 });
      await ask('DELETE', `/ops/v1/accounts/${account}/api-keys/key_${'0'.repeat(26)}`, 404);
      const same = { level: 30, security: 'operator_request', by: `user:usr_${operator.userId}`, id: account };
      expect(security().slice(before)).to.deep.equal([
        { ...same, operation: 'suspendAccount', status: 200, requestId: 'asked-2' },
        { ...same, operation: 'changeSettingsOfAccount', status: 400, requestId: 'asked-3' },
        {
          ...same,
          ...{ operation: 'revokeKeyOfAccount', keyId: `key_${'0'.repeat(26)}`, status: 404, requestId: 'asked-4' },
        },
      ]);
    });
  });
});
