// Finds the data held about a person, and reports it for an access request (rule L1).
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { keptUntil } from '../../domain/kernel/erasure.ts';
import type { AccountId, MedCaseId, Mode, PaymentId, RefundId } from '../../domain/kernel/ids.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { erasedCharge, erasedTransaction } from '../../domain/payment/erasure.ts';
import { endOf, unfinishedBecause } from '../../domain/payment/finality.ts';
import { type ExistingPayment, exists } from '../../domain/payment/payment.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import { endOfPayout } from '../../domain/payout/erase.ts';
import { type Payout, type PayoutId, payout as payoutDecider } from '../../domain/payout/payout.ts';
import { REFUND } from '../../domain/refund/refund.ts';
import { type CommandHandler, StreamUnreadable, unlessUnreadable } from '../core/commandHandler.ts';
import type { Person, PersonalPayments, PersonalPayouts } from '../ports/personalData.ts';
import { concerns, type HeldData, heldData } from './heldData.ts';

/** A payment or payout, named as the operator names it. */
export type OwnerId = { readonly payment: PaymentId } | { readonly payout: PayoutId };
/** The subject of an operator's search: a person, or one payment or payout. */
export type Subject = Person | OwnerId;

export interface HeldPayment {
  readonly kind: 'payment';
  readonly id: PaymentId;
  readonly accountId: AccountId;
  readonly mode: Mode;
  readonly createdAt: Timestamp;
  readonly amount: Minor;
  readonly currency: string;
  /** Time until which the law requires the data; null while the payment has not ended. */
  readonly keptUntil: Timestamp | null;
  readonly erasedAt: Timestamp | null;
  readonly data: HeldData;
  /** `data` is null if the case can't be read. */
  readonly disputes: readonly { readonly id: MedCaseId; readonly data: HeldData | null }[];
}
export interface HeldPayout extends Omit<HeldPayment, 'kind' | 'id' | 'disputes'> {
  readonly kind: 'payout';
  readonly id: PayoutId;
}
export type Held = HeldPayment | HeldPayout;

export const ownerOf = (held: Held): OwnerId => (held.kind === 'payment' ? { payment: held.id } : { payout: held.id });

export interface FindNeeds {
  readonly commands: CommandHandler;
  readonly personalPayments: PersonalPayments;
  readonly personalPayouts: PersonalPayouts;
  readonly retentionYears: number;
}

/** The largest number of payments and payouts that one call finds. */
export const FOUND_MAX = 1_000;

const AT = '2000-01-01T00:00:00.000Z' as Timestamp;

const dataOfPayment = ({ charge, transaction }: ExistingPayment): HeldData => {
  const { erasedAt: _, ...erased } = erasedCharge(charge, AT) as typeof charge;
  return heldData(
    { charge, transaction },
    {
      charge: { ...erased, ...('erasedAt' in charge && { erasedAt: charge.erasedAt }) },
      transaction: erasedTransaction(transaction),
    },
  );
};

/** Returns the ids of the payment's dispute cases, oldest first. */
export const casesOf = ({ transaction }: Pick<ExistingPayment, 'transaction'>): readonly MedCaseId[] =>
  transaction.status === 'settled' && transaction.dispute !== null
    ? [...transaction.dispute.earlier, transaction.dispute].map(({ caseId }) => caseId)
    : [];

/** Returns the ids of the payment's refunds, and of Pix-outs in place of refused returns. Both have streams of refunds. */
export const refundsOf = ({ transaction }: Pick<ExistingPayment, 'transaction'>): readonly RefundId[] => [
  ...(transaction.status === 'settled' ? transaction.refunds.map(({ refundId }) => refundId) : []),
  ...transaction.incomingPayments.flatMap(({ payouts = [] }) => payouts.map(({ payoutId }) => payoutId)),
];

const disputesOf = (commands: CommandHandler, payment: ExistingPayment): Promise<HeldPayment['disputes']> =>
  Promise.all(
    casesOf(payment).map(async (caseId) => {
      const loaded = await unlessUnreadable(commands.load(MED_CASE, MED_CASE.stream(caseId)));
      if (loaded instanceof StreamUnreadable) return { id: caseId, data: null };
      const { state } = loaded;
      const erased = MED_CASE.decider.evolve(state, { type: 'MedCasePersonalDataErased', data: { at: AT } });
      return { id: caseId, data: heldData(state, erased) };
    }),
  );

/** Returns whether the payment or one of its dispute cases mentions the person. An unreadable case may do so. */
const mentions = async (commands: CommandHandler, payment: ExistingPayment, person: Person): Promise<boolean> =>
  concerns(dataOfPayment(payment), person) ||
  (await disputesOf(commands, payment)).some(({ data }) => data === null || concerns(data, person));

