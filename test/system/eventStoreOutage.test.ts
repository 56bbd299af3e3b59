// EventStoreDB stops, hangs or loses connections while the program runs. Requests that can’t be stored get 503 and succeed when repeated
// with the same key, readiness reports the outage, and the program recovers by itself.
import { expect } from 'chai';
import { unreadiness } from '../../infrastructure/monitoring/readiness.ts';
import { EventStoreDbServer } from '../support/eventStoreDb/server.ts';
import { newKey, type Reply, TestGateway, untilServed } from '../world/gateway.ts';

type Charge = { id: string; status: string; error: { code: string } };

describe('the program without its event store', function suite() {
  let server: EventStoreDbServer;
  let test: TestGateway;
  before(async () => {
    server = await EventStoreDbServer.start();
    test = await TestGateway.open({ eventStoreUrl: server.connectionString });
  });
  after(async () => {
    await test.close();
    await server.stop();
  });

  const insist = (key: string): Promise<Reply<Charge>> =>
    untilServed(() => test.charge<Charge>({}, { idempotencyKey: key }));
  const payAndRead = async (id: string): Promise<string> => {
    const paid = await test.post<{ outcome: string }>(`/v1/sandbox/charges/${id}/pay`);
    expect(paid.body.outcome).to.equal('settled');
    return (await test.get<Charge>(`/v1/charges/${id}`)).body.status;
  };

  it('returns 503 and is not ready during an outage, and accepts the same request afterwards', async () => {
    await test.charge();
    await server.stop();
    const key = newKey();
    const began = performance.now();
    const refused = await test.charge<Charge>({}, { idempotencyKey: key });
    expect(performance.now() - began).to.be.below(10_000);
    expect([refused.status, refused.body.error.code]).to.deep.equal([503, 'service_unavailable']);
    expect(refused.headers.get('retry-after')).to.equal('2');
    expect(await unreadiness(test.storage, test.gateway)).to.equal('the event store does not answer');
    await server.restart();
    const taken = await insist(key);
    expect(taken.status).to.equal(201);
    expect((await insist(key)).body).to.deep.equal(taken.body);
    expect(await payAndRead(taken.body.id)).to.equal('paid');
    // Consumers that the payment does not wait for may recover a little later.
    const { projected, reacted } = test.gateway;
    expect(await Promise.all([projected.caughtUp(60_000), reacted.caughtUp(60_000)])).to.deep.equal([true, true]);
    expect(await unreadiness(test.storage, test.gateway)).to.equal(null);
  });

  it('stores a request once if its answer is lost after the write, or if its connection is cut', async () => {
    const written = () => server.events.filter(({ type }) => type === 'ChargeCreated').length;
    const before = written();
    server.loseAnswers();
    const lost = await insist(newKey());
    expect(lost.status).to.equal(201);
    const cut = insist(newKey());
    server.cut();
    expect((await cut).status).to.equal(201);
    expect(written()).to.equal(before + 2);
    expect(await payAndRead(lost.body.id)).to.equal('paid');
  });
});
