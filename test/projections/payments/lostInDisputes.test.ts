// `lost` and `net` of the metrics, and the analysts’ sum of losses, against the ledger, if a lost case is not the end of it (T3, V10).
import { expect } from 'chai';
import { openCase, recordMoneyReturned, recordSettled } from '../../../domain/dispute/decisions.ts';
import {
  type MedCase,
  type MedCaseEvent,
  type MedCaseState,
  medCase,
  sumOfReturns,
} from '../../../domain/dispute/medCase.ts';
import { caseChange } from '../../../domain/dispute/snapshot.ts';
import { type Decision, fold } from '../../../domain/kernel/decider.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { openDispute, recordCaseStep, settleDispute } from '../../../domain/payment/dispute.ts';
import { type PaymentEvent, type PaymentState, payment } from '../../../domain/payment/payment.ts';
import { journalEntry } from '../../../domain/payment/postings.ts';
import { recordReturnedOutside } from '../../../domain/payment/returnedOutside.ts';
import { metricsView } from '../../../domain/presentation/metrics.ts';
import { statsViews } from '../../../projections/stats/queries.ts';
import {
  ACCOUNT_ID,
  at,
  CASE_ID,
  created,
  disputeReport,
  incoming,
  issued,
  PAYMENT_ID,
  settled,
} from '../../support/samples.ts';
import { caseTerms } from '../../world/medCases.ts';
import { logged, PaymentTables } from './paymentTables.ts';

const AT = at('17:00:00');
const REPORTED = toMinor(8_000);
const TENANT = { accountId: ACCOUNT_ID, mode: 'test' } as const;

/** A payment with a mismatch that an operator has settled as a loss of 50.00. */
class LostPayment {
  readonly events: PaymentEvent[] = [created(), issued(), settled()];
  readonly #steps: MedCaseEvent[] = [];

  constructor() {
    this.#onPayment(openDispute(disputeReport({ amount: REPORTED }), AT));
    this.#onCase(openCase(caseTerms({ amount: REPORTED, amountMismatch: true, held: toMinor(0) }), AT));
    const settling = {
      verdict: 'lost',
      amount: toMinor(5_000),
      reason: 'x',
      by: 'operator:ana',
      announced: true,
    } as const;
    this.#onPayment(settleDispute({ caseId: CASE_ID, ...settling }, AT));
    this.#onCase(recordSettled({ ...settling, at: AT }));
  }
  byBanks(id: string, amount: number): void {
    this.#onCase(recordMoneyReturned({ id, amount: toMinor(amount), at: AT }, true, AT));
  }
  outside(id: string, amount: number): void {
    const { providerPaymentId } = incoming();
    const made = { providerPaymentId, id, returnId: null, nature: 'ordinary', amount: toMinor(amount) } as const;
    const returned = sumOfReturns(fold(medCase, this.#steps) as MedCase);
    const latest = { caseId: CASE_ID, revision: this.#steps.length - 1, returned };
    this.#onPayment(recordReturnedOutside(made, latest, AT));
  }
  get available(): number {
    return this.events
      .flatMap((event) => journalEntry(event)?.postings ?? [])
      .filter(({ account }) => account === 'merchant_available')
      .reduce((sum, { amount }) => sum + amount, 0);
  }

  #onPayment<R>(decide: Decision<PaymentState, PaymentEvent, R>): void {
    const decided = decide(fold(payment, this.events));
    if (isRejection(decided)) throw new Error(decided.message);
    this.events.push(...decided.events);
  }
  #onCase<R>(decide: Decision<MedCaseState, MedCaseEvent, R>): void {
    const decided = decide(fold(medCase, this.#steps));
    if (isRejection(decided)) throw new Error(decided.message);
    for (const event of decided.events) {
      const revision = this.#steps.push(event) - 1;
      const change = caseChange(event);
      const after = fold(medCase, this.#steps) as MedCase;
      if (change !== null) this.#onPayment(recordCaseStep({ revision, change, medCase: after, at: AT }));
    }
  }
}

describe('the amount that disputes took', () => {
  let tables: PaymentTables;
  before(async () => {
    tables = await PaymentTables.open();
  });
  after(() => tables.close());

  for (const [what, play, lost] of [
    ['no return', () => undefined, 5_000],
    ['a return of what the case took', (one) => one.byBanks('a', 5_000), 5_000],
    ['a return beyond what the case took', (one) => one.byBanks('a', 8_000), 8_000],
    ['a return outside Quita that counts for the case', (one) => one.outside('app', 5_000), 5_000],
    [
      'a return outside Quita, and then one by the banks',
      (one) => {
        one.outside('app', 5_000);
        one.byBanks('a', 5_000);
      },
      10_000,
    ],
  ] satisfies [string, (one: LostPayment) => void, number][])
    it(`makes net what the ledger says, after ${what}`, async () => {
      const one = new LostPayment();
      play(one);
      const steps = one.events.map((event, revision) => ({ paymentId: PAYMENT_ID, revision, event }));
      await (await tables.fresh()).apply(logged(TENANT, steps), tables.db);
      const window = { days: ['2026-11-21'], currency: null };
      const times = await statsViews(tables.db).timeToPay(TENANT, window);
      const { volume } = metricsView(window, await statsViews(tables.db).dayRows(TENANT, window), times);
      expect(volume.map(({ lost, net }) => ({ lost, net }))).to.deep.equal([{ lost, net: one.available }]);
      const { rows } = await tables.db.query(
        'SELECT sum(created_lost_amount)::int AS lost FROM rm_payments.day_counts',
      );
      expect(rows).to.deep.equal([{ lost }]);
    });
});
