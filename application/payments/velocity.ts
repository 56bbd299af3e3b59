// The fraud guard of live charges (rule E6): after idempotency, before the provider is reached.
import type { OpenAccount } from '../../domain/account/account.ts';
import type { ChargeTerms } from '../../domain/charge/charge.ts';
import { streamName } from '../../domain/kernel/event.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { exists } from '../../domain/payment/payment.ts';
import { documentKeyOf } from '../../domain/pix/taxId.ts';
import { PAYMENT } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { VelocityGuard } from '../ports/velocityGuard.ts';

interface Needs {
  readonly commands: CommandHandler;
  readonly velocity: VelocityGuard;
}

/**
 * null: the charge may be made, and is counted; test charges are not. A replay, and what a crash cut off, always passes.
 * `fraud.customer_velocity_exceeded` before `fraud.account_velocity_exceeded`: nothing is written, the key is not burnt.
 */
export const velocityRefusal = async (
  { commands, velocity }: Needs,
  { settings }: Pick<OpenAccount, 'settings'>,
  { paymentId, accountId, mode, customer, createdAt }: ChargeTerms,
): Promise<Rejection | null> => {
  if (mode !== 'live') return null;
  const before = await commands.load(PAYMENT, streamName.payment(paymentId));
  if (exists(before.state)) return null;
  const outcome = await velocity.reserve({
    paymentId,
    accountId,
    customer: documentKeyOf(customer.document ?? ''),
    at: createdAt,
    ...settings.velocity,
  });
  if (outcome === 'customer')
    return reject('fraud.customer_velocity_exceeded', 'Too many charges of this customer within an hour.');
  return outcome === 'account'
    ? reject('fraud.account_velocity_exceeded', 'Too many charges of this account within an hour.')
    : null;
};
