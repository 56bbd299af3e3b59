// Handles stored notifications about payments and other acquirer reports. The facts are read from the provider again before the payment
// decides.

import type { AccountId, PaymentId } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { assertExists, type ExistingPayment } from '../../domain/payment/payment.ts';
import { type PayerCheck, type SettleOutcome, settleIncomingPayment } from '../../domain/payment/settle.ts';
import { type IncomingPayment, payerTaxId } from '../../domain/transaction/incomingPayment.ts';
import { idOf, jobKind, mode, type NotificationWork, payloadOf, text } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { returnIdOf } from '../core/derivedIds.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { takeReturns } from '../disputes/takeReturns.ts';
import type { PayloadOf } from '../ports/jobs.ts';
import {
  type PaymentProvider,
  type PaymentProviders,
  type ReceivedPayment,
  UnknownAtProvider,
} from '../ports/paymentProvider.ts';
import type { NotificationKey, ProviderNotification, ProviderNotifications } from '../ports/providerNotifications.ts';
import type { InstrumentIssuer } from './issueInstruments.ts';

interface SettlerNeeds extends UseCaseNeeds {
  readonly providers: PaymentProviders;
}

export class Settler {
  readonly #needs: SettlerNeeds;

  constructor(needs: SettlerNeeds) {
    this.#needs = needs;
  }

  /**
   * Applies a payment that the provider confirmed and returns the outcome: `duplicate` if it was applied before, to this or another payment
   * of the connection. Throws UnknownAtProvider if the provider can't compare the payer now.
   */
  async settle(
    paymentId: PaymentId,
    { incoming, isPlain }: Pick<ReceivedPayment, 'incoming' | 'isPlain'>,
  ): Promise<SettleOutcome> {
    const { commands, accounts } = this.#needs;
    const stream = PAYMENT.stream(paymentId);
    const { terms } = assertExists((await commands.loadRecent(PAYMENT, stream)).state).charge;
    const provider = await this.#needs.providers.of(terms);
    if (provider === null) throw new UnknownAtProvider(`payment ${incoming.providerPaymentId}`);
    if (!(await provider.claim(incoming.providerPaymentId, paymentId))) return 'duplicate';
    const { fees, holdDays } = (await accounts.get(terms.accountId)).settings;
    const decide = settleIncomingPayment({
      incoming,
      isPlain,
      payerCheck: await checkPayer(provider, terms, incoming),
      fees,
      holdDays,
      returnId: returnIdOf(paymentId, incoming.providerPaymentId),
      at: await accounts.now(terms.accountId, terms.mode),
    });
    const metadata = metadataForProcess('settlement', terms, paymentId, incoming.providerPaymentId);
    const outcome = await commands.record(PAYMENT, stream, decide, metadata);
    return outcome.reply;
  }

