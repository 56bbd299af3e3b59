// How the sandbox bank decides refunds, automatically and on request (rules X3, X5).
import { expect } from 'chai';
import type { Timer } from '../../../../application/ports/timers.ts';
import type { Mode } from '../../../../domain/kernel/ids.ts';
import { setTimers } from '../../../../infrastructure/timers/timerTable.ts';
import { parseTimestamp } from '../../../support/timestamp.ts';
import { newKey, type TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady, rawIdOf } from '../../../world/http.ts';
import { Merchant } from '../../../world/merchant.ts';
import { pollUntil } from '../../../world/pollUntil.ts';
import { netOf, type Refund, RefundDesk } from '../../../world/refundDesk.ts';

const DEFAULTS = {
  auto_confirm_refunds: true,
  auto_confirm_payouts: true,
  payout_approval_above: null,
  rate_limit_per_minute: null,
  dispute_notifications: true,
};

describe('refunds in the sandbox', () => {
  let gateway: TestGateway;
  let desk: RefundDesk;

  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  /** Expects the refund to be REFUNDED within 15 s of `sinceMs`. Only the query made a second after the request is that fast. */
  const expectConfirmedSoon = async (charge: string, sinceMs: number): Promise<void> => {
    await desk.untilStatuses(charge, 'REFUNDED');
    expect(performance.now() - sinceMs).to.be.below(15_000);
  };

  describe('with automatic confirmation', () => {
    beforeEach(async () => {
      desk = await RefundDesk.open(gateway, true);
    });

    it('are confirmed soon', async () => {
      const charge = await desk.paid();
      const startedMs = performance.now();
      await desk.refund(charge);
      await expectConfirmedSoon(charge, startedMs);
    });

    it('are confirmed soon in real time after the test clock was advanced', async () => {
      await desk.merchant.advance(86_400);
      const charge = await desk.paid();
      const startedMs = performance.now();
      await desk.refund(charge);
      await expectConfirmedSoon(charge, startedMs);
    });

    it('can be failed before their confirmation', async () => {
      const charge = await desk.paid();
      // A slow machine may confirm the refund first; then the next one is tried.
      for (let isFailed = false; !isFailed; ) {
        const { id } = await desk.refund(charge, { amount: 1 });
        const before = await desk.available();
        const { status, body } = await desk.decide(id, 'fail');
        isFailed = status === 200;
        if (isFailed) expect([body.status, await desk.available()]).to.deep.equal(['FAILED', Number(before) + 1]);
        else expect((await desk.list(charge))[0]?.status).to.equal('REFUNDED');
      }
    });

    it('and payouts are checked at once when their automatic confirmation is switched on, but no live ones', async () => {
      const { accountId: account } = desk.merchant.tenant;
      const sql = gateway.storage.operations;
      const far = parseTimestamp('2099-01-01T00:00:00.000Z');
      const timersOf = (mode: Mode): readonly Timer[] => {
        const id = `${mode}${account}`;
        const when = { account, mode, key: id, group: account, dueAt: far };
        const refund = { ...when, kind: 'refund', payload: { paymentId: id, refundId: id } };
        return [refund, { ...when, kind: 'payout', payload: { payoutId: id } }];
      };
      await setTimers(sql, [...timersOf('live'), ...timersOf('test')]);
      for (const isOn of [false, true]) await desk.settings({ auto_confirm_refunds: isOn, auto_confirm_payouts: isOn });
      await gateway.gateway.reacted.caughtUp(10_000);
      const { rows } = await sql.query<{ timer: string }>(
        `SELECT kind || ' ' || mode AS timer FROM operations.timers WHERE account_id = $1 AND due_at = $2 ORDER BY 1`,
        [account, far],
      );
      expect(rows.map(({ timer }) => timer)).to.deep.equal(['payout live', 'refund live']);
    });

    it('stay IN_PROGRESS while auto_confirm_refunds is false, and are confirmed soon after it is true again', async () => {
      expect(await desk.settings({ auto_confirm_refunds: false })).to.deep.equal({
        ...DEFAULTS,
        auto_confirm_refunds: false,
      });
      const charge = await desk.paid();
      await desk.refund(charge);
      await desk.untilStatuses(charge, 'IN_PROGRESS');
      // The bank was queried many times in that hour, and the refund is still open.
      await desk.merchant.advance(3_600);
      await desk.untilStatuses(charge, 'IN_PROGRESS');
      const startedMs = performance.now();
      await desk.settings({ auto_confirm_refunds: true });
      await expectConfirmedSoon(charge, startedMs);
    });

    it('end at their own instants when the clock is advanced past them', async () => {
      const [early, late] = [await desk.paid(), await desk.paid()];
      const refund = await desk.refund(early);
      await desk.refund(late, { amount: 1 });
      const clock = await desk.merchant.advance(30 * 86_400);
      const shown = async (charge: string) => (await desk.list(charge)).map(({ status }) => status);
      expect([await shown(early), await shown(late)]).to.deep.equal([['REFUNDED'], ['REFUNDED']]);
      const { rows } = await gateway.storage.reads.query<{ seconds: number }>(
        `SELECT extract(epoch FROM max(at) - $2::timestamptz)::float8 AS seconds FROM rm_wallet.postings WHERE payment_id = $1`,
        [rawIdOf(early), refund.createdAt],
      );
      expect(rows[0]?.seconds).to.be.within(0, 60);
      expect(clock.offset_seconds).to.equal(30 * 86_400);
    });
  });

  it('fail as devolutions but not as cash-outs if the bank refuses returns for the charge (X6)', async () => {
    desk = await RefundDesk.open(gateway, true);
    const { id } = await desk.merchant.charge({ amount: 1_000, metadata: { sandbox_provider: 'return_refused' } });
    const paid = await desk.post(`/v1/sandbox/charges/${id}/pay`, {});
    expect([paid.status, paid.body['outcome']], paid.text).to.deep.equal([200, 'settled']);
    const before = await desk.available();
    await desk.refund(id, { strategy: 'devolution' });
    const [failed] = await desk.untilStatuses(id, 'FAILED');
    expect(failed?.failureReason).to.equal('The sandbox bank refuses returns of this charge.');
    expect(await desk.available()).to.equal(before);
    expectError(await desk.decide<unknown>(String(failed?.id), 'confirm'), 400, 'invalid_request');
    await desk.refund(id, { strategy: 'cashout' });
    await desk.untilStatuses(id, 'REFUNDED', 'FAILED');
  });

  describe('with decisions on request', () => {
    beforeEach(async () => {
      desk = await RefundDesk.open(gateway);
    });

    it('return the decided refund for rf_ and raw IDs, and update the wallet and the list', async () => {
      const charge = await desk.paid();
      const [one, other] = [await desk.refund(charge, { amount: 100 }), await desk.refund(charge, { amount: 200 })];
      expect(await desk.ended(one.id, 'confirm')).to.deep.equal({ ...one, status: 'REFUNDED' });
      expect(await desk.ended(rawIdOf(other.id), 'fail')).to.deep.equal({
        ...other,
        status: 'FAILED',
        failureReason: 'The sandbox bank could not pay the refund.',
      });
      expect((await desk.list(charge)).map(({ status }) => status)).to.deep.equal(['FAILED', 'REFUNDED']);
      expect(await desk.available()).to.equal(netOf(1_000) - 100);
    });

    for (const how of ['confirm', 'fail'] as const) {
      const otherwise = how === 'confirm' ? 'fail' : 'confirm';
      it(`are idempotent for ${how}; ${otherwise} afterwards returns 400`, async () => {
        const charge = await desk.paid();
        const { id } = await desk.refund(charge);
        const first = await desk.decide(id, how, how === 'fail' ? { reason: 'closed' } : {});
        const again = await desk.decide(id, how, how === 'fail' ? { reason: 'another' } : {});
        expect([again.status, again.text]).to.deep.equal([200, first.text]);
        expectError(await desk.decide<unknown>(id, otherwise), 400, 'invalid_request');
        expect((await desk.list(charge)).map(({ status }) => status)).to.deep.equal([first.body.status]);
      });
    }

    it('keep one of many concurrent decisions', async () => {
      const charge = await desk.paid();
      const { id } = await desk.refund(charge);
      const replies = await Promise.all(
        Array.from({ length: 8 }, (_, i) => desk.decide(id, i % 2 === 0 ? 'confirm' : 'fail')),
      );
      const [refund] = await desk.list(charge);
      const won = refund?.status === 'REFUNDED' ? 0 : 1;
      expect(replies.map(({ status }) => status)).to.deep.equal(
        Array.from({ length: 8 }, (_, i) => (i % 2 === won ? 200 : 400)),
      );
    });

    it('return 404 for unknown IDs and those of another account', async () => {
      const { id } = await desk.refund(await desk.paid());
      const stranger = await RefundDesk.open(gateway);
      for (const how of ['confirm', 'fail'] as const) {
        expectError(await desk.decide<unknown>(`rf_${'0'.repeat(26)}`, how), 404, 'not_found');
        expectError(await desk.decide<unknown>('x', how), 404, 'not_found');
        expectError(await desk.decide<unknown>(`ch_${rawIdOf(id)}`, how), 404, 'not_found');
        expectError(await stranger.decide<unknown>(id, how), 404, 'not_found');
      }
      await desk.ended(id, 'confirm');
    });

    it('accept a reason of up to 500 characters', async () => {
      const { id } = await desk.refund(await desk.paid());
      expectError(
        await desk.decide<unknown>(id, 'fail', { reason: 'x'.repeat(501) }),
        400,
        'invalid_request',
        'reason',
      );
      expectError(await desk.decide<unknown>(id, 'fail', { reason: 1 }), 400, 'invalid_request', 'reason');
      await desk.ended(id, 'fail', { reason: 'x'.repeat(500) });
    });
  });

  describe('settings', () => {
    beforeEach(async () => {
      desk = await RefundDesk.open(gateway, true);
    });

    it('are returned after a change; omitted ones stay', async () => {
      expect(await desk.settings({})).to.deep.equal(DEFAULTS);
      expect(await desk.settings({ rate_limit_per_minute: 100 })).to.deep.equal({
        ...DEFAULTS,
        rate_limit_per_minute: 100,
      });
      const changed = { auto_confirm_refunds: false, rate_limit_per_minute: 0, dispute_notifications: false };
      for (const body of [changed, changed, {}])
        expect(await desk.settings(body)).to.deep.equal({ ...DEFAULTS, ...changed });
      expect(await (await RefundDesk.open(gateway, true)).settings({})).to.deep.equal(DEFAULTS);
    });

    it('get 400 for a wrong type and stay unchanged', async () => {
      const bad: readonly (readonly [string, unknown])[] = [
        ['unknown', 1],
        ['auto_confirm_refunds', 'true'],
        ['auto_confirm_refunds', null],
        ['rate_limit_per_minute', -1],
        ['rate_limit_per_minute', 1.5],
        ['rate_limit_per_minute', '60'],
        ['rate_limit_per_minute', null],
        ['dispute_notifications', 0],
      ];
      for (const [param, value] of bad) {
        const reply = await desk.post<unknown>('/v1/sandbox/settings', { auto_confirm_refunds: false, [param]: value });
        expectError(reply, 400, 'invalid_request', param);
      }
      expect(await desk.settings({})).to.deep.equal(DEFAULTS);
    });

    it('get 403 for live keys, as do decisions', async () => {
      const { liveKey } = (await Merchant.open(gateway)).tenant;
      for (const path of ['settings', `refunds/rf_${'0'.repeat(26)}/confirm`, `refunds/rf_${'0'.repeat(26)}/fail`])
        expectError(await gateway.post(`/v1/sandbox/${path}`, {}, { key: liveKey }), 403, 'mode_not_allowed');
    });
  });

  it('are all confirmed when 100 are requested concurrently', async () => {
    desk = await RefundDesk.open(gateway, true);
    const charge = await desk.paid(100);
    const ask = () => desk.ask<Refund>(charge, { idempotencyKey: newKey(), amount: 1 });
    await Promise.all(Array.from({ length: 100 }, ask));
    const look = async () => ((await desk.list(charge)).every(({ status }) => status === 'REFUNDED') ? true : null);
    expect(await pollUntil(gateway.gateway.projected, 60_000, look)).to.equal(true);
    expect(await desk.merchant.statusOf(charge)).to.equal('refunded');
  });
});
