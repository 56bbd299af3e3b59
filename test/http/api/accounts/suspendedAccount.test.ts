// A suspended account, end to end. Its keys, sessions and logins are rejected. Payments and bank reports are processed and sent to webhooks
// as usual. A payout the bank has not received waits for the reopening.

import { expect } from 'chai';
import type { PaymentId, RefundId } from '../../../../domain/kernel/ids.ts';
import { REFUND } from '../../../../domain/refund/refund.ts';
import { Receivers } from '../../../world/deliveryFacts.ts';
import { startedDatabase, TestGateway, type TestUser } from '../../../world/gateway.ts';
import { eventTypes, expectError, rawIdOf } from '../../../world/http.ts';
import { expectLedgerBalances } from '../../../world/ledgerFacts.ts';
import type { Body } from '../../../world/merchant.ts';
import type { TestDatabase } from '../../../world/postgres.ts';
import { type Receiver, typeOf } from '../../../world/receiver.ts';
import { RefundDesk } from '../../../world/refundDesk.ts';

const BY = { actor: 'operator:test', requestId: null };
const CUSTOMER = { name: 'Maria', document: '99992222263' };
const DAY_SECONDS = 86_400;

describe('a suspended account', () => {
  let database: TestDatabase;
  const receivers = new Receivers();
  before(async () => {
    database = await startedDatabase();
  });
  after(async () => {
    await receivers.close();
    await database.drop();
  });

  /** Runs `act` on a gateway of its own, on the shared database. */
  const on = async <T>(works: boolean, act: (gateway: TestGateway) => Promise<T>): Promise<T> => {
    const roles = { serves: true, projects: true, works };
    const gateway = await TestGateway.open({ database, publicUrl: 'https://quita.example', roles });
    try {
      const done = await act(gateway);
      expect(gateway.faults).to.deep.equal([]);
      return done;
    } finally {
      await gateway.close();
    }
  };

  interface Scene {
    readonly desk: RefundDesk;
    readonly user: TestUser;
    readonly session: { readonly authorization: string };
    readonly receiver: Receiver;
    /** Charges: one paid during the suspension, one that expires during it, and one paid before. */
    readonly awaited: string;
    readonly expiring: string;
    readonly paid: string;
  }
  const openScene = async (gateway: TestGateway): Promise<Scene> => {
    const desk = await RefundDesk.open(gateway, true);
    const receiver = await receivers.open();
    const charge = async (body: Body) => (await desk.merchant.charge({ customer: CUSTOMER, ...body })).id;
    const [awaited, expiring, paid] = [
      await charge({ amount: 2_000, expires_in: 2 * DAY_SECONDS }),
      await charge({ amount: 3_000, expires_in: 3_600 }),
      await charge({ amount: 5_000 }),
    ];
    await desk.merchant.pay(paid);
    await desk.merchant.flush();
    await desk.merchant.register(receiver.url);
    const user = await gateway.addUser('OWNER', { tenant: desk.merchant.tenant });
    return { desk, user, session: await gateway.logIn('OWNER', user), receiver, awaited, expiring, paid };
  };

  it('rejects its users and keys, and still serves its payers', async function run() {
    const scene = await on(true, openScene);
    const { user, receiver, awaited, expiring, paid } = scene;
    const { tenant } = scene.desk.merchant;
    const { accountId } = tenant;
    const test = { accountId, mode: 'test' } as const;

    // No worker runs, so the requested payout never reaches the bank.
    const refund = await on(false, async (gateway) => {
      const asked = await gateway.post<{ id: string }>(
        `/v1/payments/${rawIdOf(paid)}/refund`,
        { amount: 1_500, strategy: 'cashout', idempotencyKey: 'suspended-1' },
        { key: tenant.testKey },
      );
      expect(asked.status, asked.text).to.equal(201);
      await gateway.gateway.services.platform.suspendAccount(accountId, BY);
      return asked.body.id;
    });
    const refundStream = REFUND.stream(rawIdOf(refund) as RefundId);

    await on(true, async (gateway) => {
      const { services } = gateway.gateway;
      const isShut = async (): Promise<void> => {
        for (const key of [tenant.testKey, tenant.liveKey])
          expectError(await gateway.get('/v1/wallets/balance', { key }), 401, 'unauthorized');
        for (const path of ['/v1/api-keys', '/v1/request-logs'])
          expectError(await gateway.get(path, { key: null, headers: scene.session }), 401, 'unauthorized');
        const { email, password } = user;
        expectError(await gateway.post('/v1/auth/login', { email, password }, { key: null }), 401, 'unauthorized');
      };
      const pay = async (id: string, wish: { late?: boolean } = {}) =>
        expect(await services.payInSandbox(test, rawIdOf(id) as PaymentId, wish)).to.include({ kind: 'sent' });
      const outcomes = async (id: string) =>
        (await services.views.payments.find(test, rawIdOf(id) as PaymentId))?.transaction.incomingPayments.map(
          ({ outcome }) => outcome,
        );
      const about = (type: string, id: string) =>
        receiver.until((hit) => typeOf(hit) === type && hit.rawBody.includes(rawIdOf(id)), 30_000);

      const isPutOff = async () => {
        const { rows } = await gateway.storage.operations.query<{ n: number }>(
          `SELECT count(*)::int AS n FROM operations.timers WHERE kind = 'refund' AND key = $1`,
          [rawIdOf(refund)],
        );
        return rows[0]?.n === 1 ? true : null;
      };
      expect(await services.untilSeen(30_000, isPutOff)).to.equal(true);
      await isShut();
      await pay(awaited);
      await about('charge.paid', awaited);
      expect(await services.advanceClock(accountId, DAY_SECONDS, { ...BY, requestId: 'req_1' })).to.equal(null);
      await about('charge.expired', expiring);
      await pay(expiring, { late: true });
      await services.whenClockDrained(accountId, 30_000);
      expect(await gateway.gateway.reacted.caughtUp(30_000)).to.equal(true);
      await services.untilSeen(30_000, async () => ((await outcomes(expiring))?.[0] === 'returned' ? true : null));
      expect(await services.untilSeen(30_000, isPutOff)).to.equal(true);
      expect([await outcomes(awaited), await outcomes(expiring)]).to.deep.equal([['settled'], ['returned']]);
      // The payout came due meanwhile and was postponed again; the bank did not receive it.
      expect(await eventTypes(gateway, refundStream)).to.deep.equal(['RefundRequested']);
      await isShut();

      for (let time = 0; time < 2; time++) await services.platform.reopenAccount(accountId, BY);
      await about('payout.paid', paid);
      expect(await eventTypes(gateway, refundStream)).to.deep.equal([
        'RefundRequested',
        'RefundSubmitted',
        'RefundCompleted',
      ]);
      expect((await gateway.get('/v1/wallets/balance', { key: tenant.testKey })).status).to.equal(200);
      expect((await gateway.get('/v1/wallets/balance', { key: tenant.liveKey })).status).to.equal(200);
      // The old session stays ended; a login opens a new one.
      expectError(await gateway.get('/v1/api-keys', { key: null, headers: scene.session }), 401, 'unauthorized');
      expect(
        (await gateway.get('/v1/api-keys', { key: null, headers: await gateway.logIn('OWNER', user) })).status,
      ).to.equal(200);
      await expectLedgerBalances(gateway);
    });
  });
});
