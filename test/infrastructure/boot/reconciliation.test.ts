// Payments whose notification was lost: a whole gateway finds them in the provider's books and settles or returns them.

import { expect } from 'chai';
import { NOTIFIED_WORK } from '../../../application/capabilities.ts';
import { compareWithProviders } from '../../../application/payments/reconciliation.ts';
import { UnknownAtProvider } from '../../../application/ports/paymentProvider.ts';
import { ReadModelsBehind } from '../../../application/ports/readModels/progress.ts';
import type { AccountId, PaymentId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { fromMillis } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { openLog } from '../../../infrastructure/log/log.ts';
import { providerNotifications } from '../../../infrastructure/providers/providerNotifications.ts';
import { caughtUp } from '../../../infrastructure/subscriptions/progress.ts';
import { paymentReads } from '../../../projections/payments/queries.ts';
import { incoming } from '../../support/samples.ts';
import { FakeProvider } from '../../world/fakeProvider.ts';
import { startedDatabase, TestGateway } from '../../world/gateway.ts';
import { openReady, rawIdOf } from '../../world/http.ts';
import { Merchant } from '../../world/merchant.ts';
import { pollUntil } from '../../world/pollUntil.ts';
import { NO_SCHEDULES } from '../../world/withoutWorld.ts';

const TEN_MINUTES_MS = 600_000;
const OPEN = ['ChargeCreated', 'ChargePixIssued'];
const SETTLED = [...OPEN, 'TransactionSettled'];

interface Charge {
  readonly id: PaymentId;
  readonly txid: string;
}
type Shop = Awaited<ReturnType<typeof Merchant.open>>;

describe('reconciliation', function suite() {
  const live = new FakeProvider();
  const clock = { aheadMs: 0, now: () => Date.now() + clock.aheadMs };
  const warned: unknown[] = [];
  let test: TestGateway;
  let shop: Shop;
  before(async () => {
    const log = openLog('silent');
    log.warn = (fields: unknown, text?: string) => void warned.push([text, fields]);
    test = await openReady({ clock, liveProvider: live, log, startSchedule: NO_SCHEDULES });
  });
  after(() => test.close());
  beforeEach(async () => {
    shop = await Merchant.open(test);
    live.forget();
    live.owner = shop.tenant.accountId;
    warned.length = 0;
  });
  afterEach(() => expect(test.faults).to.deep.equal([]));

  const charge = async (key = shop.key): Promise<Charge> => {
    const { body, text, status } = await test.charge<{ id: string; pix: { txid: string } }>({}, { key });
    expect(status, text).to.equal(201);
    return { id: rawIdOf(body.id) as PaymentId, txid: body.pix.txid };
  };
  let pixes = 0;
  const newReference = (): string => `E99999004202611211200${String(++pixes).padStart(11, '0')}`;
  /** Books a payment at the bank without a notification. Resolves to its reference. */
  const book = async (
    { txid }: Pick<Charge, 'txid'>,
    amount = 1234,
    of = shop.tenant.accountId,
    reference = newReference(),
  ): Promise<string> => {
    const paidAt = await test.gateway.accounts.now(of, 'test');
    await test.storage.operations.query(
      'INSERT INTO sandbox_bank.payments (account_id, provider_payment_id, txid, amount, paid_at, booked_at) VALUES ($1, $2, $3, $4, $5, $6)',
      [of, reference, txid, amount, paidAt, fromMillis(clock.now())],
    );
    return reference;
  };
  const untilIdle = async (): Promise<void> => {
    const { jobs } = test.gateway;
    const look = async () => ((await jobs.open('settle')) === 0 ? true : null);
    expect(await pollUntil({ onMove: (listener) => jobs.onSettled(listener) }, 30_000, look)).to.equal(true);
  };
  /** Runs the schedule ten minutes later and waits until all resulting work of the accounts is done. */
  const run = async (...accounts: readonly AccountId[]): Promise<void> => {
    const { gateway } = test;
    clock.aheadMs += TEN_MINUTES_MS;
    expect(await gateway.projected.caughtUp(30_000)).to.equal(true);
    await compareWithProviders({ ...gateway.needs, clock })();
    await untilIdle();
    for (const account of [shop.tenant.accountId, ...accounts])
      expect(await gateway.services.whenIdle(account, 30_000)).to.equal(true);
  };
  const typesOf = async ({ id }: Charge): Promise<readonly string[]> => {
    const types: string[] = [];
    for await (const { type } of test.storage.store.readStream(PAYMENT.stream(id))) types.push(type);
    return types;
  };
  const notified = async (of = shop.tenant.accountId) =>
    (
      await test.storage.operations.query<{ reference: string }>(
        `SELECT mode, reference, kind, payment_id, outcome
         FROM operations.provider_notifications WHERE account_id = $1 ORDER BY received_at`,
        [of],
      )
    ).rows;
  const found = ({ id }: Charge, reference: string, mode = 'test') => ({
    mode,
    reference,
    kind: 'payment',
    payment_id: id,
    outcome: 'settled',
  });
  const returned = async (reference: string) => {
    const text = 'SELECT amount FROM sandbox_bank.returns WHERE account_id = $1 AND provider_payment_id = $2';
    return (await test.storage.operations.query<{ amount: number }>(text, [shop.tenant.accountId, reference])).rows;
  };
  const rejections = async ({ id }: Charge): Promise<readonly unknown[]> => {
    const reasons: unknown[] = [];
    for await (const { type, data } of test.storage.store.readStream(PAYMENT.stream(id)))
      if (type === 'TransactionPaymentRejected') reasons.push((JSON.parse(data) as { reason: string }).reason);
    return reasons;
  };

  it('settles a payment without a notification once, and the next one in the next run', async () => {
    const [one, two] = [await charge(), await charge()];
    const first = await book(one);
    await run();
    expect([await typesOf(one), await typesOf(two)]).to.deep.equal([SETTLED, OPEN]);
    expect(await notified()).to.deep.equal([found(one, first)]);
    await run();
    expect(await notified()).to.deep.equal([found(one, first)]);
    const second = await book(two);
    await run();
    expect([await typesOf(one), await typesOf(two)]).to.deep.equal([SETTLED, SETTLED]);
    expect(await notified()).to.deep.equal([found(one, first), found(two, second)]);
  });

  it('returns a wrong amount, a second payment and a late payment as usual', async () => {
    const [wrong, twice, late] = [await charge(), await charge(), await charge()];
    await shop.pay(`ch_${twice.id}`);
    const ofWrong = await book(wrong, 1);
    const ofTwice = await book(twice);
    await run();
    await shop.advance(7_200);
    expect(await shop.statusOf(`ch_${late.id}`)).to.equal('expired');
    const ofLate = await book(late);
    await run();
    expect(await Promise.all([wrong, twice, late].map(rejections))).to.deep.equal([
      ['wrong_amount'],
      ['second_payment'],
      ['charge_ended'],
    ]);
    expect(await Promise.all([ofWrong, ofTwice, ofLate].map(returned))).to.deep.equal([
      [{ amount: 1 }],
      [{ amount: 1234 }],
      [{ amount: 1234 }],
    ]);
  });

  it('records a payment that the expiry already settled, and changes nothing else', async () => {
    const one = await charge();
    const reference = await book(one);
    await shop.advance(7_200);
    expect(await typesOf(one)).to.deep.equal(SETTLED);
    await run();
    expect([await typesOf(one), await notified()]).to.deep.equal([SETTLED, [found(one, reference)]]);
  });

  it('keeps tenants apart, and settles other payments although some match no charge of the account', async () => {
    const other = await Merchant.open(test);
    const { accountId } = other.tenant;
    const [own, theirs] = [await charge(), await charge(other.key)];
    const first = await book({ txid: 'f'.repeat(32) });
    const second = await book(theirs); // booked in this account at the bank, but for a charge of another account
    const ours = await book(own);
    await run(accountId);
    expect([await typesOf(own), await typesOf(theirs)]).to.deep.equal([SETTLED, OPEN]);
    expect([await notified(), await notified(accountId)]).to.deep.equal([[found(own, ours)], []]);
    const warning = 'provider lists payments that match no charge of the account';
    const strangers = { account: shop.tenant.accountId, mode: 'test', payments: 2, references: [first, second] };
    expect(warned).to.deep.equal([[warning, strangers]]);
    const reference = await book(theirs, 1234, accountId);
    await run(accountId);
    expect([await typesOf(own), await typesOf(theirs)]).to.deep.equal([SETTLED, SETTLED]);
    expect(await notified(accountId)).to.deep.equal([found(theirs, reference)]);
  });

  it('settles a payment that the provider could not confirm when it was first notified', async () => {
    const one = await charge();
    const reference = newReference();
    const notifications = providerNotifications(test.storage.operations, test.gateway.jobs, NOTIFIED_WORK);
    const tenant = { accountId: shop.tenant.accountId, mode: 'test' } as const;
    await notifications.store({ tenant, kind: 'payment', reference, paymentId: one.id });
    expect(await test.gateway.services.whenIdle(tenant.accountId, 30_000)).to.equal(true);
    expect(await notified()).to.have.length(1);
    expect((await notified())[0]).to.include({ outcome: 'not_confirmed' });
    await book(one, 1234, tenant.accountId, reference);
    await run();
    expect([await typesOf(one), await notified()]).to.deep.equal([SETTLED, [found(one, reference)]]);
  });

  it('works in live mode, and retries in the next run if the bank did not answer', async () => {
    const one = await charge(shop.tenant.liveKey);
    const reference = newReference();
    live.incomingPayments.set(one.txid, [
      incoming({ providerPaymentId: reference, amount: toMinor(1234), paidAt: fromMillis(clock.now()) }),
    ]);
    live.next('bookedBetween', 'unknown');
    expect(await run().catch((error: unknown) => error)).to.be.instanceOf(UnknownAtProvider);
    expect(await typesOf(one)).to.deep.equal(OPEN);
    await run();
    expect(await typesOf(one)).to.deep.equal(SETTLED);
    expect(await notified()).to.deep.equal([found(one, reference, 'live')]);
  });

  it('blocks neither the flush nor the clock of the sandbox', async () => {
    const { accountId, liveKey } = shop.tenant;
    await Promise.all([charge(liveKey), charge()]);
    let answer = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      const answered = new Promise<void>((go) => {
        answer = go;
      });
      live.next('bookedBetween', async () => {
        resolve();
        await answered;
      });
    });
    const round = run(accountId);
    await asked;
    await shop.flush();
    expect((await shop.advance(60)).offset_seconds).to.equal(60);
    answer(); // the run was still waiting for the bank
    await round;
  });
});

