// /dashboard/{mode}/settings: the settings that belong to the merchant, and those that an operator agreed with it.
import { LOGO_TYPES } from '../../../../application/ports/logos.ts';
import { type AccountSettings, agreedSettings } from '../../../../domain/account/account.ts';
import { PAYMENT_METHODS, type PaymentMethod } from '../../../../domain/charge/methods.ts';
import { isRejection, type Rejection } from '../../../../domain/kernel/rejection.ts';
import { formatAmount } from '../../../../domain/presentation/amount.ts';
import type { Fee } from '../../../../domain/transaction/fees.ts';
import { refusalFor } from '../../../api/accounts/account.ts';
import { accountSchemas } from '../../../api/accounts/accountSchema.ts';
import { FORM, route } from '../../../kernel/route.ts';
import { logoPath } from '../../checkout/view.ts';
import { html, type Markup } from '../../html.ts';
import { shownValues } from '../edit.ts';
import {
  modeParam,
  ofMember,
  PAGE,
  type Person,
  pageQuery,
  REDIRECT,
  type Reader,
  readerOf,
  redirect,
  shownPage,
  unlessManager,
} from '../page.ts';
import { tableOf } from '../tables.ts';
import { type Field, MANAGERS_FIELDS, OWNERS_FIELDS } from './fieldNames.ts';
import { changeOf, comparable, editedOf, type Fields, fieldsOf } from './fields.ts';
import { signInPanels } from './signIn.ts';

export const SECTION = '/settings';

const input = (
  name: Exclude<Field, 'anyDestination'>,
  value: string | undefined,
  mode: string,
  { texts: { settings } }: Reader,
): Markup =>
  html`<label>${settings.fields[name]}<input name="${name}" value="${value ?? ''}" inputmode="${mode}" autocomplete="off"><span class="muted small">${settings.hints[name]}</span></label>`;

/** A form that only some roles can send. Others see its values. */
const formOf = (title: string, refusal: string | null, inputs: Markup, { texts, to, csrf }: Reader): Markup =>
  html`<section class="panel"><h2>${title}</h2>${refusal === null ? null : html`<p class="muted">${refusal}</p>`}<form method="post" action="${to(SECTION)}">${csrf}${
    refusal === null
      ? html`<fieldset class="stack narrow"><legend class="hidden">${title}</legend>${inputs}<p><button>${texts.save}</button></p></fieldset>`
      : html`<fieldset class="stack narrow" disabled><legend class="hidden">${title}</legend>${inputs}</fieldset>`
  }</form></section>`;

/** The hidden values that a form showed. */
const shownOf = (names: readonly Field[], present: Fields): Markup => {
  const values = comparable(present);
  return shownValues(Object.fromEntries(names.flatMap((name) => (name in values ? [[name, values[name]]] : []))));
};

/** `edited`: values that are not saved yet. */
const forms = (present: Fields, edited: Fields, reader: Reader): Markup => {
  const fields = { ...present, ...edited };
  const { texts, caller } = reader;
  const { settings, payment } = texts;
  const managers = html`${shownOf(MANAGERS_FIELDS, present)}${input('color', fields.color, 'text', reader)}${input('chargeWindow', fields.chargeWindow, 'decimal', reader)}`;
  const any =
    fields.anyDestination === 'on'
      ? html`<input type="checkbox" name="anyDestination" value="on" checked>`
      : html`<input type="checkbox" name="anyDestination" value="on">`;
  const owners = html`${shownOf(OWNERS_FIELDS, present)}${input('payoutApprovalAbove', fields.payoutApprovalAbove, 'decimal', reader)}
${input('payoutCount', fields.payoutCount, 'numeric', reader)}${input('payoutSum', fields.payoutSum, 'decimal', reader)}
${input('refundCount', fields.refundCount, 'numeric', reader)}${input('refundSum', fields.refundSum, 'decimal', reader)}
<label>${settings.fields.destinations}<textarea name="destinations" rows="4">${fields.destinations ?? ''}</textarea><span class="muted small">${settings.hints.destinations}</span></label>
<label class="box">${any}${settings.fields.anyDestination}</label>`;
  return html`${formOf(settings.own, reader.mayManage ? null : payment.mayNot, managers, reader)}
${formOf(settings.guards, caller.role === 'OWNER' ? null : settings.ownersOnly, owners, reader)}`;
};

const feeText = ({ percentBps, fixed }: Fee, { language }: Person): string => {
  const percent = (percentBps / 100).toLocaleString(language === 'pt' ? 'pt-BR' : 'en-GB');
  return `${percent} % + ${formatAmount(fixed, 'BRL', language)}`;
};

