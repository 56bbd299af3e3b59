// What happens when a Pix arrives: the notification is stored, the provider is asked again, the decision falls on the payment.
import { streamName } from '../../domain/kernel/event.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { assertExists } from '../../domain/payment/payment.ts';
import { type SettleOutcome, settleReceipt } from '../../domain/payment/settle.ts';
import type { Receipt } from '../../domain/transaction/transaction.ts';
import type { Accounts } from '../accounts.ts';
import { PAYMENT } from '../aggregates.ts';
import { byProcess } from '../because.ts';
import type { CommandHandler } from '../commandHandler.ts';
import { returnIdOf } from '../ids.ts';
import type { PaymentProviders } from '../ports/paymentProvider.ts';
import type { PixNotifications } from '../ports/pixNotifications.ts';

/** The provider did not say. The job is retried and asks again; nothing was decided. */
export class UnknownAtProvider extends Error {
  override name = 'UnknownAtProvider';
}

export class Settler {
  readonly #commands: CommandHandler;
  readonly #accounts: Accounts;

  constructor(commands: CommandHandler, accounts: Accounts) {
    this.#commands = commands;
    this.#accounts = accounts;
  }

  /** Decides what becomes of a Pix that the provider confirmed. Twice: `duplicate`. */
  async settle(paymentId: PaymentId, receipt: Receipt): Promise<SettleOutcome> {
    const stream = streamName.payment(paymentId);
    const { terms } = assertExists((await this.#commands.loadRecent(PAYMENT, stream)).state).charge;
    const { settings } = await this.#accounts.get(terms.accountId);
    const decide = settleReceipt({
      receipt,
      fees: settings.fees,
      holdDays: settings.holdDays.PIX,
      returnId: returnIdOf(paymentId, receipt.endToEndId),
      at: await this.#accounts.now(terms.accountId, terms.mode),
    });
    const why = byProcess('settlement', terms, paymentId, receipt.endToEndId);
    const outcome = await this.#commands.execute(PAYMENT, stream, decide, why);
    if (isRejection(outcome)) throw new Error(`settlement of ${receipt.endToEndId} refused: ${outcome.message}`);
    return outcome.reply;
  }
}

interface Needs {
  readonly notifications: PixNotifications;
  readonly providers: PaymentProviders;
  readonly settler: Settler;
  /** Brings a charge whose creation was cut off to its end, so that its payment can be judged. */
  readonly resumeCreation: (paymentId: PaymentId) => Promise<void>;
}

/** Handler of one item of the queue `settle`: the id of a stored notification. */
export const settleNotification =
  ({ notifications, providers, settler, resumeCreation }: Needs) =>
  async (item: string): Promise<void> => {
    const notification = await notifications.find(item);
    if (notification === null) return;
    const { paymentId, endToEndId, tenant } = notification;
    const receipt = await providers.forPix(tenant.mode)?.findReceipt(tenant, endToEndId);
    if (receipt?.kind !== 'known') throw new UnknownAtProvider(`Pix ${endToEndId}`);
    if (receipt.value !== null) {
      await resumeCreation(paymentId);
      await settler.settle(paymentId, receipt.value);
    }
    // A notification of a Pix that the provider does not know credits nothing; the row stays for the auditor.
    await notifications.markHandled(item, receipt.value === null ? 'not_confirmed' : 'settled');
  };
