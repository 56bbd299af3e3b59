// Payouts awaiting approval across all accounts, over HTTP for operators (rules Y5, O1).
import { expect } from 'chai';
import { PAYOUT } from '../../../../domain/payout/aggregate.ts';
import type { PayoutId } from '../../../../domain/payout/payout.ts';
import { onBothStores } from '../../../world/bothStores.ts';
import { newKey, type Reply, type TestGateway, type TestUser } from '../../../world/gateway.ts';
import { expectError, openReady } from '../../../world/http.ts';
import type { Body } from '../../../world/merchant.ts';
import { type PayoutBody, PayoutDesk, PIX_KEY } from '../../../world/payoutDesk.ts';

interface Shown {
  readonly accountId: string;
  readonly mode: string;
  readonly payout: PayoutBody;
}

onBothStores('payouts before operators', (log) => {
  let gateway: TestGateway;
  let olga: TestUser;
  let headers: { readonly authorization: string };
  let desk: PayoutDesk;
  before(async () => {
    gateway = await openReady(log());
    olga = await gateway.addUser('OPERATOR');
    headers = await gateway.logIn('OPERATOR', olga);
  });
  after(() => gateway.close());
  beforeEach(async () => {
    desk = await PayoutDesk.open(gateway);
    await desk.settings({ payout_approval_above: 0 });
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const ask = <T = Shown>(method: string, path: string, body?: Body): Promise<Reply<T>> =>
    gateway.call<T>(method, `/ops/v1${path}`, { key: null, headers, ...(body && { body }) });
  const accountId = () => `acct_${desk.merchant.tenant.accountId}`;

  it('are listed while they await approval, oldest first, for one account or all', async () => {
    const ids = [(await desk.payout()).id, (await desk.payout()).id];
    const page = async (query: string) => (await ask<{ data: Shown[]; total: number }>('GET', `/payouts${query}`)).body;
    const { data, total } = await page(`?accountId=${accountId()}`);
    expect([data.map(({ payout }) => payout.id), total]).to.deep.equal([ids, 2]);
    expect(data[0]).to.include({ accountId: accountId(), mode: 'test' });
    expect(data[0]?.payout).to.deep.equal(await desk.read(ids[0] as string));
    const first = await page(`?accountId=${accountId()}&limit=1`);
    expect([first.data.map(({ payout }) => payout.id), first.total]).to.deep.equal([ids.slice(0, 1), 2]);
    expect((await page('')).data.map(({ payout }) => payout.id)).to.include.members(ids);
    expect((await ask('GET', `/payouts/${ids[0]}`)).body).to.deep.equal(data[0]);
    const other = await PayoutDesk.open(gateway, { available: 0 });
    const none = await page(`?accountId=acct_${other.merchant.tenant.accountId}`);
    expect(none).to.deep.equal({ data: [], total: 0 });
    expectError(await ask('GET', '/payouts?accountId=me'), 400, 'invalid_filter', 'accountId');
  });

  it('are approved or rejected once, and the events name the operator', async () => {
    const [one, other] = [await desk.payout(), await desk.payout()];
    const approved = await ask('POST', `/payouts/${one.id}/approve`);
    expect([approved.status, approved.body.payout?.awaiting_approval], approved.text).to.deep.equal([200, false]);
    const rejected = await ask('POST', `/payouts/${other.id}/reject`, { reason: 'Unknown receiver.' });
    expect([rejected.status, rejected.body.payout?.failure_reason], rejected.text).to.deep.equal([200, 'rejected']);
    expectError(await ask('POST', `/payouts/${one.id}/approve`), 400, 'payout_not_awaiting_approval');
    expectError(await ask('POST', `/payouts/${other.id}/reject`, {}), 400, 'payout_not_awaiting_approval');
    await desk.untilStatus(one.id, 'processing');
    expect(await desk.available()).to.equal(8_950);
    const by = `user:usr_${olga.userId}`;
    for (const [id, decided] of [
      [one.id, 'PayoutApproved'],
      [other.id, 'PayoutRejected'],
    ] as const)
      for await (const { type, data, metadata } of gateway.storage.store.readStream(
        PAYOUT.stream(id.slice(3) as PayoutId),
      ))
        if (type === decided) {
          expect(JSON.parse(data)).to.include({ by });
          expect(JSON.parse(metadata)).to.include({ actor: by });
        }
  });

  it('can’t be approved by the operator who issued the requesting key', async () => {
    const issued = await ask<{ apiKey: string }>('POST', `/accounts/${accountId()}/api-keys`, { test: true });
    expect(issued.status, issued.text).to.equal(201);
    const body = { amount: 1_000, destination: { pix_key: PIX_KEY } };
    const sent = { key: issued.body.apiKey, idempotencyKey: newKey() };
    const asked = await gateway.post<PayoutBody>('/v1/payouts', body, sent);
    expect(asked.status, asked.text).to.equal(201);
    for (const how of ['approve', 'reject'])
      expectError(
        await ask('POST', `/payouts/${asked.body.id}/${how}`, how === 'reject' ? {} : undefined),
        403,
        'role_required',
      );
    expect((await desk.review(asked.body.id, 'approve')).status).to.equal(200);
  });
});
