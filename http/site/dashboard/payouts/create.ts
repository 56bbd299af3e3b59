// /dashboard/{mode}/payouts/new: requests a payout, after a preview of its fee and of the remaining balance.
import { randomUUID } from 'node:crypto';
import { AMOUNT_MAX } from '../../../../domain/kernel/money.ts';
import { isRejection, type Rejection } from '../../../../domain/kernel/rejection.ts';
import { type PayoutBody, payoutProblems } from '../../../../domain/payout/request.ts';
import { isPixKey } from '../../../../domain/pix/pixKey.ts';
import { taxIdOf } from '../../../../domain/pix/taxId.ts';
import { centavosOf, formatAmount } from '../../../../domain/presentation/amount.ts';
import { DESCRIPTION_MAX } from '../../../api/payouts/payoutSchema.ts';
import { balancesOf } from '../../../api/wallets/wallets.ts';
import type { Form } from '../../../kernel/forms.ts';
import { FORM, type RouteContext, route } from '../../../kernel/route.ts';
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
  unlessManager,
} from '../page.ts';
import { fact } from '../parts.ts';
import { KEY } from '../payments/create.ts';
import { problemText } from '../texts/refusals.ts';

const CURRENCY = 'BRL';

interface Fields {
  readonly amount: string;
  readonly destination: string;
  readonly description: string;
  /** The idempotency key: a form submitted twice requests one payout. */
  readonly key: string;
}
const EMPTY: Omit<Fields, 'key'> = { amount: '', destination: '', description: '' };
const fieldsOf = (form: Form): Fields => ({
  amount: form.text('amount'),
  destination: form.text('destination'),
  description: form.text('description'),
  key: KEY.test(form.text('key')) ? form.text('key') : randomUUID(),
});

const formPage = (fields: Fields, { texts, csrf, to }: Reader) => {
  const { payouts: words, create } = texts;
  return {
    title: words.create,
    section: '/payouts',
    main: html`<form method="post" class="card stack" action="${to('/payouts/new')}">${csrf}<input type="hidden" name="key" value="${fields.key}">
<p class="muted">${words.lead}</p>
<label>${words.amount}<input name="amount" inputmode="decimal" value="${fields.amount}" required autofocus><span class="muted small">${create.amountHint}</span></label>
<label>${words.destination}<input name="destination" value="${fields.destination}" maxlength="100" autocomplete="off" required><span class="muted small">${words.destinationHint}</span></label>
<label>${create.description} (${create.optional})<input name="description" value="${fields.description}" maxlength="${DESCRIPTION_MAX}"></label>
<p class="row"><button name="step" value="preview">${words.preview}</button><a href="${to('/payouts')}">${texts.back}</a></p></form>`,
  };
};

/** Returns the key as the directory writes it: tax ids without punctuation, everything in lower case. */
const pixKeyOf = (typed: string): string => taxIdOf(typed) ?? typed.toLowerCase();

/** Returns the equivalent body of an API request, or the problem. */
const bodyOf = ({ amount, destination, description }: Fields, { texts, language }: Reader): PayoutBody | string => {
  const centavos = centavosOf(amount);
  const key = pixKeyOf(destination);
  if (centavos === null || centavos > AMOUNT_MAX) return texts.create.badAmount;
  if (!isPixKey(key)) return texts.payouts.badDestination;
  if ([...description].length > DESCRIPTION_MAX) return texts.payouts.badDescription;
  const body = {
    amount: centavos,
    destination: { pix_key: key },
    ...(description !== '' && { description }),
  };
  const [problem] = payoutProblems(body);
  return problem === undefined ? body : problemText(problem, language);
};

const ofForm = {
  ...ofMember,
  params: modeParam,
  query: pageQuery,
  refusalOf: unlessManager,
  reads: ['wallet'],
} as const;

export const newPayoutRoute = route('GET', '/dashboard/{mode}/payouts/new', {
  ...ofForm,
  operationId: 'showNewPayout',
  summary: 'Show the form of a new payout',
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    return shownPage(200, context, reader, formPage({ ...EMPTY, key: randomUUID() }, reader));
  },
});

const hidden = (fields: Fields): readonly Markup[] =>
  Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);

type Asking = RouteContext<'member', typeof modeParam, typeof pageQuery, typeof FORM>;

/** Shows the payout's fee and the remaining balance. Records nothing. */
const preview = async (context: Asking, reader: Reader, fields: Fields, body: PayoutBody) => {
  const { texts, language, services, asCaller: caller, csrf, to } = reader;
  const { payouts: words } = texts;
  const again = (problem: string | Rejection) =>
    shownPage(422, context, reader, { ...formPage(fields, reader), problem });
  const quote = await services.payoutRequests.quote({ account: caller.account, mode: reader.mode, body });
  if (isRejection(quote)) return again(quote);
  const balances = await balancesOf({ caller, services });
  const available = balances.find(({ currency }) => currency === CURRENCY)?.available ?? 0;
  const rest = available - body.amount - quote.fee;
  if (rest < 0) return again(words.insufficient);
  const line = (label: string, value: number): Markup | null => fact(label, formatAmount(value, CURRENCY, language));
  return shownPage(200, context, reader, {
    title: words.previewTitle,
    section: '/payouts',
    main: html`<section class="card stack"><p class="muted">${words.previewLead}</p>
<dl>${fact(words.destination, body.destination.pix_key)}${fact(texts.create.description, body.description ?? null)}</dl>
<dl class="amounts">${line(words.before, available)}${line(texts.payments.amount, -body.amount)}${line(words.fee, -quote.fee)}${line(words.rest, rest)}</dl>
${quote.awaitsApproval ? html`<p class="notice">${words.willWait}</p>` : null}
<form method="post" action="${to('/payouts/new')}">${csrf}${hidden(fields)}
<p class="row"><button name="step" value="confirm">${words.confirm}</button><button class="second" name="step" value="change">${words.change}</button></p></form></section>`,
  });
};

export const createPayoutRoute = route('POST', '/dashboard/{mode}/payouts/new', {
  ...ofForm,
  operationId: 'requestPayoutFromPage',
  summary: 'Preview a payout, and request it once it is confirmed',
  body: FORM,
  responses: { 200: PAGE, 303: REDIRECT, 422: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { services, caller, mode, actor } = reader;
    const fields = fieldsOf(context.body);
    const step = context.body.text('step');
    if (step === 'change') return shownPage(200, context, reader, formPage(fields, reader));
    const again = (problem: string | Rejection) =>
      shownPage(422, context, reader, { ...formPage(fields, reader), problem });
    const body = bodyOf(fields, reader);
    if (typeof body === 'string') return again(body);
    if (step !== 'confirm') return preview(context, reader, fields, body);
    const { account } = caller;
    const asked = { account, mode, body, idempotencyKey: fields.key, ...actor };
    const done = await services.payoutRequests.request(asked);
    if (isRejection(done)) return again(done);
    return redirect(reader.to(`/payouts/${done.payout.terms.payoutId}`), 'requested');
  },
});
