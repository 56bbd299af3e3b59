// A charge nobody paid in time expires; the provider is asked first, because it may know better (M4).

import Type from 'typebox';
import { instrumentExpiry, lastExpiry } from '../../domain/charge/instruments.ts';
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { expire as decideExpiry } from '../../domain/payment/lifecycle.ts';
import type { Accounts } from '../core/accounts.ts';
import { timedKind } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import { idOf, payloadOf, text } from '../core/payloads.ts';
import { clearTimer, nothing, paymentOf, processManager, reacting, setTimer } from '../core/reactions.ts';
import type { PayloadOf } from '../ports/jobs.ts';
import type { Settler } from './settle.ts';

export const expire = timedKind({
  name: 'expire',
  /** `method`: whose instrument ends; of a Pix it is not said. */
  payload: payloadOf({ paymentId: idOf<PaymentId>(), method: Type.Optional(Type.Unsafe<PaymentMethod>(text)) }),
  subjectOf: ({ paymentId }) => paymentId,
  timer: { keyOf: ({ paymentId, method }) => (method === undefined ? paymentId : `${paymentId} ${method}`) },
});

export const expiry = processManager({
  name: 'expiry',
  movesMoney: true,
  reactions: {
    payment: reacting(PAYMENT.groups, {
      reads: {
        ChargePixIssued: (logged) => [
          setTimer(expire, { paymentId: paymentOf(logged) }, logged, logged.event.data.expiresAt),
        ],
        ChargeInstrumentIssued: (logged) => {
          const { method, expiresAt } = logged.event.data.instrument;
          return [setTimer(expire, { paymentId: paymentOf(logged), method }, logged, expiresAt)];
        },
        ChargeCancelled: (logged) => [clearTimer(expire, { paymentId: paymentOf(logged) })],
        TransactionSettled: (logged) => [clearTimer(expire, { paymentId: paymentOf(logged) })],
        TransactionHeld: (logged) => [clearTimer(expire, { paymentId: paymentOf(logged) })],
        TransactionPaymentRejected: (logged) =>
          logged.event.data.reason === 'payer_mismatch' ? [clearTimer(expire, { paymentId: paymentOf(logged) })] : [],
        ChargeCancelRequested: nothing,
        TransactionHeldRejected: nothing,
      },
      ignores: ['creation', 'end', 'resend', 'attempts', 'release', 'approval', 'returns', 'refund', 'dispute'],
    }),
  },
});

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly settler: Settler;
}

/**
 * Expires a charge whose last instrument has ended, once the provider knows of no payment. `dueAt`: the instant of its timer, where a test
 * clock jumped over it. Throws UnknownAtProvider: the charge stays pending and is asked for again.
 */
export const expireCharge =
  ({ commands, accounts, settler }: Needs) =>
  async ({ paymentId, method = 'PIX' }: PayloadOf<typeof expire>, dueAt?: Timestamp): Promise<void> => {
    const stream = PAYMENT.stream(paymentId);
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
    await commands.record(
      PAYMENT,
      stream,
      decideExpiry(now),
      metadataForProcess('expiry', terms, terms.paymentId, terms.paymentId),
    );
  };
