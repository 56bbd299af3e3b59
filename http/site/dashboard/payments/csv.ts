// Payments as a table for spreadsheets: UTF-8 with a byte order mark, which Excel needs, and the separators of the reader's language.
import { CURRENCY_DECIMALS } from '../../../../domain/charge/methods.ts';
import { saoPauloTime } from '../../../../domain/kernel/civilDay.ts';
import { PREFIX } from '../../../../domain/kernel/ids.ts';
import { decimalText } from '../../../../domain/kernel/money.ts';
import type { Timestamp } from '../../../../domain/kernel/time.ts';
import type { ExistingPayment } from '../../../../domain/payment/payment.ts';
import { documentKeyOf } from '../../../../domain/pix/taxId.ts';
import type { Language } from '../../../../domain/presentation/amount.ts';
import { chargeView } from '../../../../domain/presentation/charge.ts';
import { type CsvSeparator, csvFieldWith, withoutFormula } from '../../../../domain/presentation/csv.ts';
import { publicStatus } from '../../../../domain/presentation/status.ts';
import { transactionView } from '../../../../domain/presentation/transaction.ts';
import type { Texts } from '../texts/texts.ts';
import { methodsText } from './table.ts';

const BYTE_ORDER_MARK = '\uFEFF';
const SEPARATOR: { readonly [L in Language]: CsvSeparator } = { pt: ';', en: ',' };
const POINT: { readonly [L in Language]: string } = { pt: ',', en: '.' };

const timeText = (at: Timestamp | null): string =>
  at === null ? '' : saoPauloTime(at).local.slice(0, 'yyyy-mm-ddThh:mm:ss'.length).replace('T', ' ');

/** Punctuated, because spreadsheets would drop the leading zeros of a number. */
const documentText = (document: string | null): string =>
  (documentKeyOf(document ?? '') ?? '')
    .replace(/^(\d{3})(\d{3})(\d{3})(\d{2})$/, '$1.$2.$3-$4')
    .replace(/^(\w{2})(\w{3})(\w{3})(\w{4})(\d{2})$/, '$1.$2.$3/$4-$5');

interface Table {
  readonly head: string;
  /** Returns a line with its end. */
  readonly line: (payment: ExistingPayment) => string;
}

export const paymentsCsv = (texts: Texts, language: Language): Table => {
  const { payments, payment: words, csv } = texts;
  const field = csvFieldWith(SEPARATOR[language]);
  const lineOf = (fields: readonly string[]): string => `${fields.map(field).join(SEPARATOR[language])}\r\n`;
  const heads = [
    ...[words.id, payments.createdAt, payments.status, payments.method, csv.currency, payments.amount],
    ...[words.providerFee, words.platformFee, words.net, words.refunded, words.paidAt],
    ...[csv.name, words.document, words.email, payments.description, words.endToEndId, words.txid],
  ];
  return {
    head: BYTE_ORDER_MARK + lineOf(heads),
    line: (payment) => {
      const [charge, transaction] = [chargeView(payment), transactionView(payment)];
      const { currency } = transaction;
      const amount = (value: number | null): string =>
        value === null
          ? ''
          : decimalText(value, CURRENCY_DECIMALS[currency] ?? 2, { point: POINT[language], group: '' });
      const description = charge.metadata['description'];
      return lineOf([
        PREFIX.charge + transaction.id,
        timeText(payment.charge.terms.createdAt),
        ...[texts.statuses[publicStatus(payment)], methodsText(payment, texts), currency],
        ...[transaction.amount, transaction.providerFee, transaction.platformFee, transaction.netAmount].map(amount),
        amount(transaction.amountRefunded),
        timeText(transaction.paidAt as Timestamp | null),
        ...[
          transaction.customerName ?? '',
          documentText(transaction.customerDocument),
          transaction.customerEmail ?? '',
          typeof description === 'string' ? description : '',
          charge.settlement.end_to_end_id ?? '',
          charge.pix?.txid ?? '',
        ].map(withoutFormula),
      ]);
    },
  };
};
