// Payments without a notification that are found in the provider’s list: the periods requested, and failures in between.

import { expect } from 'chai';
import { compareWithProvider } from '../../../application/payments/reconciliation.ts';
import { UnknownAtProvider } from '../../../application/ports/paymentProvider.ts';
import type { NotificationKey, ProviderNotification } from '../../../application/ports/providerNotifications.ts';
import type { DisputesRest } from '../../../application/ports/readModels/ledger.ts';
import { ReadModelsBehind } from '../../../application/ports/readModels/progress.ts';
import type { AccountId, Mode, PaymentId, Tenant } from '../../../domain/kernel/ids.ts';
import { addMillis, HOUR_MS, MINUTE_MS, type Timestamp, toMillis } from '../../../domain/kernel/time.ts';
import type { IncomingPayment } from '../../../domain/transaction/incomingPayment.ts';
import { incoming } from '../../support/samples.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { FakeProvider } from '../../world/fakeProvider.ts';

const NOON = parseTimestamp('2026-11-21T12:00:00.000Z');
const TENANT: Tenant = { accountId: 'acct' as AccountId, mode: 'test' };
const OTHER: Tenant = { accountId: 'other' as AccountId, mode: 'test' };
const LIVE: Tenant = { accountId: 'acct' as AccountId, mode: 'live' };
const keyOf = ({ accountId, mode }: Tenant): string => `${accountId}/${mode}`;
const txidOf = (name: string): string => name.padStart(32, '0');
const hoursAgo = (hours: number): Timestamp => addMillis(NOON, -hours * HOUR_MS);

/** The dependencies of the process, in memory. */
class Surroundings {
  now = NOON;
  readonly provider = new FakeProvider();
  readonly stored: ProviderNotification[] = [];
  rests: readonly DisputesRest[] = [];
  readonly disputes: (readonly [string, readonly DisputesRest[]])[] = [];
  readonly unmatched: (readonly [string, ...string[]])[] = [];
  readonly until = new Map<Mode, Timestamp>();
  /** Keyed by tenant and txid. */
  readonly payments = new Map<string, PaymentId>();
  readonly sought: (readonly string[])[] = [];
  hasLive = true;
  isBehind = false;
  /** Called before the position is saved; can throw to simulate a crash. */
  onReached: (() => void) | null = null;

  run(mode: Mode = 'test'): Promise<void> {
    const isStored = (of: Tenant, reference: string) =>
      this.stored.some((one) => keyOf(one.tenant) === keyOf(of) && one.reference === reference);
    const needs = {
      clock: { now: () => toMillis(this.now) },
      providers: {
        route: async () => [this.provider],
        of: async (payment: { readonly mode: Mode }) =>
          payment.mode === 'live' && !this.hasLive ? null : this.provider,
      },
      notifications: {
        unreported: async (keys: readonly NotificationKey[]) =>
          keys.map(({ tenant, reference }) => !isStored(tenant, reference)),
        store: async (notification: ProviderNotification) => {
          if (isStored(notification.tenant, notification.reference)) return false;
          this.stored.push(notification);
          return true;
        },
      },
      reconciliations: {
        reconciledUntil: async (of: Mode) => this.until.get(of) ?? null,
        saveReconciledUntil: async (of: Mode, until: Timestamp) => {
          this.onReached?.();
          this.until.set(of, until);
        },
      },
      payments: {
        byTxid: async (of: Tenant, txids: readonly string[]) => {
          if (this.isBehind) throw new ReadModelsBehind('no');
          this.sought.push(txids);
          return new Map(
            txids.flatMap((txid) => {
              const id = this.payments.get(`${keyOf(of)} ${txid}`);
              return id === undefined ? [] : [[txid, id] as const];
            }),
          );
        },
      },
      ledger: { disputesRests: async () => this.rests, sums: async () => ({ sums: [], entries: [], balances: [] }) },
      alerts: {
        disputesRest: (of: Tenant, rests: readonly DisputesRest[]) => void this.disputes.push([keyOf(of), rests]),
        unmatchedPayments: (of: Tenant, references: readonly string[]) =>
          void this.unmatched.push([keyOf(of), ...references]),
      },
    };
    return compareWithProvider(needs, mode);
  }

  /** Adds a payment to the account to the provider’s list, for a charge of the tenant unless that is null. */
  book(
    name: string,
    paidAt: Timestamp,
    of: Tenant | null = TENANT,
    accountId = (of ?? TENANT).accountId,
  ): IncomingPayment {
    const [txid, booked] = [txidOf(name), incoming({ providerPaymentId: `E-${name}`, paidAt })];
    this.provider.incomingPayments.set(txid, [booked]);
    this.provider.owners.set(txid, accountId);
    if (of !== null) this.payments.set(`${keyOf(of)} ${txid}`, `payment-${name}` as PaymentId);
    return booked;
  }
  get references(): readonly string[] {
    return this.stored.map(({ reference }) => reference);
  }
  /** Returns the periods requested since the last call. */
  asked(): readonly string[] {
    return this.provider.calls.splice(0).map((call) => call.replace(/^bookedBetween /, ''));
  }
}
const thrown = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('did not throw'),
    (error: Error) => error,
  );

