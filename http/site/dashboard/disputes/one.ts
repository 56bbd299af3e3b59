// /dashboard/{mode}/disputes/{id}: one case, its payment, history and evidence, and the forms to answer it.
import { MED_CASE } from '../../../../domain/dispute/aggregate.ts';
import { APPEAL_REASON_MAX, APPEAL_REASON_MIN, NO_CASE } from '../../../../domain/dispute/decisions.ts';
import type { MedCase } from '../../../../domain/dispute/medCase.ts';
import { type MedCaseId, parseId } from '../../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../../domain/kernel/time.ts';
import { formatAmount } from '../../../../domain/presentation/amount.ts';
import { pathParam, route } from '../../../kernel/route.ts';
import { assertShownCase } from '../../../kernel/upToDate.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import { modeParam, ofMember, PAGE, pageQuery, type Reader, readerOf, shownPage } from '../page.ts';
import { actionForm, fact } from '../parts.ts';
import { evidencePanel } from './evidencePanel.ts';
import { caseBadge, deadlineOf } from './list.ts';

export const oneCase = {
  ...modeParam,
  id: pathParam(
    'The `med_` id of the case, or its raw id.',
    (text) => parseId<MedCaseId>(text, MED_CASE.idPrefix) ?? NO_CASE,
  ),
};

const facts = (found: MedCase, now: Timestamp, reader: Reader): Markup => {
  const { texts, language, to } = reader;
  const { disputes: words } = texts;
  const { terms, held, moneyOutcome, review } = found;
  const amount = (value: number): string => formatAmount(value, terms.currency, language);
  return html`<section class="panel"><h2>${texts.payment.facts}</h2><dl>
${fact(words.deadline, deadlineOf(found, now, reader))}
${fact(texts.payments.amount, amount(terms.amount))}
${fact(words.held, moneyOutcome === null ? amount(held) : null)}
${fact(words.outcome, moneyOutcome === null ? null : texts.moneyOutcomes[moneyOutcome])}
${fact(words.type, texts.caseTypes[terms.type])}
${fact(words.reason, terms.reason)}
${fact(words.openedAt, instant(terms.openedAt, language))}
${fact(words.payment, html`<a href="${to(`/payments/${terms.paymentId}`)}">${words.seePayment}</a>`)}</dl>
${review === null ? null : html`<p class="muted">${words.underReview}</p>`}</section>`;
};

type Step = readonly [at: Timestamp, words: string, detail: string | null];
const stepsOf = (found: MedCase, { texts }: Reader): readonly Step[] => {
  const { disputes: words } = texts;
  const { createdAt, evidenceRequestedAt, remindedAt, appeal, evidence, closedAt, moneyOutcome } = found;
  const once = (at: Timestamp | null, text: string, detail: string | null = null): readonly Step[] =>
    at === null ? [] : [[at, text, detail]];
  const all = [
    ...once(createdAt, words.stepOpened),
    ...once(evidenceRequestedAt, words.stepAsked),
    ...once(remindedAt, words.stepReminded),
    ...evidence.flatMap(({ at, fileName }) => once(at, words.stepEvidence(fileName))),
    ...once(appeal?.at ?? null, words.stepAppealed, appeal?.reason),
    ...once(closedAt, words.stepClosed, moneyOutcome === null ? null : texts.moneyOutcomes[moneyOutcome]),
  ];
  return all.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
};

const story = (found: MedCase, reader: Reader): Markup =>
  html`<section class="panel"><h2>${reader.texts.payment.story}</h2><ol class="story">${stepsOf(found, reader).map(
    ([at, words, detail]) =>
      html`<li><p>${words}</p>${detail === null ? null : html`<p class="quoted">${detail}</p>`}<p class="muted small">${instant(at, reader.language)}</p></li>`,
  )}</ol></section>`;

const acceptance = (found: MedCase, path: string, reader: Reader): Markup => {
  const { texts, language, mayManage } = reader;
  const { disputes: words } = texts;
  if (!mayManage) return html`<p class="muted">${words.onlyManagers}</p>`;
  if (found.review !== null) return html`<p class="muted">${words.underReview}</p>`;
  // The amount of a mismatch is held only once an operator has settled it.
  const atStake = found.settling === 'awaited' ? found.terms.amount : found.held;
  const amount = formatAmount(atStake, found.terms.currency, language);
  return actionForm(
    `${path}/accept`,
    reader,
    html`<p class="notice bad">${words.acceptLead(amount)}</p>
<label class="check"><input type="checkbox" name="confirm" value="yes" required>${words.acceptConfirm}</label><button class="danger">${words.accept}</button>`,
  );
};

const actions = (found: MedCase, typed: string, reader: Reader): Markup => {
  const { texts, mode, mayChange } = reader;
  const { disputes: words, payment } = texts;
  const path = `/disputes/${found.terms.caseId}`;
  if (!mayChange)
    return html`<section class="panel"><h2>${payment.actions}</h2><p class="muted">${payment.mayNot}</p></section>`;
  const isUnderWay = found.status === 'open' || found.status === 'appealed';
  return html`<section class="panel actions"><h2>${payment.actions}</h2>${
    found.status !== 'open'
      ? html`<p class="muted">${words.cannotAnswer}</p>`
      : html`${actionForm(
          `${path}/appeal`,
          reader,
          html`<p class="muted">${words.appealLead}</p>
<label>${words.appealReason}<textarea name="reason" rows="5" minlength="${APPEAL_REASON_MIN}" maxlength="${APPEAL_REASON_MAX}" required>${typed}</textarea>
<span class="muted small">${words.appealHint}</span></label><button>${words.appeal}</button>`,
        )}${acceptance(found, path, reader)}`
  }${
    mode === 'test' && isUnderWay && found.review === null
      ? html`<h3>${payment.sandbox}</h3><p class="muted">${words.decideLead}</p>${actionForm(
          `${path}/decide`,
          reader,
          html`<p class="row"><button class="second" name="as" value="agreed">${words.decideLost}</button>
<button class="second" name="as" value="disagreed">${words.decideWon}</button><button class="second" name="as" value="withdrawn">${words.decideWithdrawn}</button></p>`,
        )}`
      : null
  }</section>`;
};

/** Returns the page of a case. `typed`: the reason given in a rejected appeal. */
export const casePage = async (found: MedCase, reader: Reader, typed = '') => {
  const { services, tenant, language, texts } = reader;
  const now = await services.accounts.now(tenant.accountId, tenant.mode);
  const { amount, currency, caseId } = found.terms;
  return {
    title: `${texts.disputes.one}: ${formatAmount(amount, currency, language)}`,
    section: '/disputes',
    main: html`<p class="under">${caseBadge(found, reader)} <code>${MED_CASE.idPrefix}${caseId}</code></p>
<div class="two"><div>${facts(found, now, reader)}${await evidencePanel(found, reader)}${story(found, reader)}</div>
<div>${actions(found, typed, reader)}</div></div>`,
  };
};

export const disputeRoute = route('GET', '/dashboard/{mode}/disputes/{id}', {
  ...ofMember,
  operationId: 'showDispute',
  summary: 'Show one dispute, and how to answer it',
  params: oneCase,
  query: pageQuery,
  reads: ['disputes'],
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { tenant, asCaller, services } = reader;
    assertShownCase({ services, caller: asCaller }, context.params.id);
    const found = await services.views.cases.find(tenant, context.params.id);
    return found === null ? NO_CASE : shownPage(200, context, reader, await casePage(found, reader));
  },
});
