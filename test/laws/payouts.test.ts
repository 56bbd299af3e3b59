// The property of payouts over random histories (rule Y4), with refunds, disputes and releases in between, a lagging projector, and
// requests that overlap or are cut off. Each payout is granted if and only if the wallet’s acknowledged funds cover it in addition to all
// other payouts, and no money appears or is lost. Uses the product’s own funds check on a real database; the log is simulated.
import { expect } from 'chai';
import fc from 'fast-check';
import type { Position } from '../../application/ports/eventStore.ts';
import { type AccountId, encodeRawId } from '../../domain/kernel/ids.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import type { PaymentEvent } from '../../domain/payment/payment.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import type { PayoutEvent, PayoutId } from '../../domain/payout/payout.ts';
import { payoutFunds } from '../../infrastructure/payouts/payoutFunds.ts';
import { walletProjection } from '../../projections/wallet/projection.ts';
import { FINGERPRINT, TERMS } from '../domain/payout/samples.ts';
import { type LawDatabase, lawDatabase } from '../support/lawDatabase.ts';
import { at } from '../support/samples.ts';

/** `npm run soak -- payoutsLaw` uses 2,000. */
const HISTORIES = Number(process.env['HISTORIES'] ?? 300);
const FEE = 50;
const AT = at('15:00:00');

type Step =
  | { readonly kind: 'release' | 'refund' | 'dispute' | 'won'; readonly amount: number }
  /** `gap` is the number of later steps between reservation and append. */
  | { readonly kind: 'payout'; readonly amount: number; readonly gap: number; readonly isCutOff: boolean }
  | { readonly kind: 'end'; readonly how: 'PayoutPaid' | 'PayoutFailed' | 'PayoutCancelled'; readonly which: number }
  | { readonly kind: 'project'; readonly events: number }
  | { readonly kind: 'free' };

const amount = fc.integer({ min: 1, max: 400 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc.record({
      kind: fc.constantFrom('release' as const, 'refund' as const, 'dispute' as const, 'won' as const),
      amount,
    }),
    weight: 4,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant('payout' as const),
      amount,
      gap: fc.integer({ min: 0, max: 3 }),
      isCutOff: fc.boolean(),
    }),
    weight: 5,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      how: fc.constantFrom('PayoutPaid' as const, 'PayoutFailed' as const, 'PayoutCancelled' as const),
      which: fc.nat(5),
    }),
    weight: 2,
  },
  {
    arbitrary: fc.record({ kind: fc.constant('project' as const), events: fc.integer({ min: 1, max: 3 }) }),
    weight: 3,
  },
  { arbitrary: fc.record({ kind: fc.constant('free' as const) }), weight: 1 },
);

interface Logged {
  readonly category: 'payment' | 'payout';
  readonly stream: string;
  readonly subject: string;
  readonly revision: number;
  readonly event: PaymentEvent | PayoutEvent;
  readonly position: Position;
}

let positions = 0;
let accounts = 0;
let streams = 0;
const rawId = (number: number): string => {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(12, number);
  return encodeRawId(bytes);
};

class World {
  readonly #database: LawDatabase;
  readonly #funds: ReturnType<typeof payoutFunds>;
  readonly #account = rawId(++accounts) as AccountId;
  readonly #log: Logged[] = [];
  readonly #revisions = new Map<string, number>();
  #projected = 0;
  /** Amounts of payouts that are reserved or recorded and have not ended, by id. */
  readonly #taken = new Map<PayoutId, number>();
  readonly recorded: PayoutId[] = [];
  readonly #cutOff = new Set<PayoutId>();
  /** The wallet’s balance by all acknowledged events, before payouts in progress. */
  #balance = 0;

  constructor(database: LawDatabase) {
    this.#database = database;
    this.#funds = payoutFunds(database.pool);
  }

  #append(category: Logged['category'], stream: string, event: Logged['event']): void {
    const revision = (this.#revisions.get(stream) ?? -1) + 1;
    this.#revisions.set(stream, revision);
    const position = String(++positions).padStart(16, '0') as Position;
    this.#log.push({ category, stream, subject: stream.slice(stream.indexOf('-') + 1), revision, event, position });
  }

  move(kind: 'release' | 'refund' | 'dispute' | 'won', of: number): void {
    const data = { amount: toMinor(of), currency: 'BRL', at: AT };
    const events = {
      release: { type: 'TransactionFundsReleased', data },
      refund: { type: 'TransactionRefundReserved', data: { ...data, fee: toMinor(0), feePaidBy: 'platform' } },
      dispute: { type: 'TransactionDisputeOpened', data },
      won: { type: 'TransactionDisputeResolved', data: { ...data, moneyOutcome: 'refunded_to_merchant' } },
    };
    this.#append('payment', `payment-${rawId(++streams)}`, events[kind] as unknown as PaymentEvent);
    this.#balance += kind === 'release' || kind === 'won' ? of : -of;
  }

