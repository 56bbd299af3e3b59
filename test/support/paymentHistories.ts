// Random payment histories for laws. Real decisions make each history, in any order and with repeats.
import fc from 'fast-check';
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import type { Decision } from '../../domain/kernel/decider.ts';
import type { MedCaseId, RefundId } from '../../domain/kernel/ids.ts';
import { toMinor, ZERO } from '../../domain/kernel/money.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { addSeconds, type Timestamp } from '../../domain/kernel/time.ts';
import { recordProcessing, recordRefusal } from '../../domain/payment/acquirerOutcomes.ts';
import { recordCancelled, requestCancel } from '../../domain/payment/cancel.ts';
import { type Issuance, recordIssuances } from '../../domain/payment/create.ts';
import { openDispute, openReturnedDispute, recordCaseStep, settleDispute } from '../../domain/payment/dispute.ts';
import { releaseHeld, returnHeld } from '../../domain/payment/held.ts';
import { expire, recordReturn, recordReturnRefusal, releaseFunds } from '../../domain/payment/lifecycle.ts';
import { type PaymentEvent, type PaymentState, payment } from '../../domain/payment/payment.ts';
import { completeRefund, type ReserveRefund, releaseRefund, reserveRefund } from '../../domain/payment/refund.ts';
import { recordReturnedOutside } from '../../domain/payment/returnedOutside.ts';
import { settleIncomingPayment } from '../../domain/payment/settle.ts';
import { DEFAULT_FEES } from '../../domain/transaction/fees.ts';
import { boleto, card } from '../world/instruments.ts';
import { ruledCase } from '../world/medCases.ts';
import { deepFreeze } from './deepFreeze.ts';
import {
  CASE_ID,
  CREATED_AT,
  created,
  disputeReport,
  instrument,
  LOCKED_TO,
  SETTINGS,
  SOMEBODY_ELSE,
} from './samples.ts';

const CASES = [CASE_ID, '1dspt000000000000000000001' as MedCaseId];
/** Returns the payment’s decision when one of its cases ends. */
const caseEnded = (
  caseId: MedCaseId,
  result: 'agreed' | 'disagreed' | 'withdrawn',
  returned: boolean,
  at: Timestamp,
): Decision<PaymentState, PaymentEvent, string> => {
  const medCase = ruledCase(
    result === 'withdrawn' ? result : { result, returned, returnedToPayer: null },
    { caseId },
    at,
  );
  const change = medCase.status === 'rejected' ? 'rejected' : 'closed';
  return recordCaseStep({ revision: 1, change, medCase, at });
};

export interface Step {
  readonly name: string;
  readonly decide: Decision<PaymentState, PaymentEvent, unknown>;
}
export interface Told {
  readonly before: PaymentState;
  readonly event: PaymentEvent;
  readonly after: PaymentState;
}
export interface History {
  readonly events: readonly PaymentEvent[];
  readonly told: readonly Told[];
  readonly state: PaymentState;
}

/** The methods of every history's payment. */
export const METHODS = ['PIX', 'CREDIT_CARD', 'BOLETO'] as const;

const providerPaymentId = fc.constantFrom('E1', 'E2', 'E3');
const method = fc.constantFrom(...METHODS);
/** Up to four days after the creation, before and after every expiry and hold. */
const when = fc.nat({ max: 4 * 86_400 }).map((seconds) => addSeconds(CREATED_AT, seconds));
const soon = fc.nat({ max: 7_200 }).map((seconds) => addSeconds(CREATED_AT, seconds));
/** A time from a bank, whose clock may be behind Quita's. */
const paidSoon = fc.integer({ min: -600, max: 7_200 }).map((seconds) => addSeconds(CREATED_AT, seconds));
const amount = fc.oneof(
  { weight: 3, arbitrary: fc.constant(12_345) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 20_000 }) },
);
const document = fc.constantFrom(LOCKED_TO, SOMEBODY_ELSE, null);
const holdDays = fc.nat({ max: 2 }).map((PIX) => ({ ...SETTINGS.holdDays, PIX }));
const returnIdOf = (id: string): string => `r-${id}`;

const settle = fc
  .record({ method, providerPaymentId, amount: amount.map(toMinor), document, paidAt: paidSoon, holdDays, at: when })
  .map(({ document: payer, holdDays: days, at, ...arrived }): Step => {
    const incoming = { ...arrived, payer: { name: null, document: payer } };
    const terms = { fees: DEFAULT_FEES, holdDays: days };
    return {
      name: `settle ${JSON.stringify(incoming)}`,
      decide: settleIncomingPayment({
        incoming,
        isPlain: true,
        payerCheck: 'unknown',
        ...terms,
        returnId: returnIdOf(incoming.providerPaymentId),
        at,
      }),
    };
  });

