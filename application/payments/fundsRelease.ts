// Settled money that is held becomes available when its hold ends (M2).
import { streamName } from '../../domain/kernel/event.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { releaseFunds } from '../../domain/payment/lifecycle.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { PAYMENT } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { byProcess } from '../core/eventMetadata.ts';
import { isOf } from '../ports/loggedEvent.ts';
import type { ProcessManager } from '../ports/processManager.ts';

export const fundsRelease: ProcessManager = {
  name: 'fundsRelease',
  categories: ['payment'],
  react: (logged) => {
    if (!isOf(logged, 'payment') || logged.event.type !== 'TransactionSettled') return [];
    const { account, mode, subject: key } = logged;
    const dueAt = logged.event.data.availableAt;
    return dueAt === null
      ? []
      : [{ kind: 'timer', timer: { account, mode, kind: 'releaseFunds', key, group: null, dueAt } }];
  },
};

/** Handler of one item of the queue `releaseFunds`: a payment id. */
export const release =
  ({ commands, accounts }: { commands: CommandHandler; accounts: Accounts }) =>
  async (item: string): Promise<void> => {
    const stream = streamName.payment(item as PaymentId);
    const { state } = await commands.load(PAYMENT, stream);
    if (state.charge.status === 'absent' || state.transaction.status !== 'settled') return;
    const { terms } = state.charge;
    const { availableAt } = state.transaction.settlement;
    if (availableAt === null) return;
    const now = await accounts.actingAt(terms.accountId, terms.mode, availableAt);
    await commands.record(PAYMENT, stream, releaseFunds(now), byProcess('fundsRelease', terms, item, item));
  };
