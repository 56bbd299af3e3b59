// Ids and streams as operators type them.

import { ACCOUNT } from '../../domain/account/account.ts';
import { parseStreamName } from '../../domain/aggregates.ts';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import type { StreamName } from '../../domain/kernel/event.ts';
import { type AccountId, type MedCaseId, type PaymentId, PREFIX, parseId } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { UsageError } from './command.ts';

/** Takes it raw, or with the prefix of a charge or a transaction. Throws UsageError. */
export const paymentIdOf = (text: string): PaymentId => {
  const id = parseId<PaymentId>(text, PREFIX.charge, PAYMENT.idPrefix);
  if (id === null) throw new UsageError(`"${text}" is no payment: a ch_ id, a tx_ id or 26 characters`);
  return id;
};

/** Throws UsageError. */
export const caseIdOf = (text: string): MedCaseId => {
  const id = parseId<MedCaseId>(text, MED_CASE.idPrefix);
  if (id === null) throw new UsageError(`"${text}" is no dispute case: a med_ id`);
  return id;
};

/** Throws UsageError. */
export const accountIdOf = (text: string): AccountId => {
  const id = parseId<AccountId>(text, ACCOUNT.idPrefix);
  if (id === null) throw new UsageError(`"${text}" is no account: an acct_ id`);
  return id;
};

/** Takes `payment-<raw>`, an id with or without its prefix of a payment, or `logConsumer-<name>`. Throws UsageError. */
export const streamOf = (text: string): StreamName => {
  const stream = parseStreamName(text);
  if (stream === null) throw new UsageError(`"${text}" names no stream: payment-<raw id>, or a ch_ id`);
  return stream;
};