describe('reconciliation with the provider', () => {
  let all: Surroundings;
  const minutesLater = (minutes: number) => {
    all.now = addMillis(all.now, minutes * MINUTE_MS);
  };
  beforeEach(() => {
    all = new Surroundings();
  });
  const untilOf = (mode: Mode = 'test') => all.until.get(mode) ?? null;

  it('requests the last 24 hours at first, bounds included, and stores the payments it finds', async () => {
    for (const [name, at] of [
      ['first', hoursAgo(24)],
      ['last', NOON],
    ] as const)
      all.book(name, at);
    all.book('earlier', addMillis(hoursAgo(24), -1));
    await all.run();
    const told = (name: string) => ({
      ...{ tenant: TENANT, kind: 'payment', reference: `E-${name}`, paymentId: `payment-${name}` },
    });
    expect(all.stored).to.deep.equal([told('first'), told('last')]);
    expect([all.asked(), untilOf(), all.unmatched]).to.deep.equal([[`${hoursAgo(24)} ${NOON}`], NOON, []]);
  });
  it('requests nothing within ten minutes, and then overlaps the previous period by an hour', async () => {
    all.book('one', hoursAgo(0.5));
    await all.run();
    await all.run();
    minutesLater(9.99);
    await all.run();
    expect(all.asked()).to.have.length(1);
    minutesLater(0.01);
    await all.run();
    expect([all.asked(), all.references]).to.deep.equal([[`${hoursAgo(1)} ${all.now}`], ['E-one']]);
    expect(untilOf()).to.equal(all.now);
  });
  it('stores a new payment at the next run', async () => {
    all.book('one', hoursAgo(0.5));
    await all.run();
    minutesLater(10);
    all.book('two', all.now);
    await all.run();
    expect(all.references).to.deep.equal(['E-one', 'E-two']);
  });
  it('alerts about a balance on the disputes account once per civil day', async () => {
    await all.run();
    expect(all.disputes).to.deep.equal([]);
    all.rests = [
      { account_id: TENANT.accountId, mode: 'test', currency: 'BRL', rest: -500 },
      { account_id: TENANT.accountId, mode: 'live', currency: 'BRL', rest: 700 },
    ];
    for (const minutes of [10, 10, 24 * 60, 10]) {
      minutesLater(minutes);
      await all.run();
    }
    expect(all.disputes).to.deep.equal([[keyOf(TENANT), [all.rests[0]]]]);
  });
  it('finds payments that the bank listed an hour late', async () => {
    await all.run();
    minutesLater(10);
    all.book('late', hoursAgo(1));
    await all.run();
    expect(all.references).to.deep.equal(['E-late']);
  });
  it('looks up no charges if every payment is known', async () => {
    all.book('one', hoursAgo(1));
    await all.run();
    minutesLater(10);
    await all.run();
    expect(all.sought).to.deep.equal([[txidOf('one')]]);
  });

  it('requests a long gap in periods of at most 24 hours, and stores a payment on their bound once', async () => {
    all.until.set('test', hoursAgo(60));
    all.book('between', hoursAgo(37));
    await all.run();
    expect(all.asked()).to.deep.equal([
      `${hoursAgo(61)} ${hoursAgo(37)}`,
      `${hoursAgo(37)} ${hoursAgo(13)}`,
      `${hoursAgo(13)} ${NOON}`,
    ]);
    expect([all.references, untilOf()]).to.deep.equal([['E-between'], NOON]);
  });
  it('requests 24 hours again if the saved position is too far in the future', async () => {
    all.until.set('test', addMillis(NOON, HOUR_MS + 1));
    all.book('one', hoursAgo(20));
    await all.run();
    expect([all.asked(), all.references, untilOf()]).to.deep.equal([[`${hoursAgo(24)} ${NOON}`], ['E-one'], NOON]);
    all.until.set('test', addMillis(NOON, HOUR_MS));
    await all.run();
    expect(all.asked()).to.deep.equal([]); // The overlap covers the difference.
  });
  it('keeps its position while the provider does not answer, and finds the payment when repeated', async () => {
    all.book('one', hoursAgo(2));
    all.provider.next('bookedBetween', 'unknown');
    expect(await thrown(all.run())).to.be.instanceOf(UnknownAtProvider);
    expect([all.references, untilOf()]).to.deep.equal([[], null]);
    await all.run();
    expect([all.references, untilOf()]).to.deep.equal([['E-one'], NOON]);
  });
  it('keeps the completed periods if the provider stops answering', async () => {
    all.until.set('test', hoursAgo(60));
    all.book('early', hoursAgo(50));
    all.book('later', hoursAgo(20));
    all.onReached = () => all.provider.next('bookedBetween', 'unknown');
    expect(await thrown(all.run())).to.be.instanceOf(UnknownAtProvider);
    expect([all.references, untilOf()]).to.deep.equal([['E-early'], hoursAgo(37)]);
    all.onReached = null;
    all.asked();
    await all.run();
    expect(all.asked()).to.deep.equal([`${hoursAgo(38)} ${hoursAgo(14)}`, `${hoursAgo(14)} ${NOON}`]);
    expect([all.references, untilOf()]).to.deep.equal([['E-early', 'E-later'], NOON]);
  });
  it('stores no payment twice after a crash before the position was saved', async () => {
    all.book('one', hoursAgo(2));
    all.onReached = () => {
      throw new Error('killed');
    };
    expect((await thrown(all.run())).message).to.equal('killed');
    expect([all.references, untilOf()]).to.deep.equal([['E-one'], null]);
    all.onReached = null;
    await all.run();
    expect([all.references, untilOf()]).to.deep.equal([['E-one'], NOON]);
  });
  it('keeps its position while a new charge may be missing from the read models', async () => {
    all.book('one', hoursAgo(2));
    all.isBehind = true;
    expect(await thrown(all.run())).to.be.instanceOf(ReadModelsBehind);
    expect([all.references, untilOf(), all.unmatched]).to.deep.equal([[], null, []]);
    all.isBehind = false;
    await all.run();
    expect([all.references, untilOf()]).to.deep.equal([['E-one'], NOON]);
  });

  describe('payments without a charge of the tenant', () => {
    it('are reported once per run and don’t prevent others', async () => {
      all.until.set('test', hoursAgo(30));
      all.book('nobodys', hoursAgo(29), null);
      all.book('one', hoursAgo(20));
      all.book('between', hoursAgo(7), null);
      await all.run();
      expect(all.unmatched).to.deep.equal([['acct/test', 'E-nobodys', 'E-between']]);
      expect([all.references, untilOf()]).to.deep.equal([['E-one'], NOON]);
    });
    it('are reported by one run only, although later runs see them again', async () => {
      all.book('nobodys', hoursAgo(0.1), null);
      await all.run();
      minutesLater(10);
      await all.run();
      expect([all.unmatched, all.sought.length]).to.deep.equal([[['acct/test', 'E-nobodys']], 2]);
    });
    it('are reported even if the run fails', async () => {
      all.until.set('test', hoursAgo(30));
      all.book('nobodys', hoursAgo(29), null);
      all.onReached = () => all.provider.next('bookedBetween', 'unknown');
      expect(await thrown(all.run())).to.be.instanceOf(UnknownAtProvider);
      expect(all.unmatched).to.deep.equal([['acct/test', 'E-nobodys']]);
    });
    it('are neither looked up nor reported if their txid is not one of Quita’s', async () => {
      const txids = ['', 'SHOP1', 'x'.repeat(36), '%'.repeat(32)];
      for (const txid of txids)
        all.provider.incomingPayments.set(txid, [incoming({ providerPaymentId: `E ${txid}`, paidAt: NOON })]);
      await all.run();
      expect([all.sought, all.unmatched, all.references]).to.deep.equal([[], [], []]);
    });
    it('include payments for charges of another tenant: each account sees only its own', async () => {
      all.book('theirs', hoursAgo(2), OTHER, TENANT.accountId);
      all.book('own', hoursAgo(2), OTHER);
      await all.run();
      expect(all.unmatched).to.deep.equal([['acct/test', 'E-theirs']]);
      expect(all.stored.map(({ tenant, reference }) => [tenant, reference])).to.deep.equal([[OTHER, 'E-own']]);
    });
  });

  it('reads the list page by page and looks up charges only for tenants with unknown payments', async () => {
    const tenants = Array.from({ length: 7 }, (_, n): Tenant => ({ accountId: `acct${n}` as AccountId, mode: 'test' }));
    for (const [n, tenant] of tenants.entries()) all.book(`${n}`, hoursAgo(2), tenant);
    all.provider.listPage = 3;
    await all.run();
    expect(all.stored.map(({ tenant }) => tenant)).to.deep.equal(tenants);
    const [from, to] = [hoursAgo(24), NOON];
    expect(all.asked()).to.deep.equal([`${from} ${to}`, `${from} ${to} after 3`, `${from} ${to} after 6`]);
    all.sought.length = 0;
    minutesLater(10);
    all.book('new', all.now, tenants[4]);
    await all.run();
    expect(all.sought).to.deep.equal([[txidOf('new')]]);
  });

  it('runs for live mode only if a provider is configured, and separately from test mode', async () => {
    all.book('one', hoursAgo(2), LIVE);
    all.hasLive = false;
    await all.run('live');
    expect([all.asked(), all.references, untilOf('live')]).to.deep.equal([[], [], null]);
    all.hasLive = true;
    await all.run('live');
    expect([all.references, untilOf('live'), untilOf()]).to.deep.equal([['E-one'], NOON, null]);
    expect(all.stored[0]?.tenant).to.deep.equal(LIVE);
  });
});