/** The settings that only an operator of the platform can change. `lead` explains this to members. */
export const agreedPanel = (all: AccountSettings, lead: string | null, reader: Person): Markup => {
  const { texts } = reader;
  const { settings } = texts;
  const row = (method: PaymentMethod): Markup => {
    const { provider, platform } = all.fees[method];
    return html`<tr><th scope="row">${texts.methods[method]}</th><td>${feeText(provider, reader)}</td><td>${feeText(platform, reader)}</td>
<td>${all.holdDays[method]}</td></tr>`;
  };
  const fact = (label: string, value: string): Markup => html`<div><dt>${label}</dt><dd>${value}</dd></div>`;
  return html`<section class="panel"><h2>${settings.agreed}</h2>${lead === null ? null : html`<p class="muted">${lead}</p>`}<dl>
${fact(settings.merchantName, all.merchantName)}${fact(settings.taxId, all.taxId ?? texts.none)}
${fact(settings.receiver, `${all.receiverName}, ${all.receiverCity}`)}
${fact(settings.velocity, settings.perHour(all.velocity.customerPerHour, all.velocity.accountPerHour))}</dl>
${tableOf(settings.agreed, [texts.payments.method, texts.payment.providerFee, texts.payment.platformFee, settings.holdDays], PAYMENT_METHODS.map(row))}</section>`;
};

/** The logo with its forms, or why the reader can’t change it. The token precedes the file, so that it is checked first. */
export const logoPanel = (
  { logo: hash }: AccountSettings,
  path: string,
  refusal: string | null,
  { texts, csrf }: Person,
): Markup => {
  const { settings: words, uploads } = texts;
  const forms = html`<form method="post" enctype="multipart/form-data" class="action" action="${path}" data-upload>${csrf}
<label class="drop">${uploads.image}<input type="file" name="logo" required accept="${LOGO_TYPES.join(',')}"><span class="muted small">${uploads.imageHint}</span></label>
<progress max="1" value="0" aria-label="${uploads.progress}" hidden></progress><p data-cut="${uploads.cut}" class="notice bad" role="alert" hidden></p>
<button>${uploads.send}</button></form>${hash === null ? null : html`<form method="post" action="${path}/remove">${csrf}<button class="danger">${uploads.removeImage}</button></form>`}`;
  return html`<section class="panel"><h2>${words.logo}</h2>${hash === null ? null : html`<p><img src="${logoPath(hash)}" alt="${words.logo}" class="logo-image"></p>`}
<p class="muted">${words.logoLead}</p>${refusal === null ? forms : html`<p class="muted">${refusal}</p>`}</section>`;
};

const team = ({ texts, mayManage, to }: Reader): Markup =>
  html`<section class="panel"><h2>${texts.team.title}</h2>${mayManage ? html`<p><a href="${to('/settings/team')}">${texts.team.see}</a></p>` : html`<p class="muted">${texts.team.onlyManagers}</p>`}</section>`;

/** `edited`: rejected values, as typed. */
export const settingsContent = (reader: Reader, edited: Fields = {}) => {
  const { caller, services, texts, mayManage, to } = reader;
  const all = agreedSettings(caller.account.settings, services.accounts.declared.settings);
  const logo = logoPanel(all, to('/settings/logo'), mayManage ? null : texts.payment.mayNot, reader);
  return {
    title: texts.pages.settings,
    section: SECTION,
    main: html`<div class="two"><div>${forms(fieldsOf(all, reader), edited, reader)}</div><div>${logo}${team(reader)}${signInPanels(reader)}</div></div>${agreedPanel(all, texts.settings.agreedLead, reader)}`,
  };
};

const settingsRoute = route('GET', '/dashboard/{mode}/settings', {
  ...ofMember,
  operationId: 'showSettings',
  summary: 'Show the settings of the account',
  params: modeParam,
  query: pageQuery,
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    return shownPage(200, context, reader, settingsContent(reader));
  },
});

/** Changes the settings by the rules of the API. Returns null, or the rejection. */
const changed = async (
  fields: Fields,
  { caller, services, tenant, actor, texts }: Reader,
): Promise<Rejection | null> => {
  const change = changeOf(fields);
  if ('misread' in change) {
    const message = texts.settings.badValue(texts.settings.fields[change.misread as Field]);
    return { rejected: true, code: 'invalid_request', message };
  }
  const refusal = refusalFor(accountSchemas(services.accounts.declared), change, caller);
  if (refusal !== null) return refusal;
  const done = await services.changeAccountSettings(tenant.accountId, change, actor);
  return isRejection(done) ? done : null;
};

const changeRoute = route('POST', '/dashboard/{mode}/settings', {
  ...ofMember,
  operationId: 'changeSettingsFromPage',
  summary: 'Change settings of the account',
  params: modeParam,
  query: pageQuery,
  refusalOf: unlessManager,
  body: FORM,
  responses: { 303: REDIRECT, 422: PAGE },
  handle: async (context) => {
    const asking = readerOf(context);
    const account = await asking.services.accounts.refresh(asking.tenant.accountId);
    const reader = { ...asking, caller: { ...asking.caller, account } };
    const { settings: words } = reader.texts;
    const present = agreedSettings(account.settings, reader.services.accounts.declared.settings);
    const { edited, contested } = editedOf(context.body, present, reader);
    const again = (problem: string | Rejection) =>
      shownPage(422, context, reader, { ...settingsContent(reader, edited), problem });
    if (contested.length > 0) return again(words.contested(contested.map((name) => words.fields[name]).join(', ')));
    const refused = await changed(edited, reader);
    if (refused === null) return redirect(reader.to(SECTION), 'settingsChanged');
    if (refused.code === 'role_required') return refused;
    return again(refused);
  },
});

export const ACCOUNT_PAGES = [settingsRoute, changeRoute];
