// Refunds a payment, after a preview of the fee and the remaining amounts.
import { randomUUID } from 'node:crypto';
import { NO_PAYMENT } from '../../../../application/payments/ownPayment.ts';
import { isRejection, type Rejection } from '../../../../domain/kernel/rejection.ts';
import type { ExistingPayment } from '../../../../domain/payment/payment.ts';
import { centavosOf, formatAmount } from '../../../../domain/presentation/amount.ts';
import { transactionView } from '../../../../domain/presentation/transaction.ts';
import { refundableRest } from '../../../../domain/transaction/refunds.ts';
import { balancesOf } from '../../../api/wallets/wallets.ts';
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
import { fact } from '../parts.ts';
import { KEY } from './create.ts';
import { onePayment } from './one.ts';

interface Wish {
  readonly typed: string;
  readonly amount: number;
  /** The idempotency key: a form submitted twice refunds once. */
  readonly key: string;
}

type Asking = RouteContext<'member', typeof onePayment, typeof pageQuery, typeof FORM>;

const refused = (context: Asking, reader: Reader, problem: string | Rejection) =>
  shownPage(422, context, reader, {
    title: reader.texts.payment.refund,
    section: '/payments',
    problem,
    main: html`<p><a href="${reader.to(`/payments/${context.params.id}`)}">${reader.texts.back}</a></p>`,
  });

/** Shows the refund's fee, the remaining refundable amount and the balance. Records nothing. */
const preview = async (context: Asking, reader: Reader, payment: ExistingPayment, { typed, amount, key }: Wish) => {
  const { services, caller, asCaller, mode, texts, language, to, csrf } = reader;
  const { payment: words, payouts, overview } = texts;
  const { paymentId, currency } = payment.charge.terms;
  const body = { amount, idempotencyKey: key };
  const quote = await services.quoteRefund({ account: caller.account, mode, paymentId, body });
  if (isRejection(quote)) return refused(context, reader, quote);
  const balances = await balancesOf({ caller: asCaller, services });
  const available = balances.find((one) => one.currency === currency)?.available ?? 0;
  const fee = quote.feePaidBy === 'merchant' ? quote.fee : 0;
  const rest = payment.transaction.status === 'settled' ? refundableRest(payment.transaction) : 0;
  const { providerFee, platformFee } = transactionView(payment);
  const fees = (providerFee ?? 0) + (platformFee ?? 0);
  const line = (label: string, value: number) => fact(label, formatAmount(value, currency, language));
  const path = `/payments/${paymentId}`;
  return shownPage(200, context, reader, {
    title: words.refundPreview,
    section: '/payments',
    main: html`<section class="card stack"><p class="muted">${payouts.previewLead}</p>
<dl class="amounts">${line(words.refundAmount, amount)}${fee === 0 ? null : line(payouts.fee, fee)}${line(words.stillRefundable, rest - amount)}
${line(payouts.before, available)}${line(`${overview.available}, ${words.afterwards}`, available - amount - fee)}</dl>
${fees === 0 ? null : html`<p class="muted">${words.feesStay(formatAmount(fees, currency, language))}</p>`}
${available - amount - fee < 0 ? html`<p class="notice bad">${words.goesBelowZero}</p>` : null}
<form method="post" action="${to(`${path}/refund`)}">${csrf}<input type="hidden" name="amount" value="${typed}"><input type="hidden" name="key" value="${key}">
<p class="row"><button name="step" value="confirm">${words.refundConfirm}</button><a href="${to(path)}">${texts.back}</a></p></form></section>`,
  });
};

export const refundRoute = route('POST', '/dashboard/{mode}/payments/{id}/refund', {
  ...ofMember,
  operationId: 'refundFromPage',
  summary: 'Preview a refund, and request it once it is confirmed',
  params: onePayment,
  query: pageQuery,
  refusalOf: unlessReader,
  reads: ['payments', 'wallet'],
  body: FORM,
  responses: { 200: PAGE, 303: REDIRECT, 422: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { services, caller, asCaller, mode, tenant, actor, texts, to } = reader;
    const { params, body } = context;
    const payment = await services.views.payments.find(tenant, params.id);
    if (payment === null) return NO_PAYMENT;
    assertFollowed({ services, caller: asCaller }, params.id);
    const typed = body.text('amount');
    const amount = centavosOf(typed);
    if (amount === null) return refused(context, reader, texts.create.badAmount);
    const key = KEY.test(body.text('key')) ? body.text('key') : randomUUID();
    if (body.text('step') !== 'confirm') return preview(context, reader, payment, { typed, amount, key });
    const wanted = { account: caller.account, mode, paymentId: params.id, body: { amount, idempotencyKey: key } };
    const done = await services.requestRefund({ ...wanted, ...actor });
    return isRejection(done) ? refused(context, reader, done) : redirect(to(`/payments/${params.id}`), 'refunded');
  },
});