const PIX_ISSUED: Issuance = { method: 'PIX', instrument: instrument() };
const ISSUANCES: { readonly [M in (typeof METHODS)[number]]: Issuance } = {
  PIX: PIX_ISSUED,
  CREDIT_CARD: { method: 'CREDIT_CARD', instrument: card() },
  BOLETO: { method: 'BOLETO', instrument: boleto() },
};
const refusedIssuance = (of: PaymentMethod): Issuance => ({
  method: of,
  refused: { reason: 'r', providerErrorCode: 'c' },
});
const issuance = fc
  .tuple(method, fc.boolean())
  .map(([of, isIssued]): Issuance => (isIssued ? ISSUANCES[of] : refusedIssuance(of)));
const issue = fc
  .tuple(fc.uniqueArray(issuance, { maxLength: 3, selector: (one) => one.method }), soon)
  .map(([all, at]): Step => ({ name: `issue ${JSON.stringify(all)}`, decide: recordIssuances(all, at) }));

const refundId = fc.constantFrom('rf1', 'rf2', 'rf3').map((id) => id as RefundId);
/** The fingerprint derives from the content, as in the program. */
const wish = fc
  .record({
    refundId,
    amount: fc.option(fc.integer({ min: 1, max: 13_000 }).map(toMinor), { nil: null }),
    strategy: fc.constantFrom('devolution' as const, 'cashout' as const, null),
    passFeeToTenant: fc.boolean(),
  })
  .map((one): ReserveRefund => {
    const destination = { destinationKey: LOCKED_TO, paysOut: true, allowedDestinations: null };
    return { ...one, ...destination, reason: null, fingerprintUnder: () => JSON.stringify(one), fingerprintVersion: 1 };
  });
const reserve = fc
  .tuple(wish, when)
  .map(([one, at]): Step => ({ name: `reserve ${one.fingerprintUnder(1)}`, decide: reserveRefund(one, at) }));
const end = fc
  .tuple(refundId, fc.boolean(), when)
  .map(
    ([id, isPaid, at]): Step =>
      isPaid
        ? { name: `complete ${id}`, decide: completeRefund(id, `E-${id}`, at) }
        : { name: `release ${id}`, decide: releaseRefund(id, 'no', at) },
  );

const dated = (name: string, decide: (at: typeof CREATED_AT) => Step['decide']): fc.Arbitrary<Step> =>
  when.map((at) => ({ name: `${name} at ${at}`, decide: decide(at) }));
const terms = { fees: DEFAULT_FEES, holdDays: SETTINGS.holdDays };
const ofMethod = (name: string, decide: (of: PaymentMethod, at: typeof CREATED_AT) => Step['decide']) =>
  fc.tuple(method, soon).map(([of, at]): Step => ({ name: `${name} ${of}`, decide: decide(of, at) }));

