// Records returns that Quita did not request (rules V9, V10).
import type { Decision } from '../kernel/decider.ts';
import type { MedCaseId } from '../kernel/ids.ts';
import { least, type Minor, most, subtract, ZERO } from '../kernel/money.ts';
import type { Timestamp } from '../kernel/time.ts';
import { isDisputed } from '../transaction/disputes.ts';
import type { ReturnNature } from '../transaction/returnedOutside.ts';
import { assertExists, type PaymentEvent, type PaymentState } from './payment.ts';

export interface OutsideReturn {
  readonly providerPaymentId: string;
  readonly id: string;
  readonly returnId: string | null;
  readonly nature: ReturnNature;
  readonly amount: Minor;
}

/** The latest dispute case of a payment, as its stream shows it. */
export interface CaseReturns {
  readonly caseId: MedCaseId;
  readonly revision: number;
  /** Sum of the returns that the banks made. */
  readonly returned: Minor;
}

/**
 * Records a return that the provider made without Quita's request. If the payment was credited, the merchant bears it, even if its balance
 * becomes negative (M3); otherwise less is owed to the payer. It reduces the hold of an open dispute first. After a lost dispute, it counts
 * as the part that the banks have not returned yet: somebody carried out the ruling in the bank's own app. If the banks return it as well,
 * the merchant pays the return then (`recordCaseStep`). A ruling's amount that was posted before is not posted again. No-op if it is
 * recorded, or if the payment never recorded the Pix. Replies `changed` if `latest` is older than the payment's state.
 */
export const recordReturnedOutside =
  (
    made: OutsideReturn,
    latest: CaseReturns | null,
    at: Timestamp,
  ): Decision<PaymentState, PaymentEvent, 'recorded' | 'nothing' | 'changed'> =>
  (state) => {
    const { charge, transaction } = assertExists(state);
    const seen = transaction.incomingPayments.find((one) => one.providerPaymentId === made.providerPaymentId);
    if (seen === undefined || seen.outside?.some(({ id }) => id === made.id)) return { events: [], reply: 'nothing' };
    const { providerPaymentId, id, returnId, nature, amount } = made;
    const isCredited = seen.outcome === 'settled';
    const dispute = isCredited && transaction.status === 'settled' ? transaction.dispute : null;
    if (dispute !== null && (latest?.caseId !== dispute.caseId || latest.revision < dispute.revision))
      return { events: [], reply: 'changed' };
    const isLost = isDisputed(dispute) && (dispute.moneyOutcome !== null || dispute.settling === 'lost');
    const fromHold = isDisputed(dispute) && !isLost ? least(amount, dispute.amount) : ZERO;
    const owner = isCredited ? 'merchant' : 'payer';
    const { currency } = charge.terms;
    const data = { providerPaymentId, id, returnId, nature, owner, fromHold, amount, currency, at } as const;
    const events: PaymentEvent[] = [{ type: 'TransactionReturnedOutside', data }];
    if (dispute !== null && latest !== null) {
      const { caseId, amount: lost, returnedToPayer } = dispute;
      const counted = isLost ? least(amount, most(subtract(lost, latest.returned), ZERO)) : ZERO;
      const posted = least(amount, most(subtract(returnedToPayer, latest.returned), ZERO));
      if (counted > 0 || posted > 0)
        events.push({
          type: 'TransactionDisputeReturnCounted',
          data: { caseId, amount: counted, posted, currency, at },
        });
    }
    return { events, reply: 'recorded' };
  };
