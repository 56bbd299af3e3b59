// Blanks personal data in operational tables and in the sandbox bank's books (rule L2). This list names every such column outside the event
// log and the read models. Raw notifications are sealed with the key of their payment, so destroying the key erases them.
import type { ErasedOwner, PersonalRecords } from '../../application/ports/personalData.ts';
import { ERASED } from '../../domain/kernel/serde.ts';

interface Blanking {
  readonly text: string;
  readonly values: (owner: ErasedOwner) => readonly unknown[];
}

/** An operator's reason may name the person, although it should not. */
const findingsReason = (isOfOwner: string): string =>
  `UPDATE operations.reconciliation_findings SET reason = '${ERASED}' WHERE reason IS NOT NULL AND (${isOfOwner})`;

const OF_PAYMENT: readonly Blanking[] = [
  {
    text: 'UPDATE operations.velocity_reservations SET customer = NULL WHERE payment_id = $1 AND customer IS NOT NULL',
    values: ({ paymentId }) => [paymentId],
  },
  {
    text: `UPDATE sandbox_bank.payments SET payer_name = NULL, payer_document = NULL
      WHERE account_id = $1 AND txid = $2 AND (payer_name IS NOT NULL OR payer_document IS NOT NULL)`,
    values: ({ accountId, txid }) => [accountId, txid],
  },
  {
    text: `UPDATE sandbox_bank.cases SET reason = NULL, payer_name = NULL, payer_document = NULL WHERE account_id = $1 AND txid = $2`,
    values: ({ accountId, txid }) => [accountId, txid],
  },
  {
    text: `UPDATE sandbox_bank.refunds SET destination = NULL, reason = NULL WHERE account_id = $1 AND refund_id = ANY($2::text[])`,
    values: ({ accountId, refundIds }) => [accountId, refundIds],
  },
  {
    text: 'UPDATE sandbox_bank.facts SET reason = NULL WHERE account_id = $1 AND txid = $2 AND reason IS NOT NULL',
    values: ({ accountId, txid }) => [accountId, txid],
  },
  {
    text: `UPDATE operations.evidence_grants SET file_name = '${ERASED}' WHERE case_id = ANY($1::text[])`,
    values: ({ caseIds }) => [caseIds],
  },
  {
    // A Pix-out that we didn't record names no payment, only the refund.
    text: findingsReason("payment_id = $1 OR txid = $2 OR (moved = 'paid_out' AND reference = ANY($3::text[]))"),
    values: ({ paymentId, txid, refundIds }) => [paymentId, txid, refundIds],
  },
];

const OF_PAYOUT: readonly Blanking[] = [
  {
    text: `UPDATE sandbox_bank.payouts SET destination = '${ERASED}', reason = NULL WHERE account_id = $1 AND payout_id = $2`,
    values: ({ accountId, payoutId }) => [accountId, payoutId],
  },
  {
    text: findingsReason("moved = 'paid_out' AND reference = $1"),
    values: ({ payoutId }) => [payoutId],
  },
];

export const personalRecords: PersonalRecords = {
  erase: async (owner, tx) => {
    for (const { text, values } of owner.paymentId === null ? OF_PAYOUT : OF_PAYMENT)
      await tx.query(text, values(owner));
  },
};
