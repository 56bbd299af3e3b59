// /dashboard/platform/held: money that waits for an operator, and the possible decisions (rules M5, M10).
import { type HeldItem, heldSettlementOf } from '../../../../application/payments/heldPayments.ts';
import { isRejection, type Rejection } from '../../../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { formatAmount } from '../../../../domain/presentation/amount.ts';
import { paymentParam } from '../../../api/payments/payment.ts';
import { PLATFORM_PAGES } from '../../../kernel/callers.ts';
import { route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import type { Content } from '../page.ts';
import { fact } from '../parts.ts';
import { acted, acting, showing, shown } from './acting.ts';
import type { Operator } from './page.ts';
import { accountLink, choice, field, listOf, reasonInput, simpleForm } from './parts.ts';

const SECTION = '/held';
const LISTED = 50;
const oneOf = ({ paymentId }: HeldItem): string => `${SECTION}/${paymentId.slice(PAYMENT.idPrefix.length)}`;

const reasonText = ({ reason }: HeldItem, { texts }: Operator): string => texts.platform.held.reasons[reason];

const row = (item: HeldItem, operator: Operator): Markup => {
  const { language, to } = operator;
  const { amount, currency, accountId, mode, heldSince, returnRefused } = item;
  return html`<tr><th scope="row"><a href="${to(oneOf(item))}">${formatAmount(amount, currency, language)}</a></th>
<td class="wide">${reasonText(item, operator)}${returnRefused === null ? null : html`<br><span class="muted small">${returnRefused}</span>`}</td>
<td>${accountLink(accountId, mode, operator)}</td><td>${instant(heldSince, language)}</td></tr>`;
};

const listPage = async (operator: Operator): Promise<Content> => {
  const { texts, platform } = operator;
  const { held: words, sections, account } = texts.platform;
  const { held, total } = await platform.listHeld(LISTED);
  const heads = [texts.payments.amount, words.why, account, words.since];
  const rows = held.map((item) => row(item, operator));
  return {
    title: sections.held,
    section: SECTION,
    main: html`<section class="panel"><p class="muted">${words.lead}</p>${listOf(sections.held, heads, rows, words.empty, total, operator)}</section>`,
  };
};

/** The submitted values of a settlement. */
interface Typed {
  readonly how: string;
  readonly pixOut: string;
  readonly reason: string;
}
const NOTHING_TYPED: Typed = { how: 'pixOut', pixOut: '', reason: '' };

/** The hidden field that names the payment of a form. */
const meant = ({ providerPaymentId }: HeldItem): Markup =>
  html`<input type="hidden" name="providerPaymentId" value="${providerPaymentId}">`;

const settleForm = (item: HeldItem, { how, pixOut, reason }: Typed, operator: Operator): Markup => {
  const { texts, to, csrf } = operator;
  const { held } = texts.platform;
  const ways = [
    ['pixOut', held.payOut],
    ['writtenOff', held.writeOff],
  ] as const;
  const isGone = item.reason === 'confirmed_late';
  return html`<form method="post" action="${to(`${oneOf(item)}/settle`)}" class="action narrow">${csrf}${meant(item)}<p class="muted">${isGone ? held.goneLead : held.settleLead}</p>
${
  isGone
    ? html`<input type="hidden" name="how" value="writtenOff">`
    : html`${choice('how', held.how, ways, how === 'writtenOff' ? 'writtenOff' : 'pixOut')}${field('pixOut', held.pixKey, pixOut, held.pixKeyHint)}`
}${reasonInput(reason, operator)}<button class="danger">${held.settle}</button></form>`;
};

const actions = (item: HeldItem, typed: Typed, operator: Operator): Markup => {
  const { texts, to } = operator;
  const { held } = texts.platform;
  const { reason, returnRefused } = item;
  const path = to(oneOf(item));
  const canBeCredited = reason === 'no_payer_document' || reason === 'operator';
  return html`<section class="panel actions"><h2>${texts.payment.actions}</h2>
${canBeCredited ? simpleForm(`${path}/release`, held.releaseLead, html`<button>${held.release}</button>`, operator) : html`<p class="muted">${held.cannotRelease}</p>`}
${reason === 'confirmed_late' ? html`<p class="muted">${held.cannotReturn}</p>` : simpleForm(`${path}/return`, held.returnLead, html`${meant(item)}<button class="second">${held.return}</button>`, operator)}
${returnRefused === null && reason !== 'confirmed_late' ? html`<p class="muted">${held.cannotSettle}</p>` : settleForm(item, typed, operator)}</section>`;
};

const facts = (item: HeldItem, operator: Operator): Markup => {
  const { texts, language } = operator;
  const { held, account } = texts.platform;
  return html`<section class="panel"><h2>${formatAmount(item.amount, item.currency, language)}</h2><dl>
${fact(held.why, reasonText(item, operator))}${fact(held.refusal, item.returnRefused)}
${fact(account, accountLink(item.accountId, item.mode, operator))}
${fact(texts.payment.endToEndId, html`<code>${item.providerPaymentId}</code>`)}
${fact(held.payer, item.payerName)}${fact(held.expected, item.expectedPayerTaxId)}
${fact(held.since, instant(item.heldSince, language))}</dl></section>`;
};

type Id = Parameters<Operator['platform']['showHeld']>[0];

const onePage =
  (id: Id, typed: Typed = NOTHING_TYPED) =>
  async (operator: Operator): Promise<Content | Rejection> => {
    const { texts, platform, to } = operator;
    const items = await platform.showHeld(id);
    if (isRejection(items)) return items;
    const { held } = texts.platform;
    return {
      title: held.one,
      section: SECTION,
      main: html`<p class="under"><code>${PAYMENT.idPrefix}${id}</code></p>${
        items.length === 0
          ? html`<section class="panel"><p class="empty">${held.nothingHeld}</p></section>`
          : items.map(
              (item) =>
                html`<div class="two"><div>${facts(item, operator)}</div><div>${actions(item, typed, operator)}</div></div>`,
            )
      }<p><a href="${to(SECTION)}">${texts.back}</a></p>`,
    };
  };

const listRoute = route('GET', `${PLATFORM_PAGES}/held`, {
  ...showing,
  operationId: 'showHeldPayments',
  summary: 'Show held payments',
  reads: ['payments'],
  handle: (context) => shown(context, listPage),
});

const oneRoute = route('GET', `${PLATFORM_PAGES}/held/{id}`, {
  ...showing,
  operationId: 'showHeldPayment',
  summary: 'Show a held payment, and what can be decided about it',
  params: paymentParam,
  handle: (context) => shown(context, onePage(context.params.id)),
});

const releaseRoute = route('POST', `${PLATFORM_PAGES}/held/{id}/release`, {
  ...acting,
  operationId: 'releaseHeldFromPage',
  summary: 'Release a held Pix',
  params: paymentParam,
  handle: (context) => {
    const { id } = context.params;
    const act = ({ platform, actor }: Operator) => platform.reviewHeld(id, 'release', actor, null);
    return acted(context, { act, done: 'heldReleased', place: SECTION, page: onePage(id) });
  },
});

const returnRoute = route('POST', `${PLATFORM_PAGES}/held/{id}/return`, {
  ...acting,
  operationId: 'returnHeldFromPage',
  summary: 'Return a held Pix to its payer',
  params: paymentParam,
  handle: (context) => {
    const { id } = context.params;
    const which = context.body.text('providerPaymentId') || null;
    const act = ({ platform, actor }: Operator) => platform.reviewHeld(id, 'return', actor, which);
    return acted(context, { act, done: 'heldReturned', place: SECTION, page: onePage(id) });
  },
});

const settleRoute = route('POST', `${PLATFORM_PAGES}/held/{id}/settle`, {
  ...acting,
  operationId: 'settleHeldFromPage',
  summary: 'Settle a permanently refused return',
  params: paymentParam,
  handle: (context) => {
    const { id } = context.params;
    const { body } = context;
    const typed: Typed = { how: body.text('how'), pixOut: body.text('pixOut'), reason: body.text('reason') };
    const act = async ({ platform, actor }: Operator) => {
      const how = typed.how === 'writtenOff' ? { writtenOff: true } : { pixOut: typed.pixOut };
      const settlement = heldSettlementOf({ ...how, reason: typed.reason });
      if (isRejection(settlement)) return settlement;
      return platform.reviewHeld(id, settlement, actor, body.text('providerPaymentId') || null);
    };
    return acted(context, { act, done: 'heldSettled', place: SECTION, page: onePage(id, typed) });
  },
});

export const HELD_PAGES = [listRoute, oneRoute, releaseRoute, returnRoute, settleRoute];