  /** Returns the funds that the next request may use. */
  get #free(): number {
    return this.#balance - [...this.#taken.values()].reduce((sum, taken) => sum + taken, 0);
  }

  /** Returns functions that record the request or cut it off, or null if it was rejected. */
  async request(of: number): Promise<{ readonly record: () => void; readonly cutOff: () => void } | null> {
    const payoutId = rawId(++streams) as PayoutId;
    const isEnough = of + FEE <= this.#free;
    const after = this.#log.at(-1)?.position ?? null;
    const wish = {
      payoutId,
      accountId: this.#account,
      mode: 'test' as const,
      currency: 'BRL',
      fee: toMinor(FEE),
      at: AT,
    };
    const ask = () =>
      this.#funds.reserve({ ...wish, amount: toMinor(of), countPerHour: null, sumPerHour: null, after });
    // The projector lags, so the ledger can’t answer yet.
    if (this.#projected < this.#log.length) expect(await ask()).to.equal('behind');
    await this.project(this.#log.length);
    expect(await ask()).to.equal(isEnough ? 'reserved' : 'insufficient');
    if (!isEnough) return null;
    this.#taken.set(payoutId, of + FEE);
    return {
      record: () => {
        const terms = { ...TERMS, payoutId, accountId: this.#account, amount: toMinor(of) };
        this.#append('payout', PAYOUT.stream(payoutId), {
          type: 'PayoutRequested',
          data: { ...terms, fingerprint: FINGERPRINT, at: AT },
        });
        this.recorded.push(payoutId);
      },
      cutOff: () => void this.#cutOff.add(payoutId),
    };
  }

  end(payoutId: PayoutId, type: 'PayoutPaid' | 'PayoutFailed' | 'PayoutCancelled'): void {
    const taken = this.#taken.get(payoutId);
    if (taken === undefined) return;
    const moved = { amount: toMinor(taken - FEE), fee: toMinor(FEE), currency: 'BRL', at: AT } as const;
    const event: PayoutEvent =
      type === 'PayoutPaid'
        ? { type, data: { ...moved, endToEndId: null } }
        : type === 'PayoutFailed'
          ? { type, data: { ...moved, reason: 'x' } }
          : { type, data: moved };
    this.#append('payout', PAYOUT.stream(payoutId), event);
    this.#taken.delete(payoutId);
    if (type === 'PayoutPaid') this.#balance -= taken;
  }

  async free(): Promise<void> {
    await this.#funds.forgetPosted();
    for (const reservation of await this.#funds.olderThan(0)) {
      if (!this.#cutOff.has(reservation.payoutId)) continue;
      await this.#funds.release(reservation);
      this.#taken.delete(reservation.payoutId);
    }
  }

  async project(events: number): Promise<void> {
    const batch = this.#log.slice(this.#projected, this.#projected + events);
    const last = batch.at(-1);
    if (last === undefined) return;
    this.#projected += batch.length;
    await this.#database.project(
      batch.map((logged) => ({ ...logged, account: this.#account, mode: 'test' as const })),
      last.position,
    );
  }

  /** Projects everything and checks that the balance is as expected and all postings sum to zero. */
  async judge(): Promise<void> {
    await this.project(this.#log.length);
    const open = this.recorded.reduce((sum, id) => sum + (this.#taken.get(id) ?? 0), 0);
    const balances = await this.#database.balances(this.#account);
    expect(balances['merchant_available'] ?? 0).to.equal(this.#balance - open);
    expect(balances['payouts_in_transit'] ?? 0).to.equal(open);
    expect(Object.values(balances).reduce((sum, one) => sum + one, 0)).to.equal(0);
  }
}

const play = async (database: LawDatabase, steps: readonly Step[]): Promise<void> => {
  const world = new World(database);
  const due: { in: number; readonly act: () => void }[] = [];
  world.move('release', 500);
  for (const one of steps) {
    for (const waiting of due.splice(0)) {
      if (waiting.in === 0) waiting.act();
      else due.push({ ...waiting, in: waiting.in - 1 });
    }
    switch (one.kind) {
      case 'payout': {
        const granted = await world.request(one.amount);
        if (granted !== null) due.push({ in: one.gap, act: one.isCutOff ? granted.cutOff : granted.record });
        break;
      }
      case 'end': {
        const id = world.recorded[one.which];
        if (id !== undefined) world.end(id, one.how);
        break;
      }
      case 'project':
        await world.project(one.events);
        break;
      case 'free':
        await world.free();
        break;
      default:
        world.move(one.kind, one.amount);
    }
  }
  for (const { act } of due) act();
  await world.judge();
};

describe('the property of payouts (Y4)', () => {
  let database: LawDatabase;
  before(async () => {
    database = await lawDatabase(walletProjection);
  });
  after(() => database.close());

  it(`holds in ${HISTORIES} random histories`, async function run() {
    this.timeout(900_000);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), (steps) => play(database, steps)),
      { numRuns: HISTORIES },
    );
  });
});
