// Rotating the secret of a webhook endpoint: an instant switch without overlap (contract.md Webhook management; rule W1).

import { expect } from 'chai';
import { metadataForProcess } from '../../../../application/core/eventMetadata.ts';
import type { EndpointId } from '../../../../domain/kernel/ids.ts';
import { deleteEndpoint, WEBHOOK_ENDPOINT } from '../../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { expectSigned } from '../../../world/deliveryFacts.ts';
import { deliveryScene } from '../../../world/deliveryScene.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady, rawIdOf } from '../../../world/http.ts';
import { type Endpoint, Merchant } from '../../../world/merchant.ts';
import { migratedDatabase } from '../../../world/postgres.ts';
import { type Hit, Receiver } from '../../../world/receiver.ts';

describe('the secret of a webhook endpoint', () => {
  let gateway: TestGateway;
  let merchant: Awaited<ReturnType<typeof Merchant.open>>;
  let receiver: Receiver;
  let endpoint: Endpoint;
  const receivers = deliveryScene((opened, own) => {
    gateway = opened;
    merchant = own;
  });
  beforeEach(async () => {
    receiver = await receivers.open();
    endpoint = await merchant.register(receiver.url, ['charge.created']);
  });
  const rotate = (body: unknown = undefined, key = merchant.key, id = endpoint.id) =>
    gateway.call<Endpoint>('POST', `/v1/webhooks/endpoints/${id}/rotate-secret`, { body, key });
  const next = async (): Promise<Hit> => {
    await merchant.charge();
    await merchant.flush();
    return receiver.got.at(-1) as Hit;
  };
  /** Returns the versions of the endpoint’s stored secrets. */
  const storedVersions = async () => {
    const text = 'SELECT version FROM operations.webhook_secrets WHERE endpoint_id = $1 ORDER BY version';
    const { rows } = await gateway.storage.operations.query<{ version: number }>(text, [rawIdOf(endpoint.id)]);
    return rows.map(({ version }) => version);
  };
  const versionsOf = async () => {
    const versions: unknown[] = [];
    const stream = WEBHOOK_ENDPOINT.stream(rawIdOf(endpoint.id) as EndpointId);
    for await (const { data } of gateway.storage.store.readStream(stream))
      versions.push((JSON.parse(data) as { secretVersion: unknown }).secretVersion);
    return versions;
  };

  it('is replaced immediately; everything afterwards is signed with the new one', async () => {
    expectSigned(await next(), endpoint.secret, 'canonical');
    for (const body of [undefined, {}, { id: endpoint.id }, { id: endpoint.id, endpointId: endpoint.id }]) {
      const { status, body: rotated } = await rotate(body);
      expect([status, Object.keys(rotated), rotated.id]).to.deep.equal([200, ['id', 'secret'], endpoint.id]);
      expect(rotated.secret)
        .to.match(/^[0-9a-f]{64}$/)
        .and.not.equal(endpoint.secret);
      const hit = await next();
      expectSigned(hit, rotated.secret, 'canonical');
      expect(() => expectSigned(hit, endpoint.secret, 'canonical')).to.throw();
      endpoint = rotated;
    }
    expect(await versionsOf()).to.deep.equal([1, 2, 3, 4, 5]);
    expect(await storedVersions()).to.deep.equal([4, 5]);
  });
  it('is deleted with its endpoint', async () => {
    await rotate();
    expect(await storedVersions()).to.deep.equal([1, 2]);
    const { status } = await gateway.call('DELETE', `/v1/webhooks/endpoints/${endpoint.id}`, { key: merchant.key });
    expect([status, await storedVersions()]).to.deep.equal([200, []]);
  });
  it('is different in each of ten concurrent rotations, and the last version signs', async () => {
    const replies = await Promise.all(Array.from({ length: 10 }, () => rotate()));
    expect(replies.map(({ status }) => status)).to.deep.equal(Array(10).fill(200));
    const secrets = replies.map(({ body }) => body.secret);
    expect(new Set(secrets).size).to.equal(10);
    expect(await versionsOf()).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    const last = (await gateway.gateway.needs.secrets.find(rawIdOf(endpoint.id) as EndpointId, 11)) as string;
    expect(secrets).to.include(last);
    expectSigned(await next(), last, 'canonical');
  });
  it('rotated in one process signs immediately in another; concurrent rotations in both differ', async () => {
    const database = await migratedDatabase();
    const log = { database, isAlone: false } as const;
    const works = await openReady({ ...log, roles: { serves: true, projects: true, works: true } });
    const serves = await openReady({ ...log, roles: { serves: true, projects: false, works: false } });
    const shop = await Merchant.open(serves);
    const theirs = await shop.register(receiver.url, ['charge.created']);
    const path = `/v1/webhooks/endpoints/${theirs.id}/rotate-secret`;
    const at = (one: TestGateway) => one.call<Endpoint>('POST', path, { key: shop.key });
    for (let n = 0; n < 5; n++) {
      const { secret } = (await at(serves)).body;
      await shop.charge();
      await shop.flush();
      expectSigned(receiver.got.at(-1) as Hit, secret, 'canonical');
    }
    const replies = await Promise.all(Array.from({ length: 10 }, (_, n) => at(n % 2 === 0 ? works : serves)));
    expect(replies.map(({ status }) => status)).to.deep.equal(Array(10).fill(200));
    expect(new Set(replies.map(({ body }) => body.secret)).size).to.equal(10);
    await shop.charge();
    await shop.flush();
    const last = await works.gateway.needs.secrets.find(rawIdOf(theirs.id) as EndpointId, 16);
    expectSigned(receiver.got.at(-1) as Hit, last as string, 'canonical');
    for (const one of [serves, works]) {
      expect(one.faults).to.deep.equal([]);
      await one.close();
    }
    await database.drop();
  });
  it('signs retries of earlier failures from the next attempt on', async () => {
    await receiver.close();
    const isDown = await Receiver.open((_hit, res) => void res.writeHead(500).end());
    await gateway.call('PATCH', `/v1/webhooks/endpoints/${endpoint.id}`, {
      body: { url: isDown.url },
      key: merchant.key,
    });
    await merchant.charge();
    await merchant.flush();
    const { secret } = (await rotate()).body;
    await merchant.advance(6);
    const [first, second] = isDown.got as [Hit, Hit];
    expectSigned(first, endpoint.secret, 'canonical');
    expectSigned(second, secret, 'canonical');
    await isDown.close();
  });
  it('is not rotated if the body names another endpoint or an invalid ID', async () => {
    for (const id of [`we_${'0'.repeat(26)}`, rawIdOf(endpoint.id), ''])
      expectError(await rotate({ id }), 400, 'invalid_request', 'id');
    for (const id of [5, null]) expectError(await rotate({ id }), 400, 'invalid_request', 'id');
    expectError(await rotate([]), 400, 'invalid_request');
    expect(await versionsOf()).to.deep.equal([1]);
    expectSigned(await next(), endpoint.secret, 'canonical');
  });
  it('returns 404 for endpoints of another account or mode, deleted or unknown, and stores no secret', async () => {
    const stranger = await gateway.newTenant();
    for (const key of [stranger.testKey, merchant.tenant.liveKey]) expectError(await rotate({}, key), 404, 'not_found');
    expectError(await rotate({}, merchant.key, `we_${'0'.repeat(26)}`), 404, 'not_found');
    expect(await storedVersions()).to.deep.equal([1]);
    await merchant.delete(endpoint);
    expectError(await rotate(), 404, 'not_found');
    const { rows } = await gateway.storage.operations.query(
      'SELECT version FROM operations.webhook_secrets WHERE endpoint_id = ANY($1)',
      [[rawIdOf(endpoint.id), '0'.repeat(26)]],
    );
    expect(rows).to.deep.equal([]);
  });
  it('is deleted although the process that deleted its endpoint was killed before it deleted the secrets', async () => {
    expect((await rotate()).status).to.equal(200);
    expect(await storedVersions()).to.deep.equal([1, 2]);
    const tenant = { accountId: merchant.tenant.accountId, mode: 'test' } as const;
    const id = rawIdOf(endpoint.id) as EndpointId;
    const { commands, accounts } = gateway.gateway;
    await commands.execute(
      WEBHOOK_ENDPOINT,
      WEBHOOK_ENDPOINT.stream(id),
      deleteEndpoint(tenant, accounts.realNow()),
      metadataForProcess('test', tenant, id, id),
    );
    await merchant.flush();
    expect(await storedVersions()).to.deep.equal([]);
  });
});
