// The sandbox's instruments: realistic, with valid codes and check digits (rule P3). They depend only on the request, so the same request
// always gives the same instrument, and the sandbox need not store them.

import { createHash } from 'node:crypto';
import type { InstrumentRequest, SandboxTerms } from '../../../application/ports/paymentProvider.ts';
import type { AcquirerInstrument } from '../../../domain/charge/instruments.ts';
import { CURRENCY_DECIMALS, METHOD_RULES } from '../../../domain/charge/methods.ts';
import { saoPauloDay } from '../../../domain/kernel/civilDay.ts';
import { encodeRawId } from '../../../domain/kernel/ids.ts';
import { boletoBarcode, lineOfBarcode } from '../../../domain/methods/boleto.ts';
import { cryptoAmount } from '../../../domain/methods/cryptoAmount.ts';
import { multibancoReference } from '../../../domain/methods/multibanco.ts';
import { isE164 } from '../../../domain/methods/phone.ts';
import { cryptoAddress } from './cryptoAddress.ts';

export type AcquirerInstrumentRequest = Pick<
  InstrumentRequest,
  'txid' | 'paymentId' | 'amount' | 'currency' | 'expiresAt'
> &
  Pick<SandboxTerms, 'baseUrl' | 'documentToken' | 'metadata'> & {
    readonly method: AcquirerInstrument['method'];
  };

/** The last codes of their ranges, which no real bank or collector uses. */
const SANDBOX_BANK = '999';
const SANDBOX_ENTITY = '99999';

const digitsOf = (bytes: Uint8Array, count: number): string =>
  (BigInt(`0x${Buffer.from(bytes).toString('hex')}`) % 10n ** BigInt(count)).toString().padStart(count, '0');

/**
 * Returns the instrument of one method, always the same for the same request. Throws RangeError for values that a validated request never
 * holds: an unsupported currency (P1), an amount too large for a boleto or Multibanco reference (I4), MBWAY without a phone number (P2).
 */
export const sandboxAcquirerInstrument = (request: AcquirerInstrumentRequest): AcquirerInstrument => {
  const { method, txid, currency, expiresAt } = request;
  if (!METHOD_RULES[method].currencies.includes(currency)) throw new RangeError(`${method} is not paid in ${currency}`);
  const bytes = createHash('sha256')
    .update(txid + method)
    .digest();
  const common = { provider: 'sandbox', reference: `sbx_${encodeRawId(bytes.subarray(0, 16))}`, expiresAt };
  switch (method) {
    case 'CREDIT_CARD':
      return { ...common, method, redirectUrl: `${request.baseUrl}/pay/${request.paymentId}/card` };
    case 'MBWAY':
      return { ...common, method, phone: phoneOf(request) };
    case 'MULTIBANCO':
      return { ...common, method, ...multibancoOf(request, bytes) };
    case 'BOLETO':
      return { ...common, method, ...boletoOf(request, bytes) };
    case 'CRYPTO':
      return { ...common, method, ...cryptoOf(request, bytes) };
    default:
      return method satisfies never;
  }
};

const phoneOf = ({ metadata }: AcquirerInstrumentRequest): string => {
  const phone = metadata['phone'];
  if (typeof phone !== 'string' || !isE164(phone)) throw new RangeError('MBWAY without a phone number in E.164');
  return phone;
};

const multibancoOf = ({ amount }: AcquirerInstrumentRequest, bytes: Uint8Array) => ({
  entity: SANDBOX_ENTITY,
  mbReference: multibancoReference({ entity: SANDBOX_ENTITY, subEntityAndNumber: digitsOf(bytes, 7), amount }),
});

const boletoOf = (request: AcquirerInstrumentRequest, bytes: Uint8Array) => {
  const { amount, expiresAt, baseUrl, paymentId, documentToken } = request;
  const dueDate = saoPauloDay(expiresAt);
  const barcode = boletoBarcode({ bank: SANDBOX_BANK, dueDate, amount, freeField: digitsOf(bytes, 25) });
  return {
    barcode,
    line: lineOfBarcode(barcode),
    pdfUrl: `${baseUrl}/pay/${paymentId}/boleto.pdf?token=${documentToken}`,
  };
};

const cryptoOf = ({ amount, currency }: AcquirerInstrumentRequest, bytes: Uint8Array) => ({
  ...cryptoAddress(currency, bytes),
  amount: cryptoAmount(amount, CURRENCY_DECIMALS[currency]!),
  currency,
});
