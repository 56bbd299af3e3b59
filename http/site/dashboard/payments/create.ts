// /dashboard/{mode}/payments/new: a Pix charge, as a link to send to the customer.
import { randomUUID } from 'node:crypto';
import { type ChargeBody, chargeProblems, chargeRequest } from '../../../../domain/charge/request.ts';
import { isRejection } from '../../../../domain/kernel/rejection.ts';
import { taxIdOf } from '../../../../domain/pix/taxId.ts';
import { centavosOf } from '../../../../domain/presentation/amount.ts';
import type { Form } from '../../../kernel/forms.ts';
import { FORM, route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
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
  unlessReader,
} from '../page.ts';
import { problemText, refusalText } from '../texts/refusals.ts';

interface Fields {
  readonly amount: string;
  readonly description: string;
  readonly name: string;
  readonly document: string;
  /** The idempotency key: a form submitted twice creates one charge. */
  readonly key: string;
}
const EMPTY: Omit<Fields, 'key'> = { amount: '', description: '', name: '', document: '' };
const fieldsOf = (form: Form): Fields => ({
  amount: form.text('amount'),
  description: form.text('description'),
  name: form.text('name'),
  document: form.text('document'),
  key: form.text('key'),
});

/** The format of the page's idempotency keys. */
export const KEY = /^[\w-]{8,128}$/;

const input = (label: string, control: Markup, hint: string | null): Markup =>
  html`<label>${label}${control}${hint === null ? null : html`<span class="muted small">${hint}</span>`}</label>`;

const main = (fields: Fields, { texts, csrf, to }: Reader): Markup => {
  const { create } = texts;
  const optional = (label: string): string => `${label} (${create.optional})`;
  return html`<form method="post" class="card stack" action="${to('/payments/new')}">${csrf}<input type="hidden" name="key" value="${fields.key}">
<p class="muted">${create.lead}</p>
${input(create.amount, html`<input name="amount" inputmode="decimal" value="${fields.amount}" required autofocus>`, create.amountHint)}
${input(optional(create.description), html`<input name="description" value="${fields.description}" maxlength="200">`, create.descriptionHint)}
${input(optional(create.name), html`<input name="name" value="${fields.name}" maxlength="200" autocomplete="off">`, null)}
${input(optional(create.document), html`<input name="document" value="${fields.document}" maxlength="20" autocomplete="off">`, create.documentHint)}
<p class="row"><button>${create.button}</button><a href="${to('/payments')}">${texts.back}</a></p></form>`;
};

/** Returns the equivalent body of an API request, or the problem. */
const bodyOf = (
  { amount, description, name, document }: Fields,
  { texts: { create }, language }: Reader,
): ChargeBody | string => {
  const centavos = centavosOf(amount);
  if (centavos === null) return create.badAmount;
  if (document !== '' && taxIdOf(document) === null) return create.badDocument;
  const customer = { ...(name !== '' && { name }), ...(document !== '' && { document }) };
  const body: ChargeBody = {
    amount: centavos,
    payment_method: 'pix',
    ...(description !== '' && { description }),
    ...(Object.keys(customer).length > 0 && { customer }),
  };
  const [problem] = chargeProblems(body);
  return problem === undefined ? body : problemText(problem, language);
};

const ofForm = { ...ofMember, params: modeParam, refusalOf: unlessReader } as const;
const formPage = (reader: Reader, fields: Fields) => ({
  title: reader.texts.create.title,
  section: '/payments',
  main: main(fields, reader),
});

export const newPaymentRoute = route('GET', '/dashboard/{mode}/payments/new', {
  ...ofForm,
  operationId: 'showNewPayment',
  summary: 'Show the form of a new charge',
  query: pageQuery,
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    return shownPage(200, context, reader, formPage(reader, { ...EMPTY, key: randomUUID() }));
  },
});

export const createPaymentPageRoute = route('POST', '/dashboard/{mode}/payments/new', {
  ...ofForm,
  operationId: 'createFromPage',
  summary: 'Create a charge from the form',
  query: pageQuery,
  body: FORM,
  responses: { 303: REDIRECT, 422: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { caller, tenant, services } = reader;
    const fields = fieldsOf(context.body);
    const again = (problem: string) => shownPage(422, context, reader, { ...formPage(reader, fields), problem });
    const body = bodyOf(fields, reader);
    if (typeof body === 'string') return again(body);
    const done = await services.createCharge.handle({
      account: caller.account,
      mode: tenant.mode,
      actor: caller.actor,
      request: chargeRequest(body),
      baseUrl: services.baseUrl,
      idempotencyKey: KEY.test(fields.key) ? fields.key : randomUUID(),
      requestId: context.requestId,
    });
    if (isRejection(done)) return again(`${reader.texts.create.refused} ${refusalText(done, reader.language)}`);
    return redirect(reader.to(`/payments/${done.payment.charge.terms.paymentId}`), 'created');
  },
});
