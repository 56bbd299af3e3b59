// Erases the personal data of payments and payouts (rules L2, L3). The payment's own event comes first, and everything else follows from it
// by a job, so that an interrupted erasure is resumed.

import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import type { ErasureReply } from '../../domain/kernel/erasure.ts';
import type { AccountId, Mode, PaymentId, StreamName } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { erasePayment, isOrdered } from '../../domain/payment/erase.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import { erasePayout } from '../../domain/payout/erase.ts';
import { DISPUTE } from '../../domain/transaction/disputes.ts';
import type { Accounts } from '../core/accounts.ts';
import { type CommandHandler, StreamUnreadable, unlessUnreadable } from '../core/commandHandler.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import type { DataKeys } from '../ports/dataKeys.ts';
import { reasonProblem } from './erasureReason.ts';
import {
  type FindNeeds,
  findPerson,
  type Held,
  type HeldPage,
  isOwner,
  type OwnerId,
  ownerOf,
  type Subject,
} from './findPerson.ts';

export interface EraseNeeds extends FindNeeds {
  readonly accounts: Accounts;
  readonly dataKeys: Pick<DataKeys, 'destroy'>;
}

interface ErasureOrder {
  readonly reason: string;
  readonly despiteRetention: boolean;
}

/** The outcome for one payment or payout. `refused`: why its data stays. */
export interface Erased {
  readonly owner: OwnerId;
  readonly outcome: ErasureReply | 'refused';
  readonly refused: Rejection | null;
}

export interface ErasedPage extends HeldPage {
  readonly erased: readonly Erased[];
}

/**
 * Returns whether data came after the payment's last erasure. The cases of disputes have files, mail and streams of their own, which only
 * an ordered erasure reaches.
 */
const hasDataSinceErasure = async (commands: CommandHandler, payment: PaymentId): Promise<boolean> => {
  let [isDisputed, hasPersonal] = [false, false];
  for await (const { event } of commands.loadSteps(PAYMENT, PAYMENT.stream(payment)))
    if (event.type === 'PaymentPersonalDataErased')
      [isDisputed, hasPersonal] = [isDisputed && !isOrdered(event), false];
    else if (DISPUTE.has(event)) isDisputed = true;
    else if (PAYMENT.serde.hasPersonal(event.type)) hasPersonal = true;
  return isDisputed || hasPersonal;
};

/**
 * Records the erasure of one payment or payout, and destroys its key. A payment with data since its erasure is erased again. Rejects as
 * `erasePayment` and `erasePayout` do. Throws DataKeysUnavailable if the key could not be destroyed: a repeat or the job destroys it.
 */
export const eraseOne =
  ({ commands, accounts, dataKeys, retentionYears }: Omit<EraseNeeds, 'personalPayments' | 'personalPayouts'>) =>
  async (
    owner: OwnerId,
    { accountId, mode }: { readonly accountId: AccountId; readonly mode: Mode },
    order: ErasureOrder,
    by: Changer,
  ): Promise<ErasureReply | Rejection> => {
    const wish = { ...order, by: by.actor, retentionYears };
    const at = await accounts.now(accountId, mode);
    const id = 'payment' in owner ? owner.payment : owner.payout;
    const metadata = { ...metadataForChange(by, accountId, id), mode };
    const execute = (again: boolean) =>
      'payment' in owner
        ? commands.execute(PAYMENT, PAYMENT.stream(owner.payment), erasePayment(wish, at, again), metadata)
        : commands.execute(PAYOUT, PAYOUT.stream(owner.payout), erasePayout(wish, at), metadata);
    const done = await execute(false);
    if (isRejection(done)) return done;
    // Otherwise, folds of the events before the erasure would show the data until the job has run.
    await dataKeys.destroy([id]);
    if (done.reply === 'erased' || !('payment' in owner)) return done.reply;
    if (!(await hasDataSinceErasure(commands, owner.payment))) return done.reply;
    const again = await execute(true);
    return isRejection(again) ? again : again.reply;
  };

/** Returns the stream of a dispute case that can't be read, or null. Its files would not be found, and so not be erased. */
const unreadableCaseOf = (one: Held): StreamName | null => {
  const unreadable = one.kind === 'payment' && one.disputes.find(({ data }) => data === null);
  return unreadable ? MED_CASE.stream(unreadable.id) : null;
};

const UNREADABLE = reject('service_unavailable', 'An event of its stream can’t be read. Repair it, then erase again.');

/** The payment holds more data than the Pix-out that was named, and an erasure can't be undone. */
const isRefundOf = (payment: PaymentId): Rejection => {
  const id = PAYMENT.idPrefix + payment;
  const message = `This Pix-out is a refund of ${id}. Its data is erased with that payment: name it instead.`;
  return reject('invalid_request', message, { param: 'payout' });
};

/**
 * Erases the data of everything found for the subject after `after`, up to FOUND_MAX payments and payouts. Those of a person are erased or
 * refused one by one; unreadable ones are refused. Rejects with `invalid_cursor`, with `invalid_request` for an unusable reason or the
 * Pix-out of a refund, with `not_found` if nothing is held, and for a single payment or payout as `eraseOne` does. Throws
 * StreamUnreadable if a single one is unreadable.
 */
export const eraseData =
  (needs: EraseNeeds) =>
  async (
    subject: Subject,
    order: ErasureOrder,
    by: Changer,
    after: OwnerId | null = null,
  ): Promise<ErasedPage | Rejection> => {
    const found = await findPerson(needs)(subject, after);
    if (isRejection(found)) return found;
    const { held, next } = found;
    const [first] = held;
    if ('payout' in subject && first?.kind === 'payment') return isRefundOf(first.id);
    const problem = reasonProblem(order.reason, subject, held);
    if (problem !== null) return reject('invalid_request', `reason ${problem}.`, { param: 'reason' });
    if (held.length === 0 && after === null) return reject('not_found', 'Nothing is held about this subject.');
    const erased: Erased[] = [];
    for (const one of held) {
      const owner = ownerOf(one);
      const unreadable = unreadableCaseOf(one);
      const tried =
        unreadable === null
          ? await unlessUnreadable(eraseOne(needs)(owner, one, order, by))
          : new StreamUnreadable(unreadable);
      if (tried instanceof StreamUnreadable && isOwner(subject)) throw tried;
      const done = tried instanceof StreamUnreadable ? UNREADABLE : tried;
      if (isRejection(done) && isOwner(subject)) return done;
      erased.push(
        isRejection(done) ? { owner, outcome: 'refused', refused: done } : { owner, outcome: done, refused: null },
      );
    }
    return { erased, next };
  };
