// The statements on the wallet's page: the current month by day, and a download of each of the last twelve months.
import { saoPauloDay } from '../../../domain/kernel/civilDay.ts';
import { addSums, totalOf } from '../../../domain/kernel/journal.ts';
import { formatAmount } from '../../../domain/presentation/amount.ts';
import { STATEMENT_FORMATS, type StatementMonth, statementMonth } from '../../../domain/presentation/statement.ts';
import { isOfxCurrency } from '../../../domain/presentation/statementOfx.ts';
import { downloadStatement, monthParam, statementResponses } from '../../api/statements/statements.ts';
import { currencyCode, oneOf } from '../../kernel/query.ts';
import { route } from '../../kernel/route.ts';
import { html, type Markup } from '../html.ts';
import { dayText } from './format.ts';
import { modeParam, ofMember, type Reader, readerOf } from './page.ts';

const MONTHS = 12;

/** Returns the months from the current one back, as `yyyy-mm`. `today`: `yyyy-mm-dd`. */
export const lastMonths = (today: string): readonly string[] => {
  const [year = 0, month = 0] = today.split('-').map(Number);
  return Array.from({ length: MONTHS }, (_, n) => new Date(Date.UTC(year, month - 1 - n)).toISOString().slice(0, 7));
};

const byDay = async (month: StatementMonth, currency: string, reader: Reader): Promise<Markup> => {
  const { texts, language, tenant, services } = reader;
  const { wallet, overview } = texts;
  const { opening, days } = await services.views.statements.byDay(tenant, currency, month);
  const amount = (value: number): string => formatAmount(value, currency, language);
  let balance = opening;
  const rows = days.map((one) => {
    const before = totalOf(balance);
    balance = addSums(balance, one);
    return html`<tr><th scope="row">${dayText(one.day, language)}</th><td>${amount(before)}</td><td>${amount(one.available)}</td><td>${amount(one.pending)}</td><td>${amount(one.retained)}</td><td>${amount(totalOf(balance))}</td></tr>`;
  });
  const whole = (label: string, sums: typeof opening): Markup =>
    html`<tr><th scope="row">${label}</th><td></td><td>${amount(sums.available)}</td><td>${amount(sums.pending)}</td><td>${amount(sums.retained)}</td><td><strong>${amount(totalOf(sums))}</strong></td></tr>`;
  return html`<section class="panel"><h2>${wallet.byDay}</h2><p class="muted">${rows.length === 0 ? wallet.noMovements : wallet.byDayNote}</p>
<div class="scroll" tabindex="0" role="region" aria-label="${wallet.byDay}"><table><caption class="hidden">${wallet.byDay}</caption>
<thead><tr><th scope="col">${overview.day}</th><th scope="col">${wallet.openingBalance}</th>
<th scope="col">${overview.available}</th><th scope="col">${overview.pending}</th><th scope="col">${overview.retained}</th><th scope="col">${wallet.balance}</th></tr></thead>
<tbody>${whole(wallet.openingBalance, opening)}${rows}${whole(wallet.closingBalance, balance)}</tbody></table></div></section>`;
};

const downloads = (months: readonly string[], currency: string, { texts, to }: Reader): Markup => {
  const { wallet } = texts;
  const formats = STATEMENT_FORMATS.filter((format) => format !== 'ofx' || isOfxCurrency(currency));
  return html`<section class="panel"><h2>${wallet.statements} · ${currency}</h2><p class="muted">${wallet.statementsLead}</p>
<div class="scroll" tabindex="0" role="region" aria-label="${wallet.statements}"><table><thead><tr><th scope="col">${wallet.month}</th><th scope="col">${wallet.download}</th></tr></thead><tbody>${months.map(
    (month) =>
      html`<tr><th scope="row">${month}</th><td><span class="row">${formats.map(
        (format) =>
          html`<a href="${to(`/statements/${month}`)}?format=${format}&amp;currency=${currency}" aria-label="${month} ${format.toUpperCase()}">${format.toUpperCase()}</a>`,
      )}</span></td></tr>`,
  )}</tbody></table></div></section>`;
};

/** The statements of these currencies. The first one is also shown by day. */
export const statementsOf = async (currencies: readonly string[], reader: Reader): Promise<Markup> => {
  const { accountId, mode } = reader.tenant;
  const months = lastMonths(saoPauloDay(await reader.services.accounts.now(accountId, mode)));
  const [primary, current] = [currencies[0], statementMonth(months[0] as string)];
  const days = primary === undefined || current === null ? null : await byDay(current, primary, reader);
  return html`${days}${currencies.map((currency) => downloads(months, currency, reader))}`;
};

export const statementPageRoute = route('GET', '/dashboard/{mode}/statements/{month}', {
  ...ofMember,
  operationId: 'downloadStatementFromPage',
  summary: 'Download a monthly statement',
  params: { ...modeParam, month: monthParam },
  query: {
    currency: currencyCode('The currency. Default: BRL.'),
    format: oneOf('The format. Default: pdf.', STATEMENT_FORMATS),
  },
  reads: ['wallet', 'dailyBalances'],
  responses: statementResponses,
  errors: ['invalid_filter', 'invalid_currency'],
  handle: async (context) => {
    const { tenant, services } = readerOf({ ...context, query: {} });
    const { currency, format } = context.query;
    return downloadStatement(services, tenant, { month: context.params.month, currency, format });
  },
});
