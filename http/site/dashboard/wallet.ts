// /dashboard/{mode}/wallet: balances by currency.
import { formatAmount } from '../../../domain/presentation/amount.ts';
import { balancesOf } from '../../api/wallets/wallets.ts';
import { route } from '../../kernel/route.ts';
import { html } from '../html.ts';
import { minuteText } from './format.ts';
import { modeParam, ofMember, PAGE, pageQuery, readerOf, shownPage } from './page.ts';

export const walletRoute = route('GET', '/dashboard/{mode}/wallet', {
  ...ofMember,
  operationId: 'showWallet',
  summary: 'Show the balances',
  params: modeParam,
  query: pageQuery,
  reads: ['wallet'],
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { texts, language, asCaller: caller, services } = reader;
    const balances = await balancesOf({ caller, services });
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
      })}</tbody></table></div></section>`,
    });
  },
});
