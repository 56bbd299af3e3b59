// What an operator decides of what is held (rule M5): let it pass, or send it back. Processes do the rest.
import { streamName } from '../../domain/kernel/event.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { releaseHeld, returnHeld } from '../../domain/payment/held.ts';
import { type ExistingPayment, exists } from '../../domain/payment/payment.ts';
import type { Accounts } from '../core/accounts.ts';
import { PAYMENT } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { returnIdOf } from '../core/derivedIds.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import { NO_PAYMENT } from './ownPayment.ts';

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
}

export type HeldVerdict = 'release' | 'return';
export interface HeldReview {
  readonly payment: ExistingPayment;
  /** False: it had been decided so before. */
  readonly isNew: boolean;
}

/**
 * `by`: who decides. `providerPaymentId`: which of the payment's to return; null: all that wait. The
 * same verdict again: nothing. The other one after it, or nothing held: `invalid_request`; no such payment: `not_found`.
 */
export const reviewHeld =
  ({ commands, accounts }: Needs) =>
  async (
    id: PaymentId,
    verdict: HeldVerdict,
    by: Changer,
    providerPaymentId: string | null = null,
  ): Promise<HeldReview | Rejection> => {
    const stream = streamName.payment(id);
    const { state } = await commands.load(PAYMENT, stream);
    if (!exists(state)) return NO_PAYMENT;
    const { accountId, mode } = state.charge.terms;
    const { settings } = await accounts.get(accountId);
    const at = await accounts.now(accountId, mode);
    const decide =
      verdict === 'release'
        ? releaseHeld(settings, by.actor, at)
        : returnHeld(
            { returnIdOf: (pix, refusals) => returnIdOf(id, pix, refusals), providerPaymentId, by: by.actor },
            at,
          );
    const metadata = { ...metadataForChange(by, accountId, id), mode };
    const done = await commands.execute(PAYMENT, stream, decide, metadata);
    if (isRejection(done)) return done;
    return { payment: done.state as ExistingPayment, isNew: done.appended > 0 };
  };
