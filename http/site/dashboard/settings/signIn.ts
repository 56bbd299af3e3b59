// The user's own password and second factor: forms and their results. The same for members of accounts and operators.
import { isRejection, type Rejection } from '../../../../domain/kernel/rejection.ts';
import { PASSWORD_LENGTH } from '../../../../domain/user/password.ts';
import { CODE_LENGTH_MAX } from '../../../api/access/login.ts';
import type { Form } from '../../../kernel/forms.ts';
import type { AppServices } from '../../../kernel/serverContext.ts';
import { html, type Markup } from '../../html.ts';
import { qrSvg } from '../../qrSvg.ts';
import type { Content, Person } from '../page.ts';
import { copied } from '../secret.ts';

/** The section that contains them. */
export const SETTINGS = '/settings';
const PASSWORD_PATH = '/settings/password';
const FACTOR_PATH = '/settings/second-factor';
const CONFIRM_PATH = `${FACTOR_PATH}/confirm`;

const codeInput = (label: string, hint: string | null): Markup =>
  html`<label>${label}<input name="code" maxlength="${CODE_LENGTH_MAX}" autocomplete="one-time-code">${hint === null ? null : html`<span class="muted small">${hint}</span>`}</label>`;

export const signInPanels = ({ texts, to, csrf, caller }: Person): Markup => {
  const { settings } = texts;
  return html`<section class="panel"><h2>${settings.password}</h2><form method="post" class="stack" action="${to(PASSWORD_PATH)}">${csrf}
<input type="hidden" name="username" value="${caller.email}" autocomplete="username">
<label>${settings.currentPassword}<input name="current" type="password" autocomplete="current-password" required></label>
<label>${settings.newPassword}<input name="wanted" type="password" minlength="${PASSWORD_LENGTH.min}" autocomplete="new-password" required><span class="muted small">${settings.passwordHint(PASSWORD_LENGTH.min)}</span></label>
<p><button>${settings.changePassword}</button></p></form></section>
<section class="panel"><h2>${settings.factor}</h2><p class="muted">${settings.factorLead}</p><form method="post" class="stack" action="${to(FACTOR_PATH)}">${csrf}
${codeInput(settings.currentCode, settings.currentCodeHint)}<p><button class="second">${settings.enrol}</button></p></form></section>`;
};

interface Problem {
  readonly problem: string;
}

/** Returns null, a problem with the submitted values, or another rejection. */
export const changeOwnPassword = async (
  { services, caller, actor, texts: { settings } }: Person,
  body: Form,
  waits: Parameters<AppServices['changePassword']>[3],
): Promise<null | Problem | Rejection> => {
  // Spaces belong to a password.
  const [current, wanted] = [body.all('current')[0] ?? '', body.all('wanted')[0] ?? ''];
  const refused = await services.changePassword(caller, { current, wanted }, actor, waits);
  if (refused?.code !== 'invalid_request') return refused;
  return { problem: refused.param === 'current_password' ? settings.wrongPassword : refused.message };
};

/** Returns the page that confirms the enrollment. `above`: the secret for the authenticator app, shown once. */
const confirmContent = ({ texts, to, csrf }: Person, above: Markup | null): Content => ({
  title: texts.settings.factor,
  section: SETTINGS,
  main: html`<div class="card stack">${above}<form method="post" class="stack" action="${to(CONFIRM_PATH)}">${csrf}${codeInput(texts.settings.code, null)}
<p class="row"><button>${texts.settings.confirm}</button><a href="${to(SETTINGS)}">${texts.back}</a></p></form></div>`,
});

/** Begins a second factor. Returns the page with its secret, or the problem with the current factor's code. */
export const beginEnrolment = async (person: Person, code: string): Promise<Content | Problem> => {
  const { services, caller, texts } = person;
  const { settings } = texts;
  const begun = await services.enrolTotp(caller.userId, code === '' ? undefined : code);
  if (isRejection(begun))
    return { problem: begun.code === 'second_factor_required' ? settings.needsCode : settings.wrongCode };
  const above = html`<p class="muted">${settings.scan}</p>${qrSvg(begun.otpauthUrl, settings.qrCode)}<p class="muted">${settings.typeInstead}</p><p>${copied(begun.secret, person)}</p>`;
  return confirmContent(person, above);
};

/** Confirms a second factor. Returns the page with the recovery codes, or the form again with the problem of the code. */
export const confirmEnrolment = async (person: Person, code: string): Promise<Content | Rejection> => {
  const { services, caller, actor, texts, to } = person;
  const { settings } = texts;
  const done = await services.confirmTotp(caller, code, actor);
  if (isRejection(done)) {
    if (done.code !== 'invalid_request') return done;
    const problem = done.param === 'code' ? settings.wrongCode : settings.nothingPending;
    return { ...confirmContent(person, null), problem };
  }
  services.reportSecurityEvent({ security: 'second_factor_enrolled', by: caller.actor, requestId: actor.requestId });
  return {
    title: settings.recoveryCodes,
    section: SETTINGS,
    main: html`<section class="panel"><p class="notice good" role="status">${texts.shownOnce}</p><p class="muted">${settings.recoveryLead}</p>
<ul class="codes">${done.recoveryCodes.map((one) => html`<li><code>${one}</code></li>`)}</ul><p><a class="button second" href="${to(SETTINGS)}">${texts.back}</a></p></section>`,
  };
};
