// /dashboard/{mode}: today's business, and the items that need attention.
import { lastBusinessDays, saoPauloDay } from '../../../domain/kernel/civilDay.ts';
import { percentHalfUp } from '../../../domain/kernel/rounding.ts';
import { formatAmount } from '../../../domain/presentation/amount.ts';
import { type DayRow, sumBy } from '../../../domain/presentation/dayCounts.ts';
import { balancesOf } from '../../api/wallets/wallets.ts';
import { route } from '../../kernel/route.ts';
import { html, type Markup } from '../html.ts';
import { barChart } from './chart.ts';
import { casesTable } from './disputes/list.ts';
import { dayText, minuteText } from './format.ts';
import { modeParam, ofMember, PAGE, pageQuery, type Reader, readerOf, shownPage } from './page.ts';
import { liveFrom, livePart } from './parts.ts';
import { paymentsTable } from './payments/table.ts';

/** Today, and back to the same weekday last week. */
const DAYS = 8;
const PRIMARY = 'BRL';

const of = (rows: readonly DayRow[], day: string): readonly DayRow[] =>
  rows.filter((row) => row.day === day && row.method === null && row.currency === PRIMARY);

const tile = (label: string, value: string, note: string | null): Markup =>
  html`<div class="tile"><p class="label">${label}</p><p class="value">${value}</p>${note === null ? null : html`<p class="note">${note}</p>`}</div>`;

const todayTiles = (days: readonly string[], rows: readonly DayRow[], { texts, language }: Reader): Markup => {
  const amount = (value: number): string => formatAmount(value, PRIMARY, language);
  const [today, before] = [of(rows, days.at(-1) as string), of(rows, days[0] as string)];
  const week = rows.filter(({ method, day }) => method === null && day !== days[0]);
  const rate = percentHalfUp(sumBy(week, 'createdPaid'), sumBy(week, 'created'));
  const { overview } = texts;
  return html`${tile(overview.paidToday, amount(sumBy(today, 'paidAmount')), overview.weekBefore(amount(sumBy(before, 'paidAmount'))))}
${tile(overview.createdToday, String(sumBy(today, 'created')), overview.weekBefore(String(sumBy(before, 'created'))))}
${tile(overview.conversion, `${rate} %`, overview.conversionNote)}`;
};

const volume = (days: readonly string[], rows: readonly DayRow[], { texts, language }: Reader): Markup => {
  const { overview } = texts;
  const shown = days.map((day) => {
    const ofDay = of(rows, day);
    return { day, label: dayText(day, language), paid: sumBy(ofDay, 'paidAmount'), count: sumBy(ofDay, 'paid') };
  });
  const amount = (value: number): string => formatAmount(value, PRIMARY, language);
  const bars = shown.map(({ label, paid }) => ({ label, value: paid, title: `${label}: ${amount(paid)}` }));
  return html`<section class="panel"><h2>${overview.volume}</h2>${barChart(bars, overview.volume)}
<details><summary>${overview.asTable}</summary><table><thead><tr><th scope="col">${overview.day}</th>
<th scope="col">${overview.paidVolume}</th><th scope="col">${overview.paidPayments}</th></tr></thead>
<tbody>${shown.map(({ label, paid, count }) => html`<tr><th scope="row">${label}</th><td>${amount(paid)}</td><td>${count}</td></tr>`)}</tbody></table></details></section>`;
};

const wallet = async (reader: Reader): Promise<Markup> => {
  const { texts, language, asCaller: caller, services } = reader;
  const balances = await balancesOf({ caller, services });
  const primary = balances.find(({ currency }) => currency === PRIMARY);
  const amount = (value: number): string => formatAmount(value, PRIMARY, language);
  const { available = 0, pending = 0, retained = 0, nextRelease = null } = primary ?? {};
  const { overview } = texts;
  const release = nextRelease && overview.nextRelease(amount(nextRelease.amount), minuteText(nextRelease.at, language));
  return html`${tile(overview.available, amount(available), null)}${tile(overview.pending, amount(pending), release)}
${tile(overview.retained, amount(retained), null)}`;
};

/** Cases that the overview shows; the page of disputes has the others. */
const URGENT = 5;

const urgent = async (reader: Reader): Promise<Markup | null> => {
  const { services, tenant, texts, to } = reader;
  const cases = await services.views.cases.toAnswer(tenant, URGENT);
  const now = await services.accounts.now(tenant.accountId, tenant.mode);
  return cases.length === 0
    ? null
    : html`<section class="panel"><h2>${texts.disputes.toAnswer}</h2>${casesTable(cases, now, texts.disputes.toAnswer, reader)}
<p class="row"><a href="${to('/disputes')}">${texts.overview.seeAll}</a></p></section>`;
};

const failing = async ({ tenant, services, texts, to }: Reader): Promise<Markup | null> => {
  const endpoints = await services.views.endpoints.list(tenant);
  const { size } = await services.failingTargets(endpoints.map(({ endpointId }) => endpointId));
  return size === 0
    ? null
    : html`<p class="notice bad"><a href="${to('/webhooks')}">${texts.overview.failing(size)}</a> ${texts.overview.failingLead}</p>`;
};

export const overviewRoute = route('GET', '/dashboard/{mode}', {
  ...ofMember,
  operationId: 'showOverview',
  summary: 'Show how business goes today',
  params: modeParam,
  query: pageQuery,
  reads: ['payments', 'wallet', 'disputes', 'webhookEndpoints'],
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { tenant, services, texts, to } = reader;
    const { views, accounts } = services;
    const days = lastBusinessDays(saoPauloDay(await accounts.now(tenant.accountId, tenant.mode)), DAYS);
    const [rows, { payments: recent, version }, ofWallet, alarm, ofDisputes] = await Promise.all([
      views.stats.dayRows(tenant, { days, currency: null }),
      views.payments.watched({ tenant, paymentId: null }),
      wallet(reader),
      failing(reader),
      urgent(reader),
    ]);
    const { overview } = texts;
    return shownPage(200, context, reader, {
      title: texts.pages.overview,
      section: '',
      main: html`${liveFrom('/events', version, reader)}${alarm}${livePart('tiles', html`<div class="tiles">${todayTiles(days, rows, reader)}${ofWallet}</div>`)}
${ofDisputes}
${volume(days, rows, reader)}
<section class="panel"><h2>${overview.recent}</h2>
${livePart('recent', recent.length === 0 ? html`<p class="empty">${overview.empty}</p>` : paymentsTable(recent, reader))}
<p class="row"><a href="${to('/payments')}">${overview.seeAll}</a>${reader.mayChange ? html`<a class="button" href="${to('/payments/new')}">${texts.payments.create}</a>` : null}</p></section>`,
    });
  },
});
