// Laws of payments over random histories: each made by decisions, as the program makes them, in any order and with repeats.
import { expect } from 'chai';
import fc from 'fast-check';
import type { Decision } from '../../domain/kernel/decider.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { addSeconds } from '../../domain/kernel/time.ts';
import { journalEntry } from '../../domain/ledger/postings.ts';
import { expire, recordReturn, releaseFunds } from '../../domain/payment/afterwards.ts';
import { createCharge, failCreation, issueInstrument } from '../../domain/payment/create.ts';
import { exists, type PaymentEvent, type PaymentState, payment } from '../../domain/payment/payment.ts';
import { settleReceipt } from '../../domain/payment/settle.ts';
import { DEFAULT_FEES } from '../../domain/transaction/fees.ts';
import { chargeView } from '../../domain/wire/charge.ts';
import { messagesOf } from '../../domain/wire/messages.ts';
import { PUBLIC_STATUS_OF, transactionStatus } from '../../domain/wire/status.ts';
import { transactionView } from '../../domain/wire/transaction.ts';
import { deepFreeze } from '../support/deepFreeze.ts';
import { at, CREATED_AT, created, instrument, LOCKED_TO, SOMEBODY_ELSE, terms } from '../support/samples.ts';

interface Step {
  readonly name: string;
  readonly decide: Decision<PaymentState, PaymentEvent, unknown>;
}
const endToEndId = fc.constantFrom('E1', 'E2', 'E3');
/** Up to three days after the creation: before and after expiry and hold. */
const when = fc.nat({ max: 3 * 86_400 }).map((seconds) => addSeconds(CREATED_AT, seconds));
const soon = fc.nat({ max: 7_200 }).map((seconds) => addSeconds(CREATED_AT, seconds));
const amount = fc.oneof(
  { weight: 3, arbitrary: fc.constant(12_345) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 20_000 }) },
);
const document = fc.constantFrom(LOCKED_TO, SOMEBODY_ELSE, null);

const settle = fc
  .record({ endToEndId, amount: amount.map(toMinor), document, paidAt: soon, holdDays: fc.nat({ max: 2 }), at: when })
  .map(({ document: payer, holdDays, at: now, ...pix }): Step => {
    const receipt = { ...pix, payer: { name: null, document: payer } };
    return {
      name: `settle ${JSON.stringify(receipt)}`,
      decide: settleReceipt({ receipt, fees: DEFAULT_FEES, holdDays, returnId: `r-${pix.endToEndId}`, at: now }),
    };
  });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: settle },
  { weight: 2, arbitrary: when.map((now): Step => ({ name: `expire ${now}`, decide: expire(now) })) },
  { weight: 1, arbitrary: when.map((now): Step => ({ name: `release ${now}`, decide: releaseFunds(now) })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(endToEndId, when)
      .map(([id, now]): Step => ({ name: `return ${id}`, decide: recordReturn(id, now) })),
  },
  { weight: 2, arbitrary: soon.map((now): Step => ({ name: 'issue', decide: issueInstrument(instrument(), now) })) },
  {
    weight: 1,
    arbitrary: soon.map(
      (now): Step => ({ name: 'fail', decide: failCreation({ reason: 'r', providerErrorCode: 'c' }, now) }),
    ),
  },
);

interface Told {
  readonly before: PaymentState;
  readonly event: PaymentEvent;
  readonly after: PaymentState;
}
interface History {
  readonly events: readonly PaymentEvent[];
  readonly told: readonly Told[];
  readonly state: PaymentState;
}
/** Runs the steps on a payment, locked or not, each on what the ones before wrote. `observe` sees every step. */
const run = (
  isLocked: boolean,
  steps: readonly Step[],
  observe: (state: PaymentState, step: Step) => void = () => undefined,
): History => {
  const first = created({ expectedPayerTaxId: isLocked ? LOCKED_TO : null });
  let state = deepFreeze(payment.evolve(payment.initial, first));
  const told: Told[] = [{ before: payment.initial, event: first, after: state }];
  for (const current of steps) {
    const decided = current.decide(state);
    if (isRejection(decided)) throw new Error(`${current.name} was refused`);
    for (const event of deepFreeze(decided.events)) {
      const after = deepFreeze(payment.evolve(state, event));
      told.push({ before: state, event, after });
      state = after;
    }
    observe(state, current);
  }
  return { events: told.map(({ event }) => event), told, state };
};
const histories = fc.tuple(fc.boolean(), fc.array(step, { maxLength: 15 }));
/** Most histories have a pay code from the start: half of the steps would be idle otherwise. */
const openHistories = histories.map(([isLocked, steps]): [boolean, Step[]] => [
  isLocked,
  [{ name: 'issue', decide: issueInstrument(instrument(), CREATED_AT) }, ...steps],
]);
const forAll = (property: (isLocked: boolean, steps: readonly Step[]) => void) => {
  fc.assert(
    fc.property(fc.oneof(histories, openHistories), ([isLocked, steps]) => property(isLocked, steps)),
    { numRuns: 400 },
  );
};

const sumOf = (events: readonly PaymentEvent[], account: string): number =>
  events
    .flatMap((event) => journalEntry(event)?.postings ?? [])
    .reduce((sum, posting) => sum + (posting.account === account ? posting.amount : 0), 0);

