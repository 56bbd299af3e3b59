// The search for a person can continue after any item, across all accounts and modes (rule L1).
import { expect } from 'chai';
import type { Tenant } from '../../../../domain/kernel/ids.ts';
import { newKey, type TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady, rawIdOf } from '../../../world/http.ts';
import { Merchant } from '../../../world/merchant.ts';

const DOCUMENT = '39053344705';

describe('pages of the search for a person', () => {
  let gateway: TestGateway;
  /** The IDs that `find` returns, in its order. */
  let ids: readonly string[];
  let headers: { readonly authorization: string };
  before(async () => {
    gateway = await openReady();
    headers = await gateway.logIn('OPERATOR', await gateway.addUser('OPERATOR'));
    const made: string[] = [];
    for (const merchant of [await Merchant.open(gateway), await Merchant.open(gateway)]) {
      for (let n = 0; n < 3; n++) made.push((await merchant.charge({ customer: { document: DOCUMENT } })).id);
      await merchant.charge({ customer: { document: '12345678909' } });
    }
    const rich = await Merchant.open(gateway);
    await rich.pay((await rich.charge({ amount: 100_000 })).id);
    for (let n = 0; n < 2; n++) {
      const body = { amount: 500, destination: { pix_key: DOCUMENT } };
      made.push(
        (await gateway.post<{ id: string }>('/v1/payouts', body, { ...rich, idempotencyKey: newKey() })).body.id,
      );
    }
    await gateway.untilProjected();
    ids = (await find()).map(({ id }) => id);
    expect(ids.map(rawIdOf)).to.have.members(made.map(rawIdOf));
  });
  after(() => gateway.close());

  const find = async (startingAfter?: string) => {
    const { status, body, text } = await gateway.call<{ data: readonly (Tenant & { id: string })[] }>(
      'POST',
      '/ops/v1/privacy/find',
      { key: null, headers, body: { document: DOCUMENT, startingAfter } },
    );
    expect(status, text).to.equal(200);
    return body.data;
  };

  it('continue after any item', async () => {
    for (const [n, id] of ids.entries())
      expect(
        (await find(id)).map((one) => one.id),
        id,
      ).to.deep.equal(ids.slice(n + 1));
  });

  for (const what of ['find', 'report', 'erase'] as const)
    it(`reject a startingAfter that is not an item (${what})`, async () => {
      for (const startingAfter of ['x', 'tx_00000000000000000000000000']) {
        const body = { document: DOCUMENT, startingAfter, ...(what === 'erase' && { reason: 'request 17' }) };
        const reply = await gateway.call('POST', `/ops/v1/privacy/${what}`, { key: null, headers, body });
        expectError(reply, 400, 'invalid_cursor', 'startingAfter');
      }
    });
});
