// Reads a payment's status from its provider (contract.md, GET /v1/payments/{id}/provider-status).

import type { PaymentMethod } from '../../domain/charge/methods.ts';
import type { Json } from '../../domain/kernel/json.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import type { Accounts } from '../core/accounts.ts';
import { type PaymentProviders, ProviderUnavailable } from '../ports/paymentProvider.ts';
import type { ProviderConnections } from '../ports/providerConnections.ts';
import { instrumentRequest } from './issueInstruments.ts';

interface Needs {
  readonly accounts: Accounts;
  readonly providers: PaymentProviders;
  readonly providerConnections: Pick<ProviderConnections, 'statusOf'>;
}

interface ProviderView {
  readonly provider: string;
  /** The txid for Pix, the acquirer's reference for other methods. */
  readonly providerTransactionId: string;
  /** null: the provider has no such instrument. */
  readonly providerStatus: string | null;
  /** Without those who paid. null: the provider has no such instrument, or the payment's personal data was erased. */
  readonly rawResponse: Json;
}

/**
 * Returns the provider's status of the instrument that was paid, or else of the first one issued. Returns null if no instrument was ever
 * issued. Throws ProviderUnavailable if the provider gives no answer, or if its connection was removed.
 */
export const providerStatus =
  ({ accounts, providers, providerConnections }: Needs) =>
  async (payment: ExistingPayment): Promise<ProviderView | null> => {
    const bound = boundOf(payment);
    if (bound === null) return null;
    const { terms, erasedAt } = payment.charge;
    const account = await accounts.get(terms.accountId);
    const request = {
      ...instrumentRequest(terms, bound.method, account, terms.createdAt),
      expiresAt: bound.expiresAt,
    };
    const provider = await providers.of(terms);
    const { connectionId } = terms;
    if (provider === null && connectionId !== null && (await providerConnections.statusOf(connectionId)) === 'removed')
      throw new ProviderUnavailable('The connection to the payment provider was removed.');
    const answer = await provider?.statusOf(request);
    if (answer?.kind !== 'known') throw new ProviderUnavailable('The payment provider did not answer.');
    return {
      provider: bound.provider,
      providerTransactionId: bound.reference,
      providerStatus: answer.value?.status ?? null,
      // The provider doesn't erase its own records.
      rawResponse: (erasedAt === undefined ? answer.value?.raw : null) ?? null,
    };
  };

interface Bound {
  readonly method: PaymentMethod;
  readonly provider: string;
  readonly reference: string;
  readonly expiresAt: Timestamp;
}

const boundOf = ({ charge: { instruments, terms }, transaction }: ExistingPayment): Bound | null => {
  const { pix, acquirerInstruments } = instruments;
  const all: readonly Bound[] = [
    ...(pix === null ? [] : [{ ...pix, method: 'PIX' as const, reference: pix.txid }]),
    ...acquirerInstruments,
  ];
  const paidWith = transaction.status === 'settled' ? transaction.settlement.method : null;
  const order = paidWith === null ? terms.methods : [paidWith, ...terms.methods];
  return order.flatMap((method) => all.find((one) => one.method === method) ?? [])[0] ?? null;
};
