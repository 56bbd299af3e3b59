// The sandbox without workers: it returns 202 with the unchanged body, and the effect follows later (rules X).
import { expect } from 'chai';
import { startedDatabase, TestGateway } from '../../../world/gateway.ts';
import { openReady } from '../../../world/http.ts';
import type { Body } from '../../../world/merchant.ts';
import { ORDERS, PaymentDesk } from '../../../world/paymentDesk.ts';
import type { TestDatabase } from '../../../world/postgres.ts';

describe('sandbox: an effect that does not show within 5 s', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  before(async () => {
    database = await startedDatabase();
    gateway = await openReady({ database });
  });
  after(async () => {
    await gateway.close();
    await database.drop();
  });

  it('returns 202, also for a repeat, and happens once', async () => {
    let desk = await PaymentDesk.open(gateway);
    const [card, boleto, mbway, pix] = (await Promise.all(
      ['CREDIT_CARD', 'BOLETO', 'MBWAY', 'PIX'].map((method) => desk.waiting(ORDERS[method] as Body)),
    )) as [string, string, string, string];
    await gateway.close();
    gateway = await TestGateway.open({
      database,
      roles: { serves: true, projects: true, works: false },
      isPatient: false,
    });
    desk = new PaymentDesk(gateway, desk.tenant);
    const payPix = () => gateway.post<Body>(`/v1/sandbox/charges/${pix}/pay`, {}, desk.as);
    const waiting = await Promise.all([card, boleto, mbway].map((id) => desk.read(id)));
    const told = await Promise.all([
      desk.try(card, 'authorize'),
      desk.try(boleto, 'refuse'),
      desk.try(mbway, 'processing'),
      desk.try(card, 'authorize'),
      payPix(),
    ]);
    const paid = told.pop() as Awaited<ReturnType<typeof payPix>>;
    expect([paid.status, paid.body['outcome'], (paid.body['charge'] as Body)['status']]).to.deep.equal([
      202,
      'settled',
      'pending',
    ]);
    expect(told.map(({ status, body }) => [status, body])).to.deep.equal(
      [...waiting, waiting[0]].map((body) => [202, body]),
    );
    await gateway.close();
    gateway = await openReady({ database });
    desk = new PaymentDesk(gateway, desk.tenant);
    expect((await desk.until(card, 'APPROVED')).paidWith).to.equal('CREDIT_CARD');
    await desk.until(boleto, 'REFUSED');
    await desk.until(mbway, 'PROCESSING');
    await desk.until(pix, 'PAID');
    expect(await desk.wallet('BRL')).to.include({ available: 9_890, pending: 9_620 });
    expect(gateway.faults).to.deep.equal([]);
  });
});