const STEPS: readonly { readonly weight: number; readonly arbitrary: fc.Arbitrary<Step> }[] = [
  { weight: 6, arbitrary: settle },
  { weight: 2, arbitrary: issue },
  { weight: 1, arbitrary: dated('expire', expire) },
  { weight: 1, arbitrary: dated('release funds', releaseFunds) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(providerPaymentId, when)
      .map(([id, at]) => ({ name: `return ${id}`, decide: recordReturn(id, returnIdOf(id), at) })),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(providerPaymentId, when).map(
      ([id, at]): Step => ({
        name: `refuse return ${id}`,
        decide: (state) => {
          const asked = state.transaction.incomingPayments.find((one) => one.providerPaymentId === id)?.returnId ?? '';
          return recordReturnRefusal(id, asked, 'no', at)(state);
        },
      }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(providerPaymentId, fc.nat(2), fc.constantFrom(1, 345, 12_345, 13_000), when)
      .map(([id, number, amount, at]): Step => {
        const made = { providerPaymentId: id, id: `outside-${number}`, returnId: null, nature: 'ordinary' } as const;
        const decide: Step['decide'] = (state) => {
          const dispute = state.transaction.status === 'settled' ? state.transaction.dispute : null;
          const latest = dispute && { caseId: dispute.caseId, revision: dispute.revision, returned: ZERO };
          return recordReturnedOutside({ ...made, amount: toMinor(amount) }, latest, at)(state);
        };
        return { name: `outside ${number} of ${id}: ${amount}`, decide };
      }),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(1), fc.constantFrom(1, 345, 12_345), when).map(([number, amount, at]): Step => {
      const report = disputeReport({ caseId: CASES[number] as MedCaseId, amount: toMinor(amount) });
      return {
        name: `returned dispute ${number}: ${amount}`,
        decide: openReturnedDispute({ ...report, amount: toMinor(amount) }, at),
      };
    }),
  },
  { weight: 1, arbitrary: ofMethod('processing', recordProcessing) },
  {
    weight: 1,
    arbitrary: ofMethod('refuse', (of, at) => recordRefusal({ method: of, reason: 'r', providerErrorCode: 'c' }, at)),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('chargeback' as const, 'dispute' as const, 'med' as const), fc.nat(1), fc.nat(2), when)
      .map(([type, number, odd, at]) => ({
        name: `${type} ${number}`,
        decide: openDispute(
          disputeReport({ type, caseId: CASES[number] as MedCaseId, amount: odd === 0 ? toMinor(1) : null }),
          at,
        ),
      })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom('agreed' as const, 'disagreed' as const, 'withdrawn' as const),
        fc.boolean(),
        fc.nat(1),
        when,
      )
      .map(([result, returned, number, at]) => ({
        name: `${result} ${number}`,
        decide: caseEnded(CASES[number] as MedCaseId, result, returned, at),
      })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('held' as const, 'lost' as const, 'nothing' as const), fc.nat(9_000), when)
      .map(([verdict, most, at]) => ({
        name: `mismatch: ${verdict}`,
        decide: (state) => {
          const { transaction } = state;
          const dispute = transaction.status === 'settled' ? transaction.dispute : null;
          const amount = toMinor(verdict === 'nothing' ? 0 : 1 + most);
          const how = { verdict, amount, reason: 'x', by: 'operator', announced: true };
          return settleDispute({ ...how, caseId: dispute?.caseId ?? CASE_ID }, at)(state);
        },
      })),
  },
  { weight: 1, arbitrary: dated('wish to cancel', requestCancel) },
  { weight: 1, arbitrary: dated('cancel', (at) => recordCancelled({ returnIdOf, by: 'merchant' }, at)) },
  { weight: 1, arbitrary: dated('release held', (at) => releaseHeld(terms, 'operator', at)) },
  {
    weight: 2,
    arbitrary: dated('return held', (at) =>
      returnHeld(
        { returnIdOf: (id, refusals) => `${returnIdOf(id)}-${refusals}`, providerPaymentId: null, by: 'operator' },
        at,
      ),
    ),
  },
  { weight: 4, arbitrary: reserve },
  { weight: 3, arbitrary: end },
];
const step: fc.Arbitrary<Step> = fc.oneof(...STEPS);

const OPENING: Step = { name: 'issue all', decide: recordIssuances(Object.values(ISSUANCES), CREATED_AT) };
const paying = settle.filter(({ name }) => name.includes('12345'));
const steps = (maxLength: number): fc.Arbitrary<Step[]> => fc.array(step, { maxLength });
/** Most histories start with all instruments, and many are then paid. Otherwise half of the steps would have no effect. */
export const histories: fc.Arbitrary<[isLocked: boolean, steps: Step[]]> = fc.tuple(
  fc.boolean(),
  fc.oneof(
    steps(15),
    steps(15).map((rest) => [OPENING, ...rest]),
    fc.tuple(paying, steps(20)).map(([first, rest]) => [OPENING, first, ...rest]),
  ),
);

/**
 * Runs the steps on a payment, each on the result of the earlier ones. A rejected step writes nothing. `observe` is called after every
 * step.
 */
export const run = (
  isLocked: boolean,
  all: readonly Step[],
  observe: (before: PaymentState, current: Step, after: PaymentState) => void = () => undefined,
): History => {
  const first = created({ methods: METHODS, expectedPayerTaxId: isLocked ? LOCKED_TO : null });
  let state = deepFreeze(payment.evolve(payment.initial, first));
  const told: Told[] = [{ before: payment.initial, event: first, after: state }];
  for (const current of all) {
    const before = state;
    const decided = current.decide(state);
    for (const event of deepFreeze(isRejection(decided) ? [] : decided.events)) {
      const after = deepFreeze(payment.evolve(state, event));
      told.push({ before: state, event, after });
      state = after;
    }
    observe(before, current, state);
  }
  return { events: told.map(({ event }) => event), told, state };
};
