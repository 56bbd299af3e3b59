// Rejected refunds, each with its own code (contract.md Refund body; rules E4, K5, K6, M4–M8).

import { expect } from 'chai';
import { DECLARED_SETTINGS } from '../../../../application/capabilities.ts';
import { ACCOUNT } from '../../../../domain/account/account.ts';
import { changeSettings } from '../../../../domain/account/settings.ts';
import type { AccountId, PaymentId } from '../../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { releaseHeld } from '../../../../domain/payment/held.ts';
import type { TransactionDisputeOpened } from '../../../../domain/transaction/disputes.ts';
import { disputeOpened } from '../../../support/samples.ts';
import { newKey, type TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady, paramsOf, rawIdOf } from '../../../world/http.ts';
import { type Body, Merchant } from '../../../world/merchant.ts';
import { RefundDesk } from '../../../world/refundDesk.ts';

const DAY_SECONDS = 86_400;

describe('refund requests', () => {
  let gateway: TestGateway;
  let desk: RefundDesk;
  let accountId: AccountId;

  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());
  beforeEach(async () => {
    desk = await RefundDesk.open(gateway);
    accountId = (await gateway.gateway.services.findKey(desk.merchant.key))?.accountId as AccountId;
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const idsOf = async (charge: string) => (await desk.list(charge)).map(({ id }) => id);
  const refused = async (
    charge: string,
    body: Body,
    ...expected: [number, Parameters<typeof expectError>[2], string?]
  ) => {
    const before = await idsOf(charge);
    expectError(await desk.ask<unknown>(charge, body), ...expected);
    expect(await idsOf(charge)).to.deep.equal(before);
  };
  const why = () => ({
    account: accountId,
    mode: 'test' as const,
    actor: 'operator:test',
    requestId: null,
    correlationId: accountId,
    causationId: accountId,
  });
  const streamOf = (charge: string) => PAYMENT.stream(rawIdOf(charge) as PaymentId);

  describe('with an invalid body', () => {
    const long = 'x'.repeat(501);
    const BAD: readonly (readonly [string, Body, Parameters<typeof expectError>[2], string])[] = [
      ['no key', { idempotencyKey: undefined }, 'idempotency_key_required', 'idempotencyKey'],
      ['a key of 7', { idempotencyKey: '1234567' }, 'invalid_idempotency_key', 'idempotencyKey'],
      ['a key of 129', { idempotencyKey: 'k'.repeat(129) }, 'invalid_idempotency_key', 'idempotencyKey'],
      ['an empty key', { idempotencyKey: '' }, 'invalid_idempotency_key', 'idempotencyKey'],
      ['a key with an accent', { idempotencyKey: 'chave-única' }, 'invalid_idempotency_key', 'idempotencyKey'],
      ['a key with a line break', { idempotencyKey: 'key\nkey\nkey' }, 'invalid_idempotency_key', 'idempotencyKey'],
      ['a key with a NUL', { idempotencyKey: 'key\0key\0key' }, 'invalid_idempotency_key', 'idempotencyKey'],
      ['a key that is a number', { idempotencyKey: 12345678 }, 'invalid_idempotency_key', 'idempotencyKey'],
      ['a key that is null', { idempotencyKey: null }, 'invalid_idempotency_key', 'idempotencyKey'],
      ['amount 0', { amount: 0 }, 'invalid_amount', 'amount'],
      ['amount −1', { amount: -1 }, 'invalid_amount', 'amount'],
      ['amount 1.5', { amount: 1.5 }, 'invalid_amount', 'amount'],
      ['amount as text', { amount: '100' }, 'invalid_amount', 'amount'],
      ['amount null', { amount: null }, 'invalid_amount', 'amount'],
      ['amount past the safe integers', { amount: 2 ** 53 }, 'invalid_amount', 'amount'],
      ['reason of 501', { reason: long }, 'invalid_request', 'reason'],
      ['reason with a NUL', { reason: 'a\0b' }, 'invalid_request', 'reason'],
      ['reason with half a surrogate', { reason: '\ud800' }, 'invalid_request', 'reason'],
      ['reason null', { reason: null }, 'invalid_request', 'reason'],
      ['strategy unknown', { strategy: 'ted' }, 'invalid_request', 'strategy'],
      ['strategy in upper case', { strategy: 'CASHOUT' }, 'invalid_request', 'strategy'],
      ['passFeeToTenant as text', { passFeeToTenant: 'true' }, 'invalid_request', 'passFeeToTenant'],
      ['destinationKey empty', { destinationKey: '' }, 'invalid_request', 'destinationKey'],
      ['destinationKey no key', { destinationKey: 'nobody' }, 'invalid_request', 'destinationKey'],
      ['destinationKey a masked CPF', { destinationKey: '999.911.111-40' }, 'invalid_request', 'destinationKey'],
      ['destinationKey a wrong CPF', { destinationKey: '99991111141' }, 'invalid_request', 'destinationKey'],
      ['destinationKey in upper case', { destinationKey: 'A@EXAMPLE.COM' }, 'invalid_request', 'destinationKey'],
      ['destinationKey null', { destinationKey: null }, 'invalid_request', 'destinationKey'],
      [
        'destinationKey of a devolution',
        { strategy: 'devolution', destinationKey: '99991111140' },
        'invalid_request',
        'destinationKey',
      ],
    ];
    let charge: string;
    before(async () => {
      const other = await RefundDesk.open(gateway);
      charge = await other.paid();
      bodyDesk = other;
    });
    let bodyDesk: RefundDesk;
    for (const [name, body, code, param] of BAD)
      it(`return ${code} for ${name}`, async () => {
        const details = expectError(await bodyDesk.ask<unknown>(charge, body), 400, code, param);
        expect(paramsOf(details)).to.deep.equal([param]);
      });
    it('write nothing', async () => expect(await bodyDesk.list(charge)).to.deep.equal([]));

    it('report all problems together', async () => {
      const body = { idempotencyKey: 'short', amount: 0, reason: long, strategy: 'x' };
      const details = expectError(await bodyDesk.ask<unknown>(charge, body), 400, 'invalid_request');
      expect(paramsOf(details).sort()).to.deep.equal(['amount', 'idempotencyKey', 'reason', 'strategy']);
    });

    it('may have values at the limits', async () => {
      const good: readonly Body[] = [
        { amount: 1, idempotencyKey: ' !~12345' },
        { amount: 1, idempotencyKey: 'k'.repeat(128) },
        { amount: 1, reason: 'é'.repeat(500) },
        { amount: 1, reason: '🙂'.repeat(500) },
        { amount: 1, reason: '' },
        { amount: 1, strategy: 'devolution', passFeeToTenant: true },
        { amount: 1, destinationKey: '12ABC34501DE35' },
        { amount: 1, destinationKey: '+5511999998888' },
        { amount: 1, destinationKey: 'maria@example.com' },
        { amount: 1, destinationKey: '123e4567-e89b-12d3-a456-426655440000' },
      ];
      for (const body of good) await bodyDesk.refund(charge, body);
      expect(await bodyDesk.list(charge)).to.have.length(good.length);
    });
  });

  describe('for a payment', () => {
    it('that is unpaid or expired return transaction_not_refundable', async () => {
      const { id } = await desk.merchant.charge();
      await refused(id, {}, 400, 'transaction_not_refundable');
      await desk.merchant.advance(2 * 3_600);
      expect(await desk.merchant.statusOf(id)).to.equal('expired');
      await refused(id, {}, 400, 'transaction_not_refundable');
    });

    it('that the payer lock returned return transaction_not_refundable', async () => {
      const lock = { expected_payer_tax_id: '99991111140', customer: { name: 'Maria' } };
      const { id } = await desk.merchant.charge(lock);
      const pay = { payer: { document: '99992222263' } };
      const { body } = await desk.post(`/v1/sandbox/charges/${id}/pay`, pay);
      expect(body['outcome']).to.equal('refunded');
      await refused(id, {}, 400, 'transaction_not_refundable');
    });

    it('above the remaining amount return refund_amount_exceeds_remaining', async () => {
      const charge = await desk.paid(1_000);
      await refused(charge, { amount: 1_001 }, 400, 'refund_amount_exceeds_remaining', 'amount');
      await refused(charge, { amount: Number.MAX_SAFE_INTEGER }, 400, 'refund_amount_exceeds_remaining', 'amount');
      await desk.refund(charge, { amount: 400 });
      await refused(charge, { amount: 601 }, 400, 'refund_amount_exceeds_remaining', 'amount');
      await desk.refund(charge, { amount: 600 });
      await refused(charge, { amount: 1 }, 400, 'refund_amount_exceeds_remaining', 'amount');
    });

    it('that is disputed return charge_disputed', async () => {
      const charge = await desk.paid(1_000);
      const at = gateway.gateway.accounts.realNow();
      const opened = { ...disputeOpened('DISPUTE', 1_000).data, at } as TransactionDisputeOpened['data'];
      const dispute = () => ({
        events: [{ type: 'TransactionDisputeOpened' as const, data: opened }],
        reply: 'opened',
      });
      await gateway.gateway.commands.execute(PAYMENT, streamOf(charge), dispute, why());
      await refused(charge, {}, 400, 'charge_disputed');
    });

    it('of another account or mode, or unknown, return not_found', async () => {
      const charge = await desk.paid();
      const stranger = await Merchant.open(gateway);
      const body = { idempotencyKey: newKey() };
      for (const [id, key] of [
        [rawIdOf(charge), stranger.key],
        [rawIdOf(charge), stranger.tenant.liveKey],
        [rawIdOf(charge), desk.merchant.tenant.liveKey],
        ['0'.repeat(26), desk.merchant.key],
      ] as const) {
        const path = `/v1/payments/${id}`;
        expectError(await gateway.post(`${path}/refund`, body, { key }), 404, 'not_found');
        expectError(await gateway.get(`${path}/refunds`, { key }), 404, 'not_found');
      }
      expect(await desk.list(charge)).to.deep.equal([]);
    });
  });

  describe('by strategy', () => {
    it('need a destinationKey or a devolution if the payer’s document is unknown', async () => {
      const charge = await desk.paid(1_000, { payer: { document: null } });
      await refused(charge, { amount: 1 }, 422, 'REFUND_NOT_SUPPORTED');
      await refused(charge, { amount: 1, strategy: 'cashout' }, 422, 'REFUND_NOT_SUPPORTED');
      await desk.refund(charge, { amount: 1, destinationKey: '99991111140' });
      await desk.refund(charge, { amount: 1, strategy: 'devolution' });
    });

    it('need one of them too for a held Pix that was released', async () => {
      const lock = { expected_payer_tax_id: '99991111140', customer: { name: 'Maria' }, amount: 1_000 };
      const { id } = await desk.merchant.charge(lock);
      const { body } = await desk.post(`/v1/sandbox/charges/${id}/pay`, { payer: { document: null } });
      expect(body['outcome']).to.equal('held');
      await refused(id, { amount: 1 }, 400, 'transaction_not_refundable');
      const { commands, accounts } = gateway.gateway;
      const { fees, holdDays } = (await accounts.get(accountId)).settings;
      const release = releaseHeld({ fees, holdDays }, 'operator:test', accounts.realNow());
      await commands.execute(PAYMENT, streamOf(id), release, why());
      await refused(id, { amount: 1 }, 422, 'REFUND_NOT_SUPPORTED');
      await desk.refund(id, { amount: 1, destinationKey: '99991111140' });
    });

    it('may be devolutions for 90 days after the payment, and cash-outs afterwards too', async () => {
      const charge = await desk.paid(1_000);
      await desk.merchant.advance(90 * DAY_SECONDS - 60);
      await desk.refund(charge, { amount: 1, strategy: 'devolution' });
      await desk.merchant.advance(61);
      await refused(charge, { amount: 1, strategy: 'devolution' }, 422, 'REFUND_NOT_SUPPORTED');
      await desk.refund(charge, { amount: 1 });
    });

    it('may be cash-outs to allowed destinations only', async () => {
      const { commands, accounts } = gateway.gateway;
      const allow = changeSettings(
        { cashoutDestinations: ['tesouraria@example.com'] },
        accounts.realNow(),
        DECLARED_SETTINGS.settings,
      );
      await commands.execute(ACCOUNT, ACCOUNT.stream(accountId), allow, why());
      const charge = await desk.paid(1_000);
      await refused(charge, { amount: 1, destinationKey: 'outra@example.com' }, 422, 'REFUND_NOT_SUPPORTED');
      await desk.refund(charge, { amount: 1 });
      await desk.refund(charge, { amount: 1, destinationKey: '99991111140' }); // the payer’s own document
      await desk.refund(charge, { amount: 1, destinationKey: 'tesouraria@example.com' });
      await desk.refund(charge, { amount: 1, strategy: 'devolution' });
    });
  });
});
