// Parses ids and stream names that operators type.

import { ACCOUNT } from '../../domain/account/account.ts';
import { parseStreamName } from '../../domain/aggregates.ts';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import type { StreamName } from '../../domain/kernel/event.ts';
import { type AccountId, type MedCaseId, type PaymentId, PREFIX, parseId } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { UsageError } from './command.ts';

/** Accepts a raw id, or one with the prefix of a charge or a transaction. Throws UsageError otherwise. */
export const paymentIdOf = (text: string): PaymentId => {
  const id = parseId<PaymentId>(text, PREFIX.charge, PAYMENT.idPrefix);
  if (id === null)
    throw new UsageError(`"${text}" is not a payment id: use a ch_ id, a tx_ id or the 26 characters alone`);
  return id;
};

/** Returns the id of a dispute case. Throws UsageError if the text is not one. */
export const caseIdOf = (text: string): MedCaseId => {
  const id = parseId<MedCaseId>(text, MED_CASE.idPrefix);
  if (id === null) throw new UsageError(`"${text}" is not a dispute case id (med_…)`);
  return id;
};

/** Returns the id of an account. Throws UsageError if the text is not one. */
export const accountIdOf = (text: string): AccountId => {
  const id = parseId<AccountId>(text, ACCOUNT.idPrefix);
  if (id === null) throw new UsageError(`"${text}" is not an account id (acct_…)`);
  return id;
};

/** Accepts `payment-<raw>`, a payment's id with or without prefix, or `logConsumer-<name>`. Throws UsageError otherwise. */
export const streamOf = (text: string): StreamName => {
  const stream = parseStreamName(text);
  if (stream === null) throw new UsageError(`"${text}" is not a stream: use payment-<raw id> or a ch_ id`);
  return stream;
};
