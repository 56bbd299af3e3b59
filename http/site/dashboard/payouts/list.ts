// /dashboard/{mode}/payouts: payouts newest first, by status.
import { parseId } from '../../../../domain/kernel/ids.ts';
import { PAYOUT } from '../../../../domain/payout/aggregate.ts';
import type { PayoutId } from '../../../../domain/payout/payout.ts';
import { formatAmount } from '../../../../domain/presentation/amount.ts';
import { PAYOUT_STATUSES, type PayoutView } from '../../../../domain/presentation/payout.ts';
import { matching } from '../../../kernel/query.ts';
import { route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import { modeParam, ofMember, PAGE, pageQuery, type Reader, readerOf, shownPage } from '../page.ts';
import { badge, statusOptions } from '../parts.ts';

const PAGE_SIZE = 25;

export const payoutBadge = (
  { status, awaiting_approval: waits }: PayoutView,
  { texts }: Pick<Reader, 'texts'>,
): Markup => badge(waits ? texts.payouts.waiting : texts.payoutStatuses[status], status);

export const rawIdOf = ({ id }: PayoutView): string => id.slice(PAYOUT.idPrefix.length);

const table = (payouts: readonly PayoutView[], reader: Reader): Markup => {
  const { texts, language, to } = reader;
  const { payouts: words } = texts;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.caption}"><table><caption class="hidden">${words.caption}</caption>
<thead><tr><th scope="col">${texts.payments.amount}</th><th scope="col">${texts.payments.status}</th><th scope="col">${words.destination}</th>
<th scope="col">${words.fee}</th><th scope="col">${texts.payments.createdAt}</th></tr></thead>
<tbody>${payouts.map((one) => {
    const amount = (value: number): string => formatAmount(value, one.currency, language);
    return html`<tr><th scope="row"><a href="${to(`/payouts/${rawIdOf(one)}`)}">${amount(one.amount)}</a></th><td>${payoutBadge(one, reader)}</td>
<td class="wide">${one.destination ?? words.ofRefund}</td><td>${amount(one.fee)}</td><td>${instant(one.created_at, language)}</td></tr>`;
  })}</tbody></table></div>`;
};

export const payoutsRoute = route('GET', '/dashboard/{mode}/payouts', {
  ...ofMember,
  operationId: 'showPayouts',
  summary: 'Show payouts',
  params: modeParam,
  query: {
    ...pageQuery,
    status: matching('Only payouts in this status.', 'a status', (text) => text),
    after: matching('The last payout of the page before.', 'an id', (text) => text),
  },
  reads: ['payouts'],
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { tenant, services, texts, to } = reader;
    const { payouts: words } = texts;
    const status = PAYOUT_STATUSES.find((one) => one === context.query.status);
    const sent = context.query.after === undefined ? null : parseId<PayoutId>(context.query.after);
    const after = sent !== null && (await services.views.payouts.find(tenant, sent)) !== null ? sent : null;
    const filter = { status: status ?? null, from: null, to: null };
    const found = await services.views.payouts.list(tenant, filter, { after, limit: PAGE_SIZE });
    const { payouts = [], hasMore = false } = found ?? {};
    const kept = status === undefined ? '' : `status=${status}&`;
    const last = payouts.at(-1);
    return shownPage(200, context, reader, {
      title: texts.pages.payouts,
      section: '/payouts',
      main: html`<p class="row end">${reader.mayManage ? html`<a class="button" href="${to('/payouts/new')}">${words.create}</a>` : html`<span class="muted">${words.onlyManagers}</span>`}</p>
<section class="panel"><form method="get" class="filters"><label>${texts.payments.status}<select name="status">${statusOptions(PAYOUT_STATUSES, status, texts.payoutStatuses, reader)}</select></label>
<button class="second">${texts.apply}</button></form>
${payouts.length === 0 ? html`<p class="empty">${status === undefined ? words.empty : words.emptyFiltered}</p>` : table(payouts, reader)}
<p class="row pager">${after === null ? null : html`<a href="${to('/payouts')}?${kept}">${texts.newest}</a>`}
${hasMore && last ? html`<a href="${to('/payouts')}?${kept}after=${rawIdOf(last)}" rel="next">${texts.older}</a>` : null}</p></section>`,
    });
  },
});
