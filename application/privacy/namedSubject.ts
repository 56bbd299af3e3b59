// Reads the subject of a search as an operator names it, in a request or on the command line.
import { mayBeEmailAddress } from '../../domain/kernel/email.ts';
import { type PaymentId, PREFIX, parseId, parsePrefixedId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import type { PayoutId } from '../../domain/payout/payout.ts';
import { documentKeyOf, isStrictTaxId } from '../../domain/pix/taxId.ts';
import { NO_CURSOR, type OwnerId, type Subject } from './findPerson.ts';

export const SUBJECT_NAMES = ['document', 'email', 'payment', 'payout'] as const;
export type NamedSubject = { readonly [Name in (typeof SUBJECT_NAMES)[number]]?: string | undefined };

const invalid = (param: string, must: string): Rejection => reject('invalid_request', `${param} ${must}`, { param });

/** Rejects with `invalid_request` unless exactly one is named, and it is valid. */
export const subjectNamed = (named: NamedSubject): Subject | Rejection => {
  const given = SUBJECT_NAMES.filter((name) => named[name] !== undefined);
  const [name] = given;
  if (name === undefined || given.length > 1)
    return reject('invalid_request', 'Name exactly one of document, email, payment and payout.');
  const text = named[name] as string;
  switch (name) {
    case 'document': {
      const document = documentKeyOf(text);
      return document !== null && isStrictTaxId(document)
        ? { document }
        : invalid(name, 'must be a valid CPF or CNPJ.');
    }
    case 'email':
      return mayBeEmailAddress(text) ? { email: text.trim() } : invalid(name, 'must be an email address.');
    case 'payment': {
      const payment = parseId<PaymentId>(text, PREFIX.charge, PAYMENT.idPrefix);
      return payment === null ? invalid(name, 'must be a ch_ or tx_ id.') : { payment };
    }
    case 'payout': {
      const payout = parseId<PayoutId>(text, PAYOUT.idPrefix);
      return payout === null ? invalid(name, 'must be a po_ id.') : { payout };
    }
    default:
      return name satisfies never;
  }
};

/** Reads the id after which a search continues. Undefined gives null. Rejects with `invalid_cursor` unless it is a `tx_` or `po_` id. */
const cursorNamed = (text: string | undefined): OwnerId | null | Rejection => {
  if (text === undefined) return null;
  const payment = parsePrefixedId<PaymentId>(text, PAYMENT.idPrefix);
  if (payment !== null) return { payment };
  const payout = parsePrefixedId<PayoutId>(text, PAYOUT.idPrefix);
  return payout === null ? NO_CURSOR : { payout };
};

/** The subject of an operator's search, and the item after which the search continues, or null. */
interface Search {
  readonly of: Subject;
  readonly after: OwnerId | null;
}

/** Reads a search. Rejects as `subjectNamed` and `cursorNamed` do. */
export const searchNamed = (named: NamedSubject, startingAfter: string | undefined): Search | Rejection => {
  const of = subjectNamed(named);
  const after = cursorNamed(startingAfter);
  if (isRejection(of)) return of;
  return after !== null && isRejection(after) ? after : { of, after };
};