describe('payments by txid while read models are behind', function suite() {
  it('throw until the projector has caught up, so that a new charge is never missed', async () => {
    const database = await startedDatabase();
    const projector = await TestGateway.open({ database });
    const api = await TestGateway.open({
      database,
      isAlone: false,
      roles: { serves: true, projects: false, works: false },
    });
    expect(await api.gateway.projected.caughtUp(30_000), 'the keys of the account').to.equal(true);
    await projector.close();
    const { body, text, status } = await api.charge<{ id: string; pix: { txid: string } }>();
    expect(status, text).to.equal(201);
    const [{ store, reads }, { projected }] = [api.storage, api.gateway];
    const tenant = { accountId: api.tenant.accountId, mode: 'test' } as const;
    // All other read models have caught up; only payments is behind.
    const standing = {
      sawHead: () => undefined,
      caughtUp: async (_: number, models: readonly string[] = []) => !models.includes('payments'),
    };
    const behind = await paymentReads(reads, caughtUp(store, standing))
      .byTxid(tenant, [body.pix.txid])
      .catch((error: Error) => error);
    expect(behind).to.be.instanceOf(ReadModelsBehind);
    const back = await TestGateway.open({ database, isAlone: false });
    const found = await paymentReads(reads, caughtUp(store, projected)).byTxid(tenant, [body.pix.txid]);
    expect([...found]).to.deep.equal([[body.pix.txid, rawIdOf(body.id)]]);
    for (const gateway of [api, back]) await gateway.close();
    await database.drop();
  });
});
