// What happens when a payment arrives, or an acquirer reports something else: the notification is stored, the provider is asked again,
// the decision falls on the payment.

import type { AccountId, PaymentId } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { assertExists, type ExistingPayment } from '../../domain/payment/payment.ts';
import { type PayerCheck, type SettleOutcome, settleIncomingPayment } from '../../domain/payment/settle.ts';
import { type IncomingPayment, payerTaxId } from '../../domain/transaction/incomingPayment.ts';
import type { Accounts } from '../core/accounts.ts';
import { jobKind, type NotificationWork } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { returnIdOf } from '../core/derivedIds.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import { idOf, mode, payloadOf, text } from '../core/payloads.ts';
import type { PayloadOf } from '../ports/jobs.ts';
import { type PaymentProviders, UnknownAtProvider } from '../ports/paymentProvider.ts';
import type { NotificationKey, ProviderNotification, ProviderNotifications } from '../ports/providerNotifications.ts';
import type { InstrumentIssuer } from './issueInstruments.ts';

interface SettlerNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly providers: PaymentProviders;
}

export class Settler {
  readonly #needs: SettlerNeeds;

  constructor(needs: SettlerNeeds) {
    this.#needs = needs;
  }

  /** Decides what becomes of a payment that the provider confirmed. Twice: `duplicate`. */
  async settle(paymentId: PaymentId, incoming: IncomingPayment): Promise<SettleOutcome> {
    const { commands, accounts } = this.#needs;
    const stream = PAYMENT.stream(paymentId);
    const { terms } = assertExists((await commands.loadRecent(PAYMENT, stream)).state).charge;
    const { fees, holdDays } = (await accounts.get(terms.accountId)).settings;
    const decide = settleIncomingPayment({
      incoming,
      payerCheck: await this.#checkPayer(terms, incoming),
      fees,
      holdDays,
      returnId: returnIdOf(paymentId, incoming.providerPaymentId),
      at: await accounts.now(terms.accountId, terms.mode),
    });
    const metadata = metadataForProcess('settlement', terms, paymentId, incoming.providerPaymentId);
    const outcome = await commands.record(PAYMENT, stream, decide, metadata);
    return outcome.reply;
  }

  /** Decides on every payment that the provider knows of. Throws UnknownAtProvider. */
  async settleAll({ paymentId, txid, accountId, mode }: ExistingPayment['charge']['terms']): Promise<void> {
    const incomingPayments = await this.#needs.providers.of(mode)?.paymentsOf({ accountId, mode }, txid);
    if (incomingPayments?.kind !== 'known') throw new UnknownAtProvider(`payments of ${paymentId}`);
    for (const incoming of incomingPayments.value) await this.settle(paymentId, incoming);
  }

  /** A locked charge needs to know who paid; where the bank does not name the payer, it may still know whether it was the one. */
  async #checkPayer(
    { expectedPayerTaxId, txid, accountId, mode }: ExistingPayment['charge']['terms'],
    incoming: IncomingPayment,
  ): Promise<PayerCheck> {
    if (expectedPayerTaxId === null || payerTaxId(incoming) !== null) return 'unknown';
    const provider = this.#needs.providers.of(mode);
    const { providerPaymentId: endToEndId } = incoming;
    const pix = { txid, endToEndId, expectedTaxId: expectedPayerTaxId };
    return (await provider?.checkPayer({ accountId, mode }, pix)) ?? 'unknown';
  }
}

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

/** Does what the capability of its kind declares with a stored notification. Idempotent. */
export const handleNotification =
  ({ notifications, notificationWork }: Pick<HandlingNeeds, 'notifications' | 'notificationWork'>) =>
  async ({ accountId, mode, reference }: Settlement): Promise<void> => {
    const key = { tenant: { accountId, mode }, reference };
    const notification = await notifications.find(key);
    if (notification === null) return;
    const isKnown = await notificationWork.handle(notification);
    // A notification of a payment that the provider does not know credits nothing; the row stays for the auditor.
    await notifications.markHandled(key, isKnown ? 'settled' : 'not_confirmed');
  };

interface HandlingNeeds {
  readonly notifications: ProviderNotifications;
  readonly notificationWork: NotificationWork;
  readonly providers: PaymentProviders;
  readonly settler: Settler;
  /** Applies what the acquirer reports about the payment besides money. */
  readonly takeFacts: (paymentId: PaymentId) => Promise<void>;
  /** Finds out whether the method (null: each) has an instrument. Throws UnknownAtProvider. */
  readonly issuer: Pick<InstrumentIssuer, 'resumeFor'>;
}

/** Applies what an acquirer reports about its method besides money. Throws UnknownAtProvider. */
export const takeFact =
  ({ takeFacts, issuer }: Pick<HandlingNeeds, 'takeFacts' | 'issuer'>) =>
  async ({ paymentId }: ProviderNotification): Promise<true> => {
    await issuer.resumeFor(paymentId, null);
    await takeFacts(paymentId);
    return true;
  };

/** Settles the payment whose money arrived. Throws UnknownAtProvider. */
export const takePayment =
  ({ providers, settler, takeFacts, issuer, notificationWork }: Omit<HandlingNeeds, 'notifications'>) =>
  async (notification: ProviderNotification): Promise<boolean> => {
    const { tenant, reference, paymentId } = notification;
    const incoming = await providers.of(tenant.mode)?.findPayment(tenant, reference);
    if (incoming?.kind !== 'known') throw new UnknownAtProvider(`payment ${reference}`);
    if (incoming.value === null) return false;
    const { method } = incoming.value;
    await issuer.resumeFor(paymentId, method);
    // Facts from before the money come first: a card was processing before it was approved.
    if (method !== 'PIX') await takeFacts(paymentId);
    await settler.settle(paymentId, incoming.value);
    // A chargeback that overtook its payment found nothing to hold.
    if (method !== 'PIX') await notificationWork.afterMoney(notification);
    return true;
  };
