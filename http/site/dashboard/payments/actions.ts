// What a member does with a payment: refund, cancel, resend, and in test mode pay it. Each leads back to the payment.
import { randomUUID } from 'node:crypto';
import { NO_PAYMENT } from '../../../../application/payments/ownPayment.ts';
import type { SandboxPayment } from '../../../../application/sandbox/payInSandbox.ts';
import { isRejection, type Rejection } from '../../../../domain/kernel/rejection.ts';
import { centavosOf } from '../../../../domain/presentation/amount.ts';
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
import { KEY } from './create.ts';
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

/** Does it, and leads back to the payment; a rejection is shown with a link back. */
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
    problem: done.message,
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

const refundRoute = route('POST', '/dashboard/{mode}/payments/{id}/refund', {
  ...acting,
  operationId: 'refundFromPage',
  summary: 'Refund a payment',
  handle: (context) =>
    acted(context, async ({ services, caller, mode, texts }) => {
      const [amount, key] = [centavosOf(context.body.text('amount')), context.body.text('key')];
      if (amount === null) return { rejected: true, code: 'invalid_amount', message: texts.create.badAmount };
      const done = await services.requestRefund({
        account: caller.account,
        mode,
        paymentId: context.params.id,
        body: { amount, idempotencyKey: KEY.test(key) ? key : randomUUID() },
        actor: caller.actor,
        requestId: context.requestId,
      });
      return isRejection(done) ? done : 'refunded';
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

/** A CPF with valid check digits that no customer of a test has. */
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
      // The page that follows shows the outcome if it comes soon, and otherwise when it comes.
      await services.untilSeen(VISIBLE_MS, async () => {
        const now = await services.views.payments.find(tenant, id);
        return now?.transaction.status === 'none' ? null : now;
      });
      return 'paid';
    }),
});

export const PAYMENT_ACTIONS = [cancelRoute, refundRoute, resendRoute, payRoute];
