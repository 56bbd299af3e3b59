// /dashboard/test/sandbox: the test clock, which only moves forward.

import { isRejection, type Rejection, reject } from '../../../domain/kernel/rejection.ts';
import { moveClock } from '../../api/sandbox/sandbox.ts';
import { ADVANCE_SECONDS_MAX } from '../../api/sandbox/sandboxSchema.ts';
import { FORM, route } from '../../kernel/route.ts';
import { html, type Markup } from '../html.ts';
import { seenField, seenIn } from './edit.ts';
import { instant } from './format.ts';
import {
  modeParam,
  ofMember,
  PAGE,
  pageQuery,
  REDIRECT,
  type Reader,
  readerOf,
  redirect,
  shownPage,
  unlessManager,
} from './page.ts';
import { options } from './parts.ts';

const SECTION = '/sandbox';
const IN_TEST_ONLY = reject('not_found', 'There is no such page.');
const UNIT_SECONDS = { minutes: 60, hours: 3_600, days: 86_400 } as const;
type Unit = keyof typeof UNIT_SECONDS;
const UNITS = Object.keys(UNIT_SECONDS) as readonly Unit[];

interface Fields {
  readonly count: string;
  readonly unit: Unit;
}

const form = ({ count, unit }: Fields, offset: number, { texts: { sandbox }, to, csrf }: Reader): Markup =>
  html`<form method="post" class="filters" action="${to('/sandbox/clock')}">${csrf}${seenField(String(offset))}<label>${sandbox.forward}<input name="count" type="number" min="1" value="${count}" required></label>
<label>${sandbox.unit}<select name="unit">${options(
    UNITS.map((one) => [one, sandbox.units[one]]),
    unit,
  )}</select></label><button>${sandbox.move}</button></form>`;

const contentOf = async (reader: Reader, fields: Fields) => {
  const { services, tenant, texts, language } = reader;
  const { sandbox, payment, pages } = texts;
  const now = await services.accounts.now(tenant.accountId, 'test');
  const { offsetSeconds } = (await services.accounts.get(tenant.accountId)).testClock;
  return {
    title: pages.sandbox,
    section: SECTION,
    main: html`<section class="panel"><h2>${sandbox.clock}</h2><p class="muted">${sandbox.clockLead}</p><p>${sandbox.now}: <strong>${instant(now, language)}</strong></p>
${reader.mayManage ? form(fields, offsetSeconds, reader) : html`<p class="muted">${payment.mayNot}</p>`}</section>
<p class="muted">${sandbox.payLead}</p>`,
  };
};

const sandboxRoute = route('GET', '/dashboard/{mode}/sandbox', {
  ...ofMember,
  operationId: 'showSandbox',
  summary: 'Show the test clock',
  params: modeParam,
  query: pageQuery,
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    if (reader.mode !== 'test') return IN_TEST_ONLY;
    return shownPage(200, context, reader, await contentOf(reader, { count: '1', unit: 'hours' }));
  },
});

const clockRoute = route('POST', '/dashboard/{mode}/sandbox/clock', {
  ...ofMember,
  operationId: 'moveClockFromPage',
  summary: 'Move the test clock forward',
  params: modeParam,
  query: pageQuery,
  refusalOf: unlessManager,
  body: FORM,
  responses: { 303: REDIRECT, 422: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    if (reader.mode !== 'test') return IN_TEST_ONLY;
    const { services, tenant, actor, texts, to } = reader;
    const count = context.body.text('count');
    const unit = UNITS.find((one) => one === context.body.text('unit')) ?? 'hours';
    const again = async (problem: string | Rejection) =>
      shownPage(422, context, reader, { ...(await contentOf(reader, { count, unit })), problem });
    const seconds = /^\d{1,9}$/.test(count) ? Number(count) * UNIT_SECONDS[unit] : 0;
    if (seconds < 1 || seconds > ADVANCE_SECONDS_MAX) return again(texts.sandbox.badTime);
    const seen = seenIn(context.body);
    const isDone = await moveClock(services, tenant.accountId, seconds, actor, seen === null ? null : Number(seen));
    if (isRejection(isDone)) return again(isDone);
    return redirect(to(SECTION), isDone ? 'clockMoved' : 'clockMoving');
  },
});

export const SANDBOX_PAGES = [sandboxRoute, clockRoute];
