// GET /v1/webhooks/deliveries/{id}: one delivery with the outcome of each attempt (rule W8); GET /v1/webhooks/stats.
import { expect } from 'chai';
import type { Attempt } from '../../../../application/webhooks/attempts.ts';
import { answering, deliveryIdOf, gate } from '../../../world/deliveryFacts.ts';
import { deliveryScene } from '../../../world/deliveryScene.ts';
import type { Delivery, Merchant } from '../../../world/merchant.ts';

type Shown = Delivery & { readonly attemptLog: readonly Attempt[] };

describe('one delivery', () => {
  let merchant: Merchant;
  const receivers = deliveryScene((_, own) => {
    merchant = own;
  });
  const show = async (id: string): Promise<Shown> => {
    const { status, body, text } = await merchant.get<Shown>(`/v1/webhooks/deliveries/${id}`);
    expect(status, text).to.equal(200);
    return body;
  };
  const outcomes = ({ attemptLog }: Shown) =>
    attemptLog.map(({ number, statusCode, error }) => [number, statusCode, error]);

  it('is the same as in the list, with its attempts', async () => {
    const receiver = await receivers.open(answering((_hit, n) => (n === 1 ? 503 : 204)));
    await merchant.register(receiver.url, ['charge.created']);
    await merchant.charge();
    await merchant.flush();
    const first = await show((await merchant.delivery()).id);
    expect([first.status, outcomes(first)]).to.deep.equal(['PENDING', [[1, 503, 'status: 503']]]);
    await merchant.advance(10);
    const listed = await merchant.delivery();
    const { attemptLog, ...shown } = await show(listed.id);
    expect(shown).to.deep.equal(listed);
    expect([shown.status, outcomes({ ...shown, attemptLog })]).to.deep.equal([
      'DELIVERED',
      [
        [1, 503, 'status: 503'],
        [2, 204, null],
      ],
    ]);
    expect(attemptLog[0]?.at).to.equal(first.updatedAt);
    expect(attemptLog[1]?.at).to.equal(shown.deliveredAt);
    for (const { durationMs } of attemptLog) expect(durationMs).to.be.within(0, 60_000);
  });

  it('has no attempts while the first one is under way', async () => {
    const { script, open } = gate();
    const receiver = await receivers.open(script);
    await merchant.register(receiver.url, ['charge.created']);
    await merchant.charge();
    const id = deliveryIdOf(await receiver.until(() => true));
    const { attemptLog, ...shown } = await show(id);
    expect([shown.status, shown.attempts, attemptLog]).to.deep.equal(['PROCESSING', 0, []]);
    expect(shown).to.deep.equal(await merchant.delivery());
    open();
    await merchant.flush();
  });

  it('is counted in the stats by the same status as in the list', async () => {
    const { script, open } = gate();
    const receiver = await receivers.open((hit, res, n) => {
      if (hit.path.endsWith('/slow')) script(hit, res, n);
      else res.writeHead(hit.path.endsWith('/ill') ? 500 : 200).end();
    });
    expect((await merchant.get('/v1/webhooks/stats')).body).to.deep.equal({
      total: 0,
      PENDING: 0,
      PROCESSING: 0,
      DELIVERED: 0,
      FAILED: 0,
      CANCELLED: 0,
    });
    for (const path of ['/well', '/ill', '/slow']) await merchant.register(receiver.url + path, ['charge.created']);
    await merchant.charge();
    await merchant.untilDeliveries((all) => all.filter(({ attempts }) => attempts === 1).length === 2);
    const stats = async () => (await merchant.get<Record<string, number>>('/v1/webhooks/stats')).body;
    expect(await stats()).to.include({ total: 3, PENDING: 1, PROCESSING: 1, DELIVERED: 1 });
    open();
    await merchant.flush();
    const counted = await stats();
    expect(counted).to.include({ total: 3, PENDING: 1, PROCESSING: 0, DELIVERED: 2 });
    for (const status of ['PENDING', 'PROCESSING', 'DELIVERED', 'FAILED', 'CANCELLED'])
      expect((await merchant.deliveries(`?status=${status}`)).total).to.equal(counted[status]);
  });
});