  /** Applies every payment that the provider knows of. Throws UnknownAtProvider if it gives no answer. */
  async settleAll(terms: ExistingPayment['charge']['terms']): Promise<void> {
    const { paymentId, txid } = terms;
    const received = await (await this.#needs.providers.of(terms))?.paymentsOf(terms, txid);
    if (received?.kind !== 'known') throw new UnknownAtProvider(`payments of ${paymentId}`);
    for (const one of received.value) await this.settle(paymentId, one);
  }
}

/** Asks the bank to compare the payer with the expected one, if the charge is locked to a payer and the bank did not name the payer. */
const checkPayer = async (
  provider: PaymentProvider,
  terms: ExistingPayment['charge']['terms'],
  incoming: IncomingPayment,
): Promise<PayerCheck> => {
  const { expectedPayerTaxId: expectedTaxId, txid } = terms;
  if (expectedTaxId === null || payerTaxId(incoming) !== null) return 'unknown';
  const { providerPaymentId: endToEndId, paidAt } = incoming;
  const checked = await provider.checkPayer(terms, { txid, endToEndId, paidAt, expectedTaxId });
  // Without an answer, the check is repeated. Only a provider that can't tell leaves the payment to an operator.
  if (checked.kind !== 'known') throw new UnknownAtProvider(`payer of Pix ${endToEndId}`);
  return checked.value;
};

export const settle = jobKind({
  name: 'settle',
  payload: payloadOf({ accountId: idOf<AccountId>(), mode, reference: text }),
  subjectOf: ({ accountId, mode, reference }) => `${mode}/${accountId}/${reference}`,
});
type Settlement = PayloadOf<typeof settle>;

export const settlementOf = ({ tenant: { accountId, mode }, reference }: NotificationKey) => ({
  tenant: { accountId, mode },
  payload: { accountId, mode, reference },
});

/** Handles a stored notification as the capability declares for its kind. Idempotent. */
export const handleNotification =
  ({ notifications, notificationWork }: Pick<HandlingNeeds, 'notifications' | 'notificationWork'>) =>
  async ({ accountId, mode, reference }: Settlement): Promise<void> => {
    const key = { tenant: { accountId, mode }, reference };
    const notification = await notifications.find(key);
    if (notification === null) return;
    const isKnown = await notificationWork.handle(notification);
    // If the provider does not know the payment, nothing is credited. The row stays for auditors.
    await notifications.markHandled(key, isKnown ? 'settled' : 'not_confirmed');
  };

interface HandlingNeeds {
  readonly commands: CommandHandler;
  readonly notifications: ProviderNotifications;
  readonly notificationWork: NotificationWork;
  readonly providers: PaymentProviders;
  readonly settler: Settler;
  /** Applies the acquirer's reports about the payment that don't concern money. */
  readonly takeFacts: (paymentId: PaymentId) => Promise<void>;
  /** Records whether the method (null: every method) has an instrument. Throws UnknownAtProvider. */
  readonly issuer: Pick<InstrumentIssuer, 'resumeFor'>;
  /** Records the returns of the payment that Quita did not request. Throws UnknownAtProvider. */
  readonly takeReturns: ReturnType<typeof takeReturns>;
}

/** Applies an acquirer's report that does not concern money. Throws UnknownAtProvider if the provider gives no answer. */
export const takeFact =
  ({ takeFacts, issuer }: Pick<HandlingNeeds, 'takeFacts' | 'issuer'>) =>
  async ({ paymentId }: ProviderNotification): Promise<true> => {
    await issuer.resumeFor(paymentId, null);
    await takeFacts(paymentId);
    return true;
  };

/** Returns the payment's terms. A charge without a code may have moved to another connection since it was cached (V7). */
const termsOf = async (commands: CommandHandler, paymentId: PaymentId): Promise<ExistingPayment['charge']['terms']> => {
  const stream = PAYMENT.stream(paymentId);
  const { charge } = assertExists((await commands.loadRecent(PAYMENT, stream)).state);
  return charge.status === 'requested'
    ? assertExists((await commands.load(PAYMENT, stream)).state).charge.terms
    : charge.terms;
};

/**
 * Settles the payment that a notification reports. Returns false if the provider does not know it, or received it for another charge: only
 * the provider's own record counts. Throws UnknownAtProvider.
 */
export const takePayment =
  ({
    commands,
    providers,
    settler,
    takeFacts,
    takeReturns: takeAll,
    issuer,
    notificationWork,
  }: Omit<HandlingNeeds, 'notifications'>) =>
  async (notification: ProviderNotification): Promise<boolean> => {
    const { tenant, reference, paymentId } = notification;
    const terms = await termsOf(commands, paymentId);
    const received = await (await providers.of(terms))?.findPayment(tenant, reference);
    if (received?.kind !== 'known') throw new UnknownAtProvider(`payment ${reference}`);
    if (received.value?.txid !== terms.txid) return false;
    const { method } = received.value.incoming;
    await issuer.resumeFor(paymentId, method);
    // Earlier facts are applied before the money: a card payment was processing before it was approved.
    if (method !== 'PIX') await takeFacts(paymentId);
    await settler.settle(paymentId, received.value);
    await takeAll({ paymentId }, received.value);
    // A chargeback that arrived before its payment could hold nothing, so it is handled again now.
    if (method !== 'PIX') await notificationWork.afterMoney(notification);
    return true;
  };
