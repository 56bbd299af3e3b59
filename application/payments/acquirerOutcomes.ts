// Applies an acquirer's reports about a payment that don't concern money. A notification is only the trigger: the facts are read from the
// provider.
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { recordProcessing, recordRefusal } from '../../domain/payment/acquirerOutcomes.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { assertExists } from '../../domain/payment/payment.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import type { AcquirerFact, PaymentProviders } from '../ports/paymentProvider.ts';
import { UnknownAtProvider } from '../ports/paymentProvider.ts';

/** Applies the acquirer's facts about the payment, in order. Idempotent. Throws UnknownAtProvider if the acquirer gives no answer. */
export const takeAcquirerFacts =
  ({ commands, providers }: { readonly commands: CommandHandler; readonly providers: PaymentProviders }) =>
  async (paymentId: PaymentId): Promise<void> => {
    const stream = PAYMENT.stream(paymentId);
    const { terms } = assertExists((await commands.loadRecent(PAYMENT, stream)).state).charge;
    const provider = await providers.of(terms);
    if (provider !== null && provider.acquirer === null) return;
    const facts = await provider?.acquirer?.factsOf(terms, terms.txid);
    if (facts?.kind !== 'known') throw new UnknownAtProvider(`facts of the acquirer about ${paymentId}`);
    for (const fact of facts.value) {
      const metadata = metadataForProcess('acquirerFacts', terms, paymentId, `${fact.kind} ${fact.method}`);
      await commands.record(PAYMENT, stream, decisionOf(fact), metadata);
    }
  };

const decisionOf = ({ kind, method, reason, at }: AcquirerFact) => {
  switch (kind) {
    case 'processing':
      return recordProcessing(method, at);
    case 'refused':
      return recordRefusal({ method, reason: reason ?? 'declined', providerErrorCode: 'declined' }, at);
    default:
      return kind satisfies never;
  }
};