describe('laws of payments', () => {
  it('every decision applied twice is the same as once', () => {
    forAll((isLocked, steps) => {
      run(isLocked, steps, (state, { decide, name }) => {
        const again = decide(state);
        if (isRejection(again)) throw new Error(`${name} was refused the second time`);
        expect(again.events, name).to.deep.equal([]);
      });
    });
  });

  it('every step repeated anywhere later changes no money that has been decided on', () => {
    forAll((isLocked, steps) => {
      const { state, events } = run(isLocked, steps);
      const settles = steps.filter(({ name }) => name.startsWith('settle'));
      const seen = new Set(events.flatMap((event) => ('receipt' in event.data ? [event.data.receipt.endToEndId] : [])));
      for (const { decide, name } of settles) {
        const again = decide(state);
        if (isRejection(again)) throw new Error(`${name} was refused`);
        expect(again, name).to.deep.equal({ events: [], reply: 'duplicate' });
        expect(seen.size).to.be.within(1, 3);
      }
    });
  });

  it('the wallet is the sum of the ledger: the net once, pending until released, never anything else', () => {
    forAll((isLocked, steps) => {
      const { events, state } = run(isLocked, steps);
      const { transaction } = state;
      const net = transaction.status === 'settled' ? transaction.settlement.netAmount : 0;
      const isHeld =
        transaction.status === 'settled' &&
        transaction.settlement.availableAt !== null &&
        transaction.releasedAt === null;
      expect({
        available: sumOf(events, 'merchant_available'),
        pending: sumOf(events, 'merchant_pending'),
      }).to.deep.equal({
        available: isHeld ? 0 : net,
        pending: isHeld ? net : 0,
      });
    });
  });

  it('what is owed to payers is what was rejected or held and has not gone back', () => {
    forAll((isLocked, steps) => {
      const { events, state } = run(isLocked, steps);
      const owed = state.transaction.receipts.filter(({ outcome }) => outcome === 'rejected' || outcome === 'held');
      expect(sumOf(events, 'payer_returns')).to.equal(owed.reduce((sum, receipt) => sum + receipt.amount, 0));
    });
  });

  it('never returns more than arrived, and each Pix at most once', () => {
    forAll((isLocked, steps) => {
      const { events } = run(isLocked, steps);
      const arrived = new Map<string, number>();
      const back = new Map<string, number>();
      for (const { type, data } of events) {
        if ('receipt' in data) {
          expect(arrived.has(data.receipt.endToEndId), 'one outcome a Pix').to.equal(false);
          arrived.set(data.receipt.endToEndId, data.receipt.amount);
        }
        if (type === 'TransactionReceiptReturned') {
          expect(back.has(data.endToEndId), 'returned once').to.equal(false);
          back.set(data.endToEndId, data.amount);
        }
        if (type === 'TransactionSettled') expect(back.has(data.receipt.endToEndId)).to.equal(false);
      }
      for (const [id, amountBack] of back) expect(amountBack).to.equal(arrived.get(id));
      expect(-sumOf(events, 'provider_clearing')).to.equal(
        [...arrived.values()].reduce((a, b) => a + b, 0) - [...back.values()].reduce((a, b) => a + b, 0),
      );
    });
  });

  it('settles once at most, with the right amount, from the right payer', () => {
    forAll((isLocked, steps) => {
      const settled = run(isLocked, steps).events.filter(({ type }) => type === 'TransactionSettled');
      expect(settled.length).to.be.at.most(1);
      for (const event of settled) {
        if (event.type !== 'TransactionSettled') continue;
        const { amount: paid, payer, paidAt } = event.data.receipt;
        expect(paid).to.equal(12_345);
        expect(paidAt <= at('14:00:00')).to.equal(true);
        if (isLocked) expect(payer.document).to.equal(LOCKED_TO);
      }
    });
  });

  it('the public status is a function of the transaction status', () => {
    forAll((isLocked, steps) => {
      const { told } = run(isLocked, steps);
      for (const { after } of told) {
        if (!exists(after)) throw new Error('a payment that does not exist');
        expect(transactionView(after).status).to.equal(transactionStatus(after));
        expect(chargeView(after).status).to.equal(PUBLIC_STATUS_OF[transactionStatus(after)]);
      }
    });
  });

  it('the status changed exactly when a payment.status_changed says so, creation aside (W9, W9a)', () => {
    forAll((isLocked, steps) => {
      for (const { before, event, after } of run(isLocked, steps).told) {
        const types = messagesOf(before, event, after).map(({ type }) => type);
        if (!exists(before) || !exists(after) || event.type === 'ChargePixIssued') {
          expect(types).to.not.include('payment.status_changed');
          continue;
        }
        expect(types.includes('payment.status_changed')).to.equal(
          transactionStatus(before) !== transactionStatus(after),
        );
      }
    });
  });

  it('a used id with other content is always refused, with the same it is always the original', () => {
    const asking = (hash: string) =>
      createCharge({ terms: terms(), fingerprintUnder: () => hash, fingerprintVersion: 1, instrument: null });
    forAll((isLocked, steps) => {
      const { state } = run(isLocked, steps);
      const other = asking('hash-of-another-request')(state);
      expect(isRejection(other) && other.code).to.equal('idempotency_key_reused');
      expect(asking('hash-of-the-request')(state)).to.deep.equal({ events: [], reply: 'replayed' });
    });
  });
});
