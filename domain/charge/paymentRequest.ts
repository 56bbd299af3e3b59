// What a merchant may ask for when creating a payment: from a body whose types are right to terms, or to all that is wrong with it
// (contract.md Create payment body, rules I4, I5, I11, P1–P3).

import { isEmailAddress } from '../kernel/email.ts';
import type { Json } from '../kernel/json.ts';
import { type Minor, toMinor } from '../kernel/money.ts';
import type { ErrorCode } from '../kernel/rejection.ts';
import { isE164 } from '../methods/phone.ts';
import type { Customer } from './charge.ts';
import { isReturnUrl, keptMetadata, metadataProblems, RETURN_URL_PROBLEM } from './metadata.ts';
import { METHOD_RULES, type PaymentMethod } from './methods.ts';
import type { CodedProblem } from './request.ts';

/** The known fields of the body, types and simple bounds checked (http/api/payments/transactionSchema.ts). */
export interface PaymentBody {
  readonly amount: number;
  readonly currency?: string;
  /** At least one, none twice. */
  readonly paymentMethods: readonly PaymentMethod[];
  readonly customerId?: string;
  readonly customerName?: string;
  readonly customerDocument?: string;
  readonly customerEmail?: string;
  readonly metadata?: { readonly [key: string]: Json };
  readonly webhookUrl?: string;
  readonly idempotencyKey: string;
}

export interface PaymentRequest {
  /** The known fields as sent: what the fingerprint covers (K2). */
  readonly sent: PaymentBody;
  readonly amount: Minor;
  readonly currency: string;
  readonly methods: readonly PaymentMethod[];
  readonly customer: Customer;
  readonly customerId: string | null;
  readonly metadata: { readonly [key: string]: Json };
  readonly webhookUrl: string | null;
}

const CURRENCY_DEFAULT = 'BRL';
/** Writes `USDT, USDC or BTC`. */
const either = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/**
 * Returns the problems beyond types, in the order in which they are reported. Where webhooks may go is judged by their sender (W5). Fields
 * whose types are wrong are absent from `body`, and lead to no problem here.
 */
export const paymentProblems = (body: Partial<PaymentBody>): readonly CodedProblem[] => {
  const { amount = 0, currency = CURRENCY_DEFAULT, paymentMethods = [], customerEmail, metadata } = body;
  const problems: CodedProblem[] = [];
  const report = (code: ErrorCode, param: string, message: string) => problems.push({ code, param, message });
  const amountMax = Math.min(...paymentMethods.map((method) => METHOD_RULES[method].amountMax));
  if (amount > amountMax) report('invalid_amount', 'amount', `must be at most ${amountMax} with these methods`);
  const strangers = paymentMethods.filter((method) => !METHOD_RULES[method].currencies.includes(currency));
  if (strangers.length > 0) {
    const choices = strangers.map(
      (method) => `${method} can be paid in ${either.format(METHOD_RULES[method].currencies)}`,
    );
    report('invalid_currency', 'currency', `does not fit: ${choices.join('; ')}`);
  }
  if (customerEmail !== undefined && !isEmailAddress(customerEmail))
    report('invalid_customer', 'customerEmail', 'must be an e-mail address (RFC 5322)');
  const { returnUrl, phone } = metadata ?? {};
  if (returnUrl !== undefined && !isReturnUrl(returnUrl)) problems.push(RETURN_URL_PROBLEM);
  if (paymentMethods.includes('MBWAY') && (typeof phone !== 'string' || !isE164(phone)))
    report('invalid_metadata', 'metadata.phone', 'must be a phone number in E.164, such as +351912345678, for MBWAY');
  for (const { param, message } of metadataProblems(metadata, false)) report('invalid_metadata', param, message);
  return problems;
};

/** Only for a body without problems. */
export const paymentRequest = (body: PaymentBody): PaymentRequest => {
  const { customerName: name = null, customerDocument: document = null, customerEmail: email = null } = body;
  return {
    sent: body,
    amount: toMinor(body.amount),
    currency: body.currency ?? CURRENCY_DEFAULT,
    methods: body.paymentMethods,
    customer: { name, document, email, phone: null },
    customerId: body.customerId ?? null,
    metadata: keptMetadata(body.metadata ?? {}),
    webhookUrl: body.webhookUrl ?? null,
  };
};

/** Rule version of the fingerprint. A field that becomes known later enters under a new version only (K2). */
export const PAYMENT_FINGERPRINT_VERSION = 1;

/** Returns what the fingerprint covers: the known fields as sent, before defaults; undefined where nothing was sent (K2). */
export const paymentFingerprintFields = ({ sent }: PaymentRequest): object => {
  const { amount, currency, paymentMethods, metadata, webhookUrl } = sent;
  const { customerId, customerName, customerDocument, customerEmail } = sent;
  const customer = { customerId, customerName, customerDocument, customerEmail };
  return { amount, currency, paymentMethods, metadata, webhookUrl, ...customer };
};
