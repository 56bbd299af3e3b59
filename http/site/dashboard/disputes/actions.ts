// A member's actions on a dispute: appeal, accept, and in test mode open and decide it as the payer's bank would.
import { NO_PAYMENT } from '../../../../application/payments/ownPayment.ts';
import { MED_CASE } from '../../../../domain/dispute/aggregate.ts';
import { NO_CASE } from '../../../../domain/dispute/decisions.ts';
import { isRejection, reject } from '../../../../domain/kernel/rejection.ts';
import { answer } from '../../../api/disputes/cases.ts';
import { disputed, rule } from '../../../api/disputes/sandboxCases.ts';
import { FORM, type RouteContext, route } from '../../../kernel/route.ts';
import { assertFollowed } from '../../../kernel/upToDate.ts';
import { html } from '../../html.ts';
import {
  ofMember,
  PAGE,
  pageQuery,
  REDIRECT,
  type Reader,
  readerOf,
  redirect,
  shownPage,
  unlessManager,
  unlessReader,
} from '../page.ts';
import { onePayment } from '../payments/one.ts';
import type { DoneAction } from '../texts/texts.ts';
import { casePage, oneCase } from './one.ts';

const acting = {
  ...ofMember,
  params: oneCase,
  query: pageQuery,
  refusalOf: unlessReader,
  reads: ['disputes'],
  body: FORM,
  responses: { 303: REDIRECT, 422: PAGE },
} as const;
type Acting = RouteContext<'member', typeof oneCase, typeof pageQuery, typeof FORM>;

/** Performs the action and redirects to the case. A rejection is shown on the case's page with the submitted values. */
const acted = async (
  context: Acting,
  done: DoneAction,
  act: (asKey: Omit<Acting, 'caller' | 'query' | 'body'> & { readonly caller: Reader['asCaller'] }) => Promise<unknown>,
) => {
  const reader = readerOf(context);
  const { id } = context.params;
  const found = await reader.services.views.cases.find(reader.tenant, id);
  if (found === null) return NO_CASE;
  const outcome = await act({ ...context, caller: reader.asCaller });
  if (!isRejection(outcome)) return redirect(reader.to(`/disputes/${id}`), done);
  const page = await casePage(found, reader, context.body.text('reason'));
  return shownPage(422, context, reader, { ...page, problem: outcome });
};

const appealRoute = route('POST', '/dashboard/{mode}/disputes/{id}/appeal', {
  ...acting,
  operationId: 'appealFromPage',
  summary: 'Appeal a dispute',
  handle: (context) =>
    acted(context, 'appealed', async (asKey) => {
      const done = await answer(asKey, { kind: 'appeal', reason: context.body.text('reason') });
      if (!isRejection(done) || done.code !== 'invalid_reason') return done;
      return { ...done, message: readerOf(context).texts.disputes.badReason };
    }),
});

const acceptRoute = route('POST', '/dashboard/{mode}/disputes/{id}/accept', {
  ...acting,
  refusalOf: unlessManager,
  operationId: 'acceptFromPage',
  summary: 'Accept a dispute, which is final',
  handle: (context) =>
    acted(context, 'accepted', async (asKey) =>
      context.body.text('confirm') === 'yes'
        ? answer(asKey, { kind: 'accept' })
        : reject('invalid_request', readerOf(context).texts.disputes.notConfirmed),
    ),
});

const ONLY_IN_TEST = reject('not_found', 'There is no such page in live mode.');

const decideRoute = route('POST', '/dashboard/{mode}/disputes/{id}/decide', {
  ...acting,
  operationId: 'decideFromPage',
  summary: 'Simulate the decision of the payer’s bank, in test mode',
  handle: async (context) => {
    if (context.params.mode !== 'test') return ONLY_IN_TEST;
    const as = context.body.text('as');
    return acted(context, 'decided', async (asKey) => {
      if (as === 'withdrawn') return rule(asKey, { kind: 'withdraw' });
      const result = as === 'disagreed' ? 'disagreed' : 'agreed';
      return rule(asKey, {
        ...{ kind: 'decide', result, returned: true, returnedToPayer: null },
        ...{ review: false, owed: false },
      } as const);
    });
  },
});

const openRoute = route('POST', '/dashboard/{mode}/payments/{id}/dispute', {
  ...acting,
  params: onePayment,
  reads: ['payments', 'disputes'],
  operationId: 'openDisputeFromPage',
  summary: 'Simulate a new dispute of the payer’s bank, in test mode',
  handle: async (context) => {
    const reader = readerOf(context);
    const { services, tenant, texts, to, asCaller: caller } = reader;
    const { id } = context.params;
    if (tenant.mode !== 'test') return ONLY_IN_TEST;
    if ((await services.views.payments.find(tenant, id)) === null) return NO_PAYMENT;
    assertFollowed({ services, caller }, id);
    const booked = await services.disputeInSandbox(tenant, id, {
      ...{ amount: null, method: 'other', reason: null, responseDeadline: null, providerCaseId: null },
      payer: { name: null, document: null },
    } as const);
    const taken = isRejection(booked) ? booked : await disputed({ ...context, caller }, booked);
    if (!isRejection(taken))
      return redirect(to(`/disputes/${taken.body.id.slice(MED_CASE.idPrefix.length)}`), 'disputed');
    return shownPage(422, context, reader, {
      title: texts.payment.actions,
      section: '/payments',
      problem: taken,
      main: html`<p><a href="${to(`/payments/${id}`)}">${texts.back}</a></p>`,
    });
  },
});

export const DISPUTE_ACTIONS = [appealRoute, acceptRoute, decideRoute, openRoute];
