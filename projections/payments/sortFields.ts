// The fields of a Transaction that the list of payments can be sorted by, and what each is sorted by (contract.md List payments query).
import type { SortField } from '../../application/ports/readModels/payments.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { methodFields } from '../../domain/presentation/transaction.ts';

/** Values of the methods that most payments don't name, kept in one column that is null for a Pix. */
type OtherField = Extract<SortField, `card${string}` | `mb${string}` | `boleto${string}` | `crypto${string}`>;

/** null: the payment has no instrument but Pix. */
export const otherFieldsOf = ({
  charge: { instruments },
}: ExistingPayment): { readonly [F in OtherField]: string | null } | null => {
  if (instruments.acquirerInstruments.length === 0) return null;
  const { pixQrCode: _qr, pixCopyPaste: _code, pixExpiresAt: _expiry, ...others } = methodFields(instruments);
  return others;
};

/** Text sorts by code point. */
const other = (field: OtherField): string => `(other_fields->>'${field}') COLLATE "C"`;

/** SQL over the columns of `rm_payments.listed`; null: the field is null in every list. */
export const SORT_EXPRESSION: { readonly [F in SortField]: string | null } = {
  id: 'id',
  status: 'status',
  amount: 'amount',
  currency: 'currency',
  paymentMethods: 'methods',
  paidWith: 'paid_with',
  customerName: 'customer_name',
  customerDocument: 'customer_document',
  customerEmail: 'customer_email',
  metadata: 'metadata_start',
  pixQrCode: null,
  pixCopyPaste: 'pix_copy_paste',
  pixExpiresAt: 'pix_expires_at',
  cardRedirectUrl: other('cardRedirectUrl'),
  mbEntity: other('mbEntity'),
  mbReference: other('mbReference'),
  mbExpiresAt: other('mbExpiresAt'),
  boletoBarcode: other('boletoBarcode'),
  boletoLine: other('boletoLine'),
  boletoPdfUrl: other('boletoPdfUrl'),
  boletoExpiresAt: other('boletoExpiresAt'),
  cryptoAddress: other('cryptoAddress'),
  cryptoAmount: `(other_fields->>'cryptoAmount')::numeric`,
  cryptoNetwork: other('cryptoNetwork'),
  cryptoCurrency: other('cryptoCurrency'),
  providerFee: 'provider_fee',
  platformFee: 'platform_fee',
  netAmount: 'amount - provider_fee - platform_fee',
  createdAt: 'created_at',
  paidAt: 'paid_at',
};
