// Many concurrent refunds of one payment never exceed its amount (architecture §4, E4).
import { expect } from 'chai';
import type { ErrorCode } from '../../../../domain/kernel/rejection.ts';
import { verify } from '../../../../projections/engine/verify.ts';
import { PROJECTIONS } from '../../../../projections/registry.ts';
import { newKey, startedDatabase, TestGateway } from '../../../world/gateway.ts';
import { openReady, rawIdOf } from '../../../world/http.ts';
import { expectLedgerBalances } from '../../../world/ledgerFacts.ts';
import { pollUntil } from '../../../world/pollUntil.ts';
import type { TestDatabase } from '../../../world/postgres.ts';
import { netOf, RefundDesk } from '../../../world/refundDesk.ts';

const COUNT = 200;
interface Refused {
  readonly error: { readonly code: ErrorCode };
}

describe('in two processes', () => {
  let database: TestDatabase;
  let gateways: TestGateway[];

  before(async () => {
    database = await startedDatabase();
    const one = await openReady({ database });
    const other = await TestGateway.open({
      database,
      isAlone: false,
      roles: { serves: true, projects: false, works: false },
    });
    gateways = [one, other];
  });
  after(async () => {
    for (const gateway of gateways.toReversed()) await gateway.close();
    await database.drop();
  });
  const faults = () => gateways.flatMap((gateway) => gateway.faults);
  const first = () => gateways[0] as TestGateway;

  it('refunds follow settings and decisions made in the other process', async () => {
    const [one, other] = gateways as [TestGateway, TestGateway];
    const desk = await RefundDesk.open(one, true);
    const key = { key: desk.merchant.key };
    const settings = await other.post('/v1/sandbox/settings', { auto_confirm_refunds: false }, key);
    expect(settings.status, settings.text).to.equal(200);
    const charge = await desk.paid(100);
    const [first, second] = [await desk.refund(charge, { amount: 1 }), await desk.refund(charge, { amount: 2 })];
    expect((await other.post(`/v1/sandbox/refunds/${first.id}/confirm`, {}, key)).status).to.equal(200);
    await desk.merchant.advance(3_600);
    const list = async () => (await desk.list(charge)).map(({ status }) => status);
    expect(await list()).to.deep.equal(['IN_PROGRESS', 'REFUNDED']);
    expect((await other.post(`/v1/sandbox/refunds/${second.id}/fail`, {}, key)).status).to.equal(200);
    expect(await list()).to.deep.equal(['FAILED', 'REFUNDED']);
    expect(faults()).to.deep.equal([]);
  });

  describe('200 concurrent partial refunds of one payment', () => {
    it('succeed in one process until the money is used up', async () => {
      const desk = await RefundDesk.open(first(), true);
      const charge = await desk.paid(1_000);
      const replies = await Promise.all(
        Array.from({ length: COUNT }, () => desk.ask<{ id: string } & Refused>(charge, { amount: 13 })),
      );
      const made = replies.filter(({ status }) => status === 201);
      expect(made).to.have.length(Math.floor(1_000 / 13));
      for (const { status, body } of replies.filter((reply) => !made.includes(reply)))
        expect([status, body.error.code]).to.deep.equal([400, 'refund_amount_exceeds_remaining']);
      expect(new Set(made.map(({ body }) => body.id)).size).to.equal(made.length);
      const list = await desk.list(charge);
      expect(list.map(({ id }) => id).sort()).to.deep.equal(made.map(({ body }) => body.id).sort());
      expect(await desk.available()).to.equal(netOf(1_000) - 13 * made.length);
      const look = async () => ((await desk.list(charge)).every(({ status }) => status === 'REFUNDED') ? true : null);
      expect(await pollUntil(first().gateway.projected, 60_000, look)).to.equal(true);
      expect(await desk.merchant.statusOf(charge)).to.equal('paid');
      const rest = await desk.refund(charge);
      expect(rest.amount).to.equal(1_000 % 13);
      await expectLedgerBalances(first());
      const { storage } = first();
      expect((await verify(PROJECTIONS, storage, storage.openSession)).differences).to.deep.equal([]);
      expect(faults()).to.deep.equal([]);
    });

    it('succeed at most 100 times, whatever amount is left (M7)', async () => {
      const desk = await RefundDesk.open(first(), true);
      const charge = await desk.paid(1_000);
      const replies = await Promise.all(Array.from({ length: COUNT }, () => desk.ask<Refused>(charge, { amount: 1 })));
      expect(replies.filter(({ status }) => status === 201)).to.have.length(100);
      for (const { status, body } of replies.filter((reply) => reply.status !== 201))
        expect([status, body.error.code]).to.deep.equal([400, 'refund_limit_reached']);
      expect(await desk.available()).to.equal(netOf(1_000) - 100);
      expect(faults()).to.deep.equal([]);
    });

    it('never exceed the payment across two processes; those that got 503 can be retried', async () => {
      const desk = await RefundDesk.open(first());
      const charge = await desk.paid(50);
      const keys = Array.from({ length: COUNT }, newKey);
      const ask = (idempotencyKey: string, i: number) =>
        (gateways[i % 2] as TestGateway).post<Refused>(
          `/v1/payments/${rawIdOf(charge)}/refund`,
          { idempotencyKey, amount: 1 },
          { key: desk.merchant.key },
        );
      const replies = await Promise.all(keys.map(ask));
      const busy = keys.filter((_key, i) => replies[i]?.status === 503);
      const again = [];
      for (const key of busy) again.push(await ask(key, 0));
      const all = [...replies.filter(({ status }) => status !== 503), ...again];
      expect(all.filter(({ status }) => status === 201)).to.have.length(50);
      for (const { status, body } of all.filter((reply) => reply.status !== 201))
        expect([status, body.error.code]).to.deep.equal([400, 'refund_amount_exceeds_remaining']);
      const list = await desk.list(charge);
      expect(list.reduce((sum, { amount }) => sum + amount, 0)).to.equal(50);
      await expectLedgerBalances(first());
      for (const gateway of gateways) gateway.faults.length = 0; // giving up on a busy stream is reported as a fault
    });
  });
});
