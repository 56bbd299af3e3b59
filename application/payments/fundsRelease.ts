// Makes settled money available when its hold period ends (M2).

import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { releaseFunds as decideRelease } from '../../domain/payment/lifecycle.ts';
import { ofPayment, timedKind } from '../core/capability.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import { paymentOf, processManager, reacting, setTimer } from '../core/reactions.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { PayloadOf } from '../ports/jobs.ts';

export const releaseFunds = timedKind({ name: 'releaseFunds', ...ofPayment });

export const fundsRelease = processManager({
  name: 'fundsRelease',
  movesMoney: true,
  from: 'beginning',
  reactions: {
    payment: reacting(PAYMENT.groups, {
      reads: {
        TransactionSettled: (logged) => {
          const { availableAt } = logged.event.data;
          return availableAt === null
            ? []
            : [setTimer(releaseFunds, { paymentId: paymentOf(logged) }, logged, availableAt)];
        },
      },
      ignores: ['demand', 'methods', 'release', 'held', 'returns', 'refund', 'dispute', 'erasure'],
    }),
  },
});

/** Releases the funds of a settled payment whose hold period is over. */
export const release =
  ({ commands, accounts }: UseCaseNeeds) =>
  async ({ paymentId }: PayloadOf<typeof releaseFunds>): Promise<void> => {
    const stream = PAYMENT.stream(paymentId);
    const { state } = await commands.load(PAYMENT, stream);
    if (state.charge.status === 'absent' || state.transaction.status !== 'settled') return;
    const { terms } = state.charge;
    const { availableAt } = state.transaction.settlement;
    if (availableAt === null) return;
    const now = await accounts.actingAt(terms.accountId, terms.mode, availableAt);
    await commands.record(
      PAYMENT,
      stream,
      decideRelease(now),
      metadataForProcess('fundsRelease', terms, paymentId, paymentId),
    );
  };
