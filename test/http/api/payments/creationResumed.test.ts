// Creations whose provider is unavailable or does not answer (rules K7, X6), measured by the account’s clock.
import { expect } from 'chai';
import { newKey, type TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady } from '../../../world/http.ts';
import { type Body, Merchant } from '../../../world/merchant.ts';
import { Receiver, typeOf } from '../../../world/receiver.ts';
import { StoppableClock } from '../../../world/stoppableClock.ts';

describe('a creation without an answer from the provider', () => {
  let gateway: TestGateway;
  let shop: Merchant;
  /** Time passes only when a test advances it. */
  const clock = new StoppableClock();
  before(async () => {
    gateway = await openReady({ clock });
  });
  after(() => gateway.close());
  beforeEach(async () => {
    clock.stop();
    shop = await Merchant.open(gateway);
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const secondsBetween = (from: unknown, to: unknown) =>
    (Date.parse(to as string) - Date.parse(from as string)) / 1_000;
  /** Returns a function that requests one charge, always with the same idempotency key. */
  const asking = (kind: string, more: Body = {}) => {
    const idempotencyKey = newKey();
    return () =>
      gateway.charge<Body>({ ...more, metadata: { sandbox_provider: kind } }, { key: shop.key, idempotencyKey });
  };
  const charges = async () => (await shop.get<{ data: readonly Body[] }>('/v1/charges')).body.data;
  const only = async (): Promise<Body> => {
    const [charge, ...others] = await charges();
    expect(others).to.deep.equal([]);
    return charge as Body;
  };

  it('with an unavailable provider returns 503 to each repeat, and fails a minute after the last one', async () => {
    const ask = asking('unavailable');
    expectError(await ask(), 503, 'service_unavailable');
    for (let n = 0; n < 4; n++) {
      await shop.advance(50);
      expectError(await ask(), 503, 'service_unavailable');
    }
    await shop.advance(55);
    const meanwhile = await only();
    expect([meanwhile['status'], meanwhile['pix']]).to.deep.equal(['pending', undefined]);
    await shop.advance(10);
    const charge = await only();
    expect(charge['status']).to.equal('failed');
    const { at } = (charge['metadata'] as { failure: Body }).failure;
    expect(secondsBetween(charge['created_at'], at)).to.equal(260);
    const replay = await ask();
    expect([replay.status, replay.body['status'], replay.body['id']]).to.deep.equal([201, 'failed', charge['id']]);
  });

  it('repeated forever fails within 10 minutes and never sends charge.created', async () => {
    const receiver = await Receiver.open();
    await shop.register(receiver.url);
    const ask = asking('unavailable');
    for (let n = 0; n < 9; n++) {
      expectError(await ask(), 503, 'service_unavailable');
      await shop.advance(55);
    }
    expect((await only())['status']).to.equal('pending');
    await shop.advance(100);
    expect([(await ask()).body['status'], (await only())['status']]).to.deep.equal(['failed', 'failed']);
    await shop.flush();
    expect(receiver.got.map(typeOf).sort()).to.deep.equal([
      'charge.failed',
      'payment.failed',
      'payment.status_changed',
    ]);
    await receiver.close();
  });

  it('resumed after a minute gets its full lifetime from then on, also at the provider', async () => {
    expectError(await asking('timeout', { expires_in: 62 })(), 503, 'service_unavailable');
    await shop.advance(60);
    const { pix, created_at: createdAt, id } = (await only()) as { pix: Body } & Body;
    expect(secondsBetween(createdAt, pix['expires_at'])).to.equal(60 + 62);
    const told = await shop.get<{ rawResponse: { calendario: Body } }>(
      `/v1/payments/${String(id).slice(3)}/provider-status`,
    );
    expect(told.body.rawResponse.calendario['expiracao']).to.equal(60 + 62);
    await shop.advance(50);
    expect((await only())['status']).to.equal('pending');
    await shop.pay(id as string);
    expect((await only())['status']).to.equal('paid');
  });

  it('resumed by a repeat gets its full lifetime from then on', async () => {
    const ask = asking('timeout', { expires_in: 60 });
    expectError(await ask(), 503, 'service_unavailable');
    await shop.advance(55);
    const { body } = await ask();
    const { now } = await shop.clock();
    expect(secondsBetween(now, (body['pix'] as Body)['expires_at'])).to.equal(60);
    await shop.advance(50);
    expect((await only())['status']).to.equal('pending');
  });

  it('with a slow provider keeps its full lifetime', async () => {
    clock.start();
    const { body } = await asking('slow', { expires_in: 60 })();
    const lives = secondsBetween(body['created_at'], (body['pix'] as Body)['expires_at']);
    expect(lives).to.be.within(62, 90);
  });
});
