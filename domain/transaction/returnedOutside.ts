// Returns of a received Pix that Quita did not request: somebody used the bank's own app, or the banks decided (V10).
import type { Fact } from '../kernel/decider.ts';
import { add, least, type Minor, subtract, ZERO } from '../kernel/money.ts';
import { money, nullable, oneOf, record, type SerdeTable, text } from '../kernel/serde.ts';
import type { DisputeRecord } from './disputes.ts';
import { type IncomingPaymentRecord, leftOf, type Moved, moved } from './incomingPayment.ts';

/** `med…`: decided by the banks after a dispute. */
export const RETURN_NATURES = ['ordinary', 'withdrawal', 'medOperational', 'medFraud', 'medAutomatic'] as const;
export type ReturnNature = (typeof RETURN_NATURES)[number];

/**
 * The payer has this amount, although Quita did not request its return. It is never a merchant's refund. `owner`: who owned the money, the
 * merchant after a settlement, otherwise the payer.
 */
export type TransactionReturnedOutside = Fact<
  'TransactionReturnedOutside',
  Moved & {
    readonly providerPaymentId: string;
    /** Chosen by the party that requested the return; unique for the Pix. */
    readonly id: string;
    /** The network's id, or null if the provider doesn't report it. */
    readonly returnId: string | null;
    readonly nature: ReturnNature;
    readonly owner: 'merchant' | 'payer';
    /** The part that an open dispute held; the rest comes from the merchant's balance. */
    readonly fromHold: Minor;
  }
>;

export const returnedOutsideSerde: SerdeTable<TransactionReturnedOutside> = {
  TransactionReturnedOutside: {
    version: 1,
    shape: record({
      providerPaymentId: text(),
      id: text(),
      returnId: nullable(text()),
      nature: oneOf(...RETURN_NATURES),
      owner: oneOf('merchant', 'payer'),
      fromHold: money,
      ...moved,
    }),
    personal: [],
  },
};

/** Returns the amount that is still owed to the payer of a payment that was not credited. */
const owedToPayer = (seen: IncomingPaymentRecord): Minor =>
  seen.outcome === 'held' || seen.outcome === 'rejected' || seen.outcome === 'unreturned' ? leftOf(seen) : ZERO;

/**
 * Returns the incoming payment after the return. Any excess over the amount owed to the payer left the provider twice. It is a claim, like
 * a return that was confirmed late.
 */
export const evolveOutside = (
  seen: IncomingPaymentRecord,
  { id, amount, owner, at }: TransactionReturnedOutside['data'],
): IncomingPaymentRecord => {
  const owed = owner === 'merchant' ? amount : owedToPayer(seen);
  const paid = least(amount, owed);
  const outside = [...(seen.outside ?? []), { id, amount: paid }];
  const isDone = owner === 'payer' && owed > 0 && paid === owed;
  const excess = subtract(amount, paid);
  const late = [...(seen.late ?? []), { id, amount: excess, at, isWrittenOff: false }];
  return { ...seen, outside, lastMovedAt: at, ...(isDone && { outcome: 'returned' }), ...(excess > 0 && { late }) };
};

/** Returns the dispute after the return. It changes only if the money was the merchant's. */
export const disputeAfterReturn = (
  dispute: DisputeRecord | null,
  { owner, amount, fromHold }: TransactionReturnedOutside['data'],
): DisputeRecord | null => {
  if (dispute === null || owner === 'payer') return dispute;
  return { ...dispute, amount: subtract(dispute.amount, fromHold), outside: add(dispute.outside ?? ZERO, amount) };
};
