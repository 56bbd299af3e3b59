// A member's actions on a payment: refund, cancel, resend, and in test mode pay. Each redirects to the payment.
import { NO_PAYMENT } from '../../../../application/payments/ownPayment.ts';
import type { SandboxPayment } from '../../../../application/sandbox/payInSandbox.ts';
import { isRejection, type Rejection } from '../../../../domain/kernel/rejection.ts';
import type { ExistingPayment } from '../../../../domain/payment/payment.ts';
import { perform } from '../../../api/payments/sandboxMethods.ts';
import { DEFAULT_FAILURE, decideRefund, refundParam } from '../../../api/refunds/sandboxRefunds.ts';
import { VISIBLE_MS } from '../../../api/sandbox/sandboxSchema.ts';
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
  unlessReader,
} from '../page.ts';
import type { DoneAction } from '../texts/texts.ts';
import { CARD_ACTS, OPEN_ACTS } from './acts.ts';
import { onePayment } from './one.ts';

const acting = {
  ...ofMember,
  params: onePayment,
  query: pageQuery,
  refusalOf: unlessReader,
  reads: ['payments'],
  body: FORM,
  responses: { 303: REDIRECT, 422: PAGE },
} as const;
type Acting = RouteContext<'member', typeof onePayment, typeof pageQuery, typeof FORM>;

/** Performs the action and redirects to the payment. A rejection is shown with a link to the payment. */
const acted = async (context: Acting, act: (reader: Reader) => Promise<Rejection | DoneAction>) => {
  const reader = readerOf(context);
  const { services, asCaller: caller, tenant, texts, to } = reader;
  const { id } = context.params;
  if ((await services.views.payments.find(tenant, id)) === null) return NO_PAYMENT;
  assertFollowed({ services, caller }, id);
  const done = await act(reader);
  if (!isRejection(done)) return redirect(to(`/payments/${id}`), done);
  return shownPage(422, context, reader, {
    title: texts.payment.actions,
    section: '/payments',
    problem: done,
    main: html`<p><a href="${to(`/payments/${id}`)}">${texts.back}</a></p>`,
  });
};

const cancelRoute = route('POST', '/dashboard/{mode}/payments/{id}/cancel', {
  ...acting,
  operationId: 'cancelFromPage',
  summary: 'Cancel a payment',
  handle: (context) =>
    acted(context, async ({ services, tenant, actor }) => {
      const done = await services.cancelPayment(tenant, context.params.id, actor);
      return isRejection(done) ? done : 'cancelled';
    }),
});

const resendRoute = route('POST', '/dashboard/{mode}/payments/{id}/resend', {
  ...acting,
  operationId: 'resendFromPage',
  summary: 'Resend the webhooks of a payment',
  handle: (context) =>
    acted(context, async ({ services, tenant, actor }) => {
      const done = await services.resendWebhook(tenant, context.params.id, actor);
      return isRejection(done) ? done : done.resent ? 'resent' : 'unsent';
    }),
});

/** A CPF with valid check digits that belongs to no test customer. */
const ANOTHERS_CPF = '11144477735';

const paying = (as: string, amount: number): SandboxPayment => {
  if (as === 'wrong') return { amount: amount + 1 };
  return as === 'other' ? { payer: { document: ANOTHERS_CPF } } : {};
};

const payRoute = route('POST', '/dashboard/{mode}/payments/{id}/pay', {
  ...acting,
  operationId: 'payFromPage',
  summary: 'Simulate a Pix of the payer, in test mode',
  handle: (context) =>
    acted(context, async ({ services, tenant, mode }) => {
      const { id } = context.params;
      const payment = await services.views.payments.find(tenant, id);
      if (mode !== 'test' || payment === null) return NO_PAYMENT;
      const sent = await services.payInSandbox(
        tenant,
        id,
        paying(context.body.text('as'), payment.charge.terms.amount),
      );
      if (isRejection(sent)) return sent;
      // The payment's page shows the outcome at once if it arrives within VISIBLE_MS, and otherwise updates later.
      const isShown = ({ transaction }: ExistingPayment) => transaction.status !== 'none' || null;
      await services.untilPaymentSeen(tenant, id, VISIBLE_MS, isShown);
      return 'paid';
    }),
});

const actRoute = route('POST', '/dashboard/{mode}/payments/{id}/act', {
  ...acting,
  operationId: 'actFromPage',
  summary: 'Simulate an acquirer’s or card holder’s act, in test mode',
  handle: (context) =>
    acted(context, async ({ asCaller: caller, mode }) => {
      const kind = [...OPEN_ACTS, ...CARD_ACTS].find((one) => one === context.body.text('as'));
      if (mode !== 'test' || kind === undefined) return NO_PAYMENT;
      const act =
        kind === 'authorize'
          ? ({ kind, method: null } as const)
          : kind === 'refuse'
            ? ({ kind, reason: null } as const)
            : { kind };
      const done = await perform({ ...context, caller }, act);
      return isRejection(done) ? done : 'acted';
    }),
});

const decideRefundRoute = route('POST', '/dashboard/{mode}/payments/{id}/refunds/{refund}/decide', {
  ...acting,
  params: { ...onePayment, refund: refundParam.id },
  reads: ['payments', 'refunds'],
  operationId: 'decideRefundFromPage',
  summary: 'Simulate the bank’s decision on a refund, in test mode',
  handle: (context) =>
    acted(context, async ({ asCaller: caller, mode }) => {
      if (mode !== 'test') return NO_PAYMENT;
      const failure = context.body.text('as') === 'failed' ? DEFAULT_FAILURE : null;
      const done = await decideRefund({ ...context, caller, params: { id: context.params.refund } }, failure);
      return isRejection(done) ? done : 'decided';
    }),
});

export const PAYMENT_ACTIONS = [cancelRoute, resendRoute, payRoute, actRoute, decideRefundRoute];