const heldOfPayment = async (
  { commands, retentionYears }: FindNeeds,
  payment: ExistingPayment,
): Promise<HeldPayment> => {
  const { paymentId: id, accountId, mode, createdAt, amount, currency } = payment.charge.terms;
  const disputes = await disputesOf(commands, payment);
  return {
    ...{ kind: 'payment', id, accountId, mode, createdAt, amount, currency },
    keptUntil: unfinishedBecause(payment) === null ? keptUntil(endOf(payment), retentionYears) : null,
    erasedAt: payment.charge.erasedAt ?? null,
    data: dataOfPayment(payment),
    disputes,
  };
};

const dataOfPayout = (state: Payout): HeldData => {
  const erasure = { by: '', reason: '', despiteRetention: false, at: state.erasedAt ?? AT };
  const { erasedAt: _, ...erased } = payoutDecider.evolve(state, {
    type: 'PayoutPersonalDataErased',
    data: erasure,
  }) as Payout;
  const { erasedAt: __, ...before } = state;
  return heldData(before, erased);
};

const heldOfPayout = ({ retentionYears }: FindNeeds, payout: Payout): HeldPayout => {
  const { payoutId: id, accountId, mode, amount, currency } = payout.terms;
  const end = endOfPayout(payout);
  return {
    ...{ kind: 'payout', id, accountId, mode, createdAt: payout.requestedAt, amount, currency },
    keptUntil: end && keptUntil(end, retentionYears),
    erasedAt: payout.erasedAt ?? null,
    data: dataOfPayout(payout),
  };
};

async function* ofOwner({ commands }: FindNeeds, owner: OwnerId): AsyncGenerator<ExistingPayment | Payout, void> {
  if ('payment' in owner) {
    const { state } = await commands.load(PAYMENT, PAYMENT.stream(owner.payment));
    if (exists(state)) yield state;
    return;
  }
  const { state } = await commands.load(PAYOUT, PAYOUT.stream(owner.payout));
  if (state.status !== 'absent') yield state;
}

/**
 * Returns the owner of the data. The Pix-out of a cash-out refund, or in place of a refused return, has a `po_` id like a payout (Y2), but
 * its data is that of its payment.
 */
const dataOwnerOf = async ({ commands }: FindNeeds, owner: OwnerId): Promise<OwnerId> => {
  if ('payment' in owner) return owner;
  const payout = await commands.load(PAYOUT, PAYOUT.stream(owner.payout));
  if (payout.state.status !== 'absent') return owner;
  const { state } = await commands.load(REFUND, REFUND.stream(owner.payout as string as RefundId));
  return state.status !== 'absent' && state.order.strategy === 'cashout' ? { payment: state.order.paymentId } : owner;
};

/** `after`: the item after which the search continues, or null. Payouts come after all payments. */
async function* ofPerson(
  needs: FindNeeds,
  person: Person,
  after: ExistingPayment | Payout | null,
): AsyncGenerator<ExistingPayment | Payout, void> {
  const payout = after !== null && 'terms' in after ? after : null;
  const payment = after !== null && 'charge' in after ? after.charge.terms : null;
  if (payout === null)
    for await (const page of needs.personalPayments.mentioning(
      person,
      payment && { ...payment, id: payment.paymentId },
    ))
      for (const one of page) if (await mentions(needs.commands, one, person)) yield one;
  const { terms, requestedAt: createdAt } = payout ?? {};
  const place = terms && createdAt ? { ...terms, id: terms.payoutId, createdAt } : null;
  for await (const page of needs.personalPayouts.mentioning(person, place))
    yield* page.filter((one) => concerns(dataOfPayout(one), person));
}

export const isOwner = (subject: Subject): subject is OwnerId => 'payment' in subject || 'payout' in subject;

/** A page of the data held about a subject. */
export interface HeldPage {
  /** The item after which the next page begins; null if this is the last page. */
  readonly next: OwnerId | null;
}

export interface FoundData extends HeldPage {
  readonly held: readonly Held[];
}

export const NO_CURSOR = reject('invalid_cursor', 'startingAfter does not match an existing item.', {
  param: 'startingAfter',
});

/**
 * Returns up to FOUND_MAX payments and payouts that hold data of the subject; for the Pix-out of a refund, its payment. A search for a
 * person continues after `after`. Rejects with `invalid_cursor` if that doesn't exist.
 */
export const findPerson =
  (needs: FindNeeds) =>
  async (subject: Subject, after: OwnerId | null = null): Promise<FoundData | Rejection> => {
    const held: Held[] = [];
    const last = after === null ? null : ((await ofOwner(needs, after).next()).value ?? null);
    if (after !== null && last === null) return NO_CURSOR;
    const found = isOwner(subject) ? ofOwner(needs, await dataOwnerOf(needs, subject)) : ofPerson(needs, subject, last);
    for await (const one of found) {
      if (held.length === FOUND_MAX) return { held, next: ownerOf(held.at(-1) as Held) };
      held.push('terms' in one ? heldOfPayout(needs, one) : await heldOfPayment(needs, one));
    }
    return { held, next: null };
  };
