// Ids as operators type them.
import { type AccountId, type PaymentId, PREFIX, parseId } from '../../domain/kernel/ids.ts';
import { UsageError } from './command.ts';

/** Raw, or with the prefix of a charge or a transaction. */
export const paymentIdOf = (text: string): PaymentId => {
  const id = parseId<PaymentId>(text, PREFIX.charge, PREFIX.transaction);
  if (id === null) throw new UsageError(`"${text}" is no payment: a ch_ id, a tx_ id or 26 characters`);
  return id;
};

export const accountIdOf = (text: string): AccountId => {
  const id = parseId<AccountId>(text, PREFIX.account);
  if (id === null) throw new UsageError(`"${text}" is no account: an acct_ id`);
  return id;
};
