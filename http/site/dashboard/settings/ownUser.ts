// What users change of themselves, whatever their role: the password, and the second factor, whose codes are shown once.
import { isRejection } from '../../../../domain/kernel/rejection.ts';
import { FORM, route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { qrSvg } from '../../qrSvg.ts';
import { modeParam, ofMember, PAGE, pageQuery, REDIRECT, type Reader, readerOf, redirect, shownPage } from '../page.ts';
import { copied } from '../secret.ts';
import { settingsContent } from './account.ts';
import { CONFIRM_PATH, codeInput } from './signIn.ts';

const SECTION = '/settings';
const acting = { ...ofMember, params: modeParam, query: pageQuery, body: FORM } as const;

const passwordRoute = route('POST', '/dashboard/{mode}/settings/password', {
  ...acting,
  operationId: 'changePasswordFromPage',
  summary: 'Change the password of the current user',
  responses: { 303: REDIRECT, 422: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { body } = context;
    // Spaces belong to a password.
    const [current, wanted] = [body.all('current')[0] ?? '', body.all('wanted')[0] ?? ''];
    const refused = await reader.services.changePassword(reader.caller, { current, wanted }, reader.actor, context);
    if (refused === null) return redirect(reader.to(SECTION), 'passwordChanged');
    if (refused.code !== 'invalid_request') return refused;
    const { settings } = reader.texts;
    const problem = refused.param === 'current_password' ? settings.wrongPassword : refused;
    return shownPage(422, context, reader, { ...settingsContent(reader), problem });
  },
});

/** The form that confirms the enrolment. `above` is what the app reads, shown once. */
const confirmContent = ({ texts, to, csrf }: Reader, above: Markup | null) => ({
  title: texts.settings.factor,
  section: SECTION,
  main: html`<div class="card stack">${above}<form method="post" class="stack" action="${to(CONFIRM_PATH)}">${csrf}${codeInput(texts.settings.code, null)}
<p class="row"><button>${texts.settings.confirm}</button><a href="${to(SECTION)}">${texts.back}</a></p></form></div>`,
});

const enrolRoute = route('POST', '/dashboard/{mode}/settings/second-factor', {
  ...acting,
  operationId: 'enrolFromPage',
  summary: 'Begin a second factor and show its secret once',
  responses: { 200: PAGE, 422: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { services, caller, texts } = reader;
    const { settings } = texts;
    const code = context.body.text('code');
    const begun = await services.enrolTotp(caller.userId, code === '' ? undefined : code);
    if (isRejection(begun)) {
      const problem = begun.code === 'second_factor_required' ? settings.needsCode : settings.wrongCode;
      return shownPage(422, context, reader, { ...settingsContent(reader), problem });
    }
    const above = html`<p class="muted">${settings.scan}</p>${qrSvg(begun.otpauthUrl, settings.qrCode)}<p class="muted">${settings.typeInstead}</p><p>${copied(begun.secret, reader)}</p>`;
    return shownPage(200, context, reader, confirmContent(reader, above));
  },
});

const confirmRoute = route('POST', '/dashboard/{mode}/settings/second-factor/confirm', {
  ...acting,
  operationId: 'confirmFromPage',
  summary: 'Confirm a second factor and show the recovery codes once',
  responses: { 200: PAGE, 422: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { services, caller, actor, texts, to } = reader;
    const { settings } = texts;
    const done = await services.confirmTotp(caller, context.body.text('code'), actor);
    if (isRejection(done)) {
      if (done.code !== 'invalid_request') return done;
      const problem = done.param === 'code' ? settings.wrongCode : settings.nothingPending;
      return shownPage(422, context, reader, { ...confirmContent(reader, null), problem });
    }
    services.reportSecurityEvent({
      security: 'second_factor_enrolled',
      by: caller.actor,
      requestId: context.requestId,
    });
    return shownPage(200, context, reader, {
      title: settings.recoveryCodes,
      section: SECTION,
      main: html`<section class="panel"><p class="notice good" role="status">${texts.shownOnce}</p><p class="muted">${settings.recoveryLead}</p>
<ul class="codes">${done.recoveryCodes.map((code) => html`<li><code>${code}</code></li>`)}</ul><p><a class="button second" href="${to(SECTION)}">${texts.back}</a></p></section>`,
    });
  },
});

export const OWN_USER_PAGES = [passwordRoute, enrolRoute, confirmRoute];
