// Takes up what the provider reports of a payment's disputes. A notification only starts this: the reports are read from the provider.
import { openCase, ruleCase } from '../../domain/dispute/decisions.ts';
import { streamName } from '../../domain/kernel/event.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { addMillis, DAY_MS, type Timestamp } from '../../domain/kernel/time.ts';
import { openDispute } from '../../domain/payment/dispute.ts';
import { assertExists, type ExistingPayment } from '../../domain/payment/payment.ts';
import type { Accounts } from '../core/accounts.ts';
import { MED_CASE, PAYMENT } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { medCaseIdOf } from '../core/derivedIds.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import type { PaymentProviders, ProviderCase } from '../ports/paymentProvider.ts';
import { UnknownAtProvider } from '../ports/paymentProvider.ts';
import { announcesOutcomes } from './announcements.ts';
import { tellPaymentOf } from './tellPayment.ts';

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly providers: PaymentProviders;
}

/** How long the merchant has to answer where the provider says nothing of it (Q2). */
const RESPONSE_MS = 3 * DAY_MS;

export const deadlineOf = ({ responseDeadline, openedAt }: ProviderCase): Timestamp | null => {
  if (responseDeadline === 'unknown') return null;
  return responseDeadline ?? addMillis(openedAt, RESPONSE_MS);
};

/**
 * Idempotent. A report that can't be taken, or not yet, changes nothing: it is looked at again with the next one. Throws UnknownAtProvider.
 */
export const takeProviderCases =
  (needs: Needs) =>
  async (paymentId: PaymentId): Promise<void> => {
    const { commands, providers } = needs;
    const { terms } = assertExists((await commands.loadRecent(PAYMENT, streamName.payment(paymentId))).state).charge;
    const cases = await providers.of(terms.mode)?.casesOf(terms, terms.txid);
    if (cases?.kind !== 'known') throw new UnknownAtProvider(`disputes of ${paymentId}`);
    for (const reported of cases.value) await takeCase(needs, terms, reported);
  };

const takeCase = async (
  { commands, accounts }: Needs,
  terms: ExistingPayment['charge']['terms'],
  reported: ProviderCase,
): Promise<void> => {
  const { paymentId, accountId, mode } = terms;
  const { providerCaseId, rulings, amount, type, reason, openedAt } = reported;
  const account = await accounts.get(accountId);
  const caseId = medCaseIdOf(account.idSeed, mode, paymentId, providerCaseId);
  const at = await accounts.now(accountId, mode);
  const metadata = metadataForProcess('providerCases', terms, paymentId, providerCaseId);
  const opened = await commands.execute(
    PAYMENT,
    streamName.payment(paymentId),
    openDispute({ ...reported, caseId }, at),
    metadata,
  );
  if (isRejection(opened)) {
    const { state } = await commands.load(PAYMENT, streamName.payment(paymentId));
    // A dispute that overtook its payment waits for it.
    if (type === 'med' && state.transaction.status === 'none') throw new UnknownAtProvider(`payment ${paymentId}`);
    return;
  }
  const { transaction } = assertExists(opened.state);
  if (transaction.status !== 'settled') return;
  const paid = transaction.settlement.incoming.amount;
  const stream = streamName.medCase(caseId);
  await commands.record(
    MED_CASE,
    stream,
    openCase(
      {
        caseId,
        paymentId,
        accountId,
        mode,
        providerCaseId,
        type,
        amount: amount ?? paid,
        currency: transaction.settlement.currency,
        reason,
        responseDeadline: deadlineOf(reported),
        amountMismatch: amount !== null && amount !== paid,
        openedAt,
      },
      at,
    ),
    metadata,
  );
  for (const ruling of rulings) {
    const ruled = await commands.execute(
      MED_CASE,
      stream,
      ruleCase(ruling, announcesOutcomes(account, mode), at),
      metadata,
    );
    // What follows a ruling under review waits for the end of the review.
    if (isRejection(ruled) && ruled.code === 'case_under_review') break;
  }
  await tellPaymentOf({ commands })({ caseId });
};
