// A charge nobody paid in time expires; the provider is asked first, because it may know better (M4).
import { instrumentExpiry, lastExpiry } from '../../domain/charge/instruments.ts';
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import { streamName } from '../../domain/kernel/event.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { expire } from '../../domain/payment/lifecycle.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { PAYMENT } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { byProcess } from '../core/eventMetadata.ts';
import { isOf } from '../ports/loggedEvent.ts';
import type { ProcessManager } from '../ports/processManager.ts';
import type { Settler } from './settle.ts';

export const expiry: ProcessManager = {
  name: 'expiry',
  categories: ['payment'],
  react: (logged) => {
    if (!isOf(logged, 'payment')) return [];
    const { account, mode, subject: key, event } = logged;
    switch (event.type) {
      case 'ChargePixIssued': {
        const dueAt = event.data.expiresAt;
        return [{ kind: 'timer', timer: { account, mode, kind: 'expire', key, group: null, dueAt } }];
      }
      case 'ChargeInstrumentIssued': {
        const { method, expiresAt: dueAt } = event.data.instrument;
        const timer = { account, mode, kind: 'expire', key: `${key}:${method}`, group: null, dueAt } as const;
        return [{ kind: 'timer', timer }];
      }
      case 'ChargeCancelled':
      case 'TransactionSettled':
      case 'TransactionHeld':
        return [{ kind: 'clearTimer', timer: { kind: 'expire', key } }];
      case 'TransactionPaymentRejected':
        return event.data.reason === 'payer_mismatch' ? [{ kind: 'clearTimer', timer: { kind: 'expire', key } }] : [];
      default:
        return [];
    }
  },
};

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly settler: Settler;
}

/**
 * Handler of one item of the queue `expire`: a payment id, `:` and a method after it for methods other than Pix. `dueAt`: the instant of
 * its timer, where it is known. Throws UnknownAtProvider: the charge stays pending and is asked for again.
 */
export const expireCharge =
  ({ commands, accounts, settler }: Needs) =>
  async (item: string, dueAt?: Timestamp): Promise<void> => {
    const [paymentId, method = 'PIX'] = item.split(':') as [PaymentId, PaymentMethod?];
    const stream = streamName.payment(paymentId);
    const { state } = await commands.load(PAYMENT, stream);
    const isUnpaid = state.transaction.status === 'none' || state.transaction.status === 'processing';
    if (state.charge.status !== 'open' || !isUnpaid) return;
    const { terms, instruments } = state.charge;
    const expiresAt = lastExpiry(instruments);
    if (expiresAt === null || (dueAt !== undefined && dueAt < expiresAt)) return; // the last one has a timer of its own (I8a)
    // That an instrument's timer is due says nothing of a later instrument: then only the time that it is here counts.
    const isOfLast = instrumentExpiry(instruments, method) === expiresAt;
    const { accountId, mode } = terms;
    const now = await (isOfLast ? accounts.actingAt(accountId, mode, expiresAt) : accounts.now(accountId, mode));
    if (now < expiresAt) return; // another method can still be paid with
    await settler.settleAll(terms);
    await commands.record(PAYMENT, stream, expire(now), byProcess('expiry', terms, terms.paymentId, terms.paymentId));
  };
