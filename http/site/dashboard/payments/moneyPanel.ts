// The money of a payment: amounts paid, refunded and held, fees, and postings in the wallet.
import type { EventChapter } from '../../../../application/audit/paymentStory.ts';
import type { LedgerAccount } from '../../../../domain/kernel/journal.ts';
import type { ExistingPayment } from '../../../../domain/payment/payment.ts';
import { formatAmount } from '../../../../domain/presentation/amount.ts';
import { transactionView } from '../../../../domain/presentation/transaction.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import type { Reader } from '../page.ts';
import { fact } from '../parts.ts';
import { tableOf } from '../tables.ts';

/** The accounts of the wallet. Those of the platform are not the merchant's. */
const WALLET: readonly LedgerAccount[] = ['merchant_available', 'merchant_pending', 'merchant_retained'];

const movementsIn = (chapters: readonly EventChapter[]) =>
  chapters.flatMap(({ at, postings }) =>
    postings.flatMap((posting) => (WALLET.includes(posting.account) ? [{ at, ...posting }] : [])),
  );
type Movement = ReturnType<typeof movementsIn>[number];

const sumOf = (movements: readonly Movement[], account?: LedgerAccount): number =>
  movements.reduce((sum, one) => (account === undefined || one.account === account ? sum + one.amount : sum), 0);

/** The payment's postings in the wallet, with their running sum. */
export const ledgerPanel = (chapters: readonly EventChapter[], { texts, language }: Reader): Markup | null => {
  const { payment: words } = texts;
  const movements = movementsIn(chapters);
  if (movements.length === 0) return null;
  let sum = 0;
  const rows = movements.map(({ at, what, amount, currency }) => {
    sum += amount;
    return html`<tr><th scope="row" class="wide">${what[language]}<br><span class="muted small">${instant(at, language)}</span></th><td>${formatAmount(amount, currency, language)}</td><td>${formatAmount(sum, currency, language)}</td></tr>`;
  });
  const heads = [words.movement, texts.payments.amount, words.sum];
  return html`<section class="panel"><h2>${words.ledger}</h2>${tableOf(words.ledger, heads, rows)}</section>`;
};

export const moneyPanel = (payment: ExistingPayment, chapters: readonly EventChapter[], reader: Reader): Markup => {
  const { texts, language } = reader;
  const { payment: words, overview } = texts;
  const { amount, currency, providerFee, platformFee, netAmount, amountRefunded } = transactionView(payment);
  const movements = movementsIn(chapters);
  const line = (label: string, value: number | null): Markup | null =>
    fact(label, value === null ? null : formatAmount(value, currency, language));
  const unlessZero = (label: string, value: number): Markup | null => (value === 0 ? null : line(label, value));
  return html`<section class="panel"><h2>${words.money}</h2><dl class="amounts">
${line(texts.payments.amount, amount)}${line(words.providerFee, providerFee === null ? null : -providerFee)}
${line(words.platformFee, platformFee === null ? null : -platformFee)}${line(words.net, netAmount)}
${unlessZero(words.refunded, -amountRefunded)}${unlessZero(overview.pending, sumOf(movements, 'merchant_pending'))}
${unlessZero(overview.retained, sumOf(movements, 'merchant_retained'))}${movements.length === 0 ? null : line(words.inWallet, sumOf(movements))}</dl></section>`;
};
