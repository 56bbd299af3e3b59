// The texts by which people search for payments: an id, a document, an address or an amount.

import { mayBeEmailAddress } from '../../domain/kernel/email.ts';
import { type PaymentId, PREFIX, parseId } from '../../domain/kernel/ids.ts';
import { AMOUNT_MAX } from '../../domain/kernel/money.ts';
import { isTxid } from '../../domain/pix/ids.ts';
import { documentKeyOf, taxIdOf } from '../../domain/pix/taxId.ts';
import { centavosOf } from '../../domain/presentation/amount.ts';
import type { SearchTerm } from '../ports/readModels/payments.ts';

/** Longest text that is searched for. No id or address is longer. */
export const SEARCH_MAX = 320;

/** 11 or 14 digits with any of the usual separators. Payments may have documents with wrong check digits. */
const DIGITS = /^[\d\s./-]+$/;
const LENGTHS: readonly (number | undefined)[] = [11, 14];

const documentOf = (text: string): string | null => {
  const key = taxIdOf(text);
  if (key !== null) return key;
  const digits = DIGITS.test(text) ? documentKeyOf(text) : null;
  return LENGTHS.includes(digits?.length) ? digits : null;
};

/** Returns the amounts that a text may mean: `12,34` is one; `1234` is R$ 1,234.00 or, as in the API, 1,234 centavos. */
const amountsOf = (text: string): readonly number[] => {
  const amounts = [centavosOf(text) ?? 0, /^\d{1,11}$/.test(text) ? Number(text) : 0];
  return [...new Set(amounts)].filter((amount) => amount > 0 && amount <= AMOUNT_MAX);
};

/** Returns all the ways in which the text may find payments; none if it is blank, too long or has a NUL. */
export const searchTermsOf = (typed: string): readonly SearchTerm[] => {
  const text = typed.trim();
  if (text === '' || text.length > SEARCH_MAX || text.includes('\0')) return [];
  const id = parseId<PaymentId>(text, PREFIX.charge, PREFIX.transaction);
  const documentKey = documentOf(text);
  return [
    ...(id === null ? [] : [{ by: 'id', id } as const]),
    ...(isTxid(text) ? [{ by: 'txid', txid: text } as const] : []),
    { by: 'reference', reference: text },
    { by: 'customerId', customerId: text },
    ...(documentKey === null ? [] : [{ by: 'document', documentKey } as const]),
    ...(mayBeEmailAddress(text) ? [{ by: 'email', email: text } as const] : []),
    ...amountsOf(text).map((amount) => ({ by: 'amount', amount }) as const),
  ];
};

/** Returns the ways in which the text may name a customer. */
export const customerTermsOf = (typed: string): readonly SearchTerm[] =>
  searchTermsOf(typed).filter(({ by }) => by === 'document' || by === 'email' || by === 'customerId');

/** Returns whether each term is an id, so that a single result is certainly the wanted payment. */
export const areIds = (terms: readonly SearchTerm[]): boolean =>
  terms.every(({ by }) => by === 'id' || by === 'txid' || by === 'reference' || by === 'customerId');
