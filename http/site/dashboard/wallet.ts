// /dashboard/{mode}/wallet: balances by currency, and statements.
import { StreamParked } from '../../../application/ports/readModels/progress.ts';
import { formatAmount } from '../../../domain/presentation/amount.ts';
import { balancesOf } from '../../api/wallets/wallets.ts';
import { route } from '../../kernel/route.ts';
import { html, type Markup } from '../html.ts';
import { dayText, minuteText } from './format.ts';
import { modeParam, ofMember, PAGE, pageQuery, type Reader, readerOf, shownPage } from './page.ts';
import { statementsOf } from './statements.ts';
import { tableOf } from './tables.ts';

/** Days and currencies that the page shows. */
const RELEASES_MAX = 60;

const releases = async ({ services, tenant, texts, language }: Reader): Promise<Markup> => {
  const { wallet, overview, payments } = texts;
  const found = await services.views.wallet.releases(tenant, RELEASES_MAX);
  const rows = found.map(
    ({ day, currency, amount, payments: count }) =>
      html`<tr><th scope="row">${dayText(day, language)}</th><td>${formatAmount(amount, currency, language)}</td><td>${count}</td></tr>`,
  );
  return html`<section class="panel"><h2>${wallet.releases}</h2>${
    rows.length === 0
      ? html`<p class="empty">${wallet.noReleases}</p>`
      : tableOf(wallet.releases, [overview.day, payments.amount, overview.paidPayments], rows)
  }</section>`;
};

export const walletRoute = route('GET', '/dashboard/{mode}/wallet', {
  ...ofMember,
  operationId: 'showWallet',
  summary: 'Show the balances and statements',
  params: modeParam,
  query: pageQuery,
  reads: ['wallet', 'dailyBalances'],
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { texts, language, tenant, asCaller: caller, services } = reader;
    const balances = await balancesOf({ caller, services });
    if (services.parked.hasAnyOf('dailyBalances', tenant))
      throw new StreamParked('the ledger does not follow one of its payments');
    const { overview, wallet } = texts;
    return shownPage(200, context, reader, {
      title: texts.pages.wallet,
      section: '/wallet',
      main: html`<section class="panel"><div class="scroll" tabindex="0" role="region" aria-label="${wallet.lead}"><table><caption class="hidden">${wallet.lead}</caption>
<thead><tr><th scope="col">${wallet.currency}</th><th scope="col">${overview.available}</th><th scope="col">${overview.pending}</th>
<th scope="col">${overview.retained}</th><th scope="col">${wallet.total}</th></tr></thead>
<tbody>${balances.map(({ currency, available, pending, retained, nextRelease }) => {
        const amount = (value: number): string => formatAmount(value, currency, language);
        return html`<tr><th scope="row">${currency}</th><td>${amount(available)}</td><td>${amount(pending)}${
          nextRelease === null
            ? null
            : html`<br><span class="muted small">${overview.nextRelease(amount(nextRelease.amount), minuteText(nextRelease.at, language))}</span>`
        }</td><td>${amount(retained)}</td><td>${amount(available + pending)}</td></tr>`;
      })}</tbody></table></div></section>${await releases(reader)}${await statementsOf(
        balances.map(({ currency }) => currency),
        reader,
      )}`,
    });
  },
});
