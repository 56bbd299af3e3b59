// The data held about a person, as operators and the person see it (rule L1).
import { ACCOUNT } from '../../domain/account/account.ts';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { PREFIX } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import type { Erased } from './eraseData.ts';
import { type Held, type OwnerId, ownerOf } from './findPerson.ts';

export const publicId = (owner: OwnerId): string =>
  'payment' in owner ? PAYMENT.idPrefix + owner.payment : PAYOUT.idPrefix + owner.payout;

export const heldView = (held: Held) => ({
  kind: held.kind,
  id: publicId(ownerOf(held)),
  chargeId: held.kind === 'payment' ? PREFIX.charge + held.id : null,
  accountId: ACCOUNT.idPrefix + held.accountId,
  mode: held.mode,
  createdAt: held.createdAt,
  amount: held.amount,
  currency: held.currency,
  keptUntil: held.keptUntil,
  erasedAt: held.erasedAt,
  data: held.data,
  disputes: held.kind === 'payment' ? held.disputes.map(({ id, data }) => ({ id: MED_CASE.idPrefix + id, data })) : [],
});
export type HeldView = ReturnType<typeof heldView>;

/** `because`: why the data stays, or null. */
export const erasedView = ({ owner, outcome, refused }: Erased) => ({
  id: publicId(owner),
  outcome: outcome === 'erasedBefore' ? ('erased_before' as const) : outcome,
  because: refused === null ? null : refused.message,
});
export type ErasedView = ReturnType<typeof erasedView>;
