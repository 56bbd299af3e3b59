// The forms of the user's own password and second factor.
import { PASSWORD_LENGTH } from '../../../../domain/user/password.ts';
import { CODE_LENGTH_MAX } from '../../../api/access/login.ts';
import { html, type Markup } from '../../html.ts';
import type { Reader } from '../page.ts';

const PASSWORD_PATH = '/settings/password';
const FACTOR_PATH = '/settings/second-factor';
export const CONFIRM_PATH = `${FACTOR_PATH}/confirm`;

export const codeInput = (label: string, hint: string | null): Markup =>
  html`<label>${label}<input name="code" maxlength="${CODE_LENGTH_MAX}" autocomplete="one-time-code">${hint === null ? null : html`<span class="muted small">${hint}</span>`}</label>`;

export const signInPanels = ({ texts, to, csrf, caller }: Reader): Markup => {
  const { settings } = texts;
  return html`<section class="panel"><h2>${settings.password}</h2><form method="post" class="stack" action="${to(PASSWORD_PATH)}">${csrf}
<input type="hidden" name="username" value="${caller.email}" autocomplete="username">
<label>${settings.currentPassword}<input name="current" type="password" autocomplete="current-password" required></label>
<label>${settings.newPassword}<input name="wanted" type="password" minlength="${PASSWORD_LENGTH.min}" autocomplete="new-password" required><span class="muted small">${settings.passwordHint(PASSWORD_LENGTH.min)}</span></label>
<p><button>${settings.changePassword}</button></p></form></section>
<section class="panel"><h2>${settings.factor}</h2><p class="muted">${settings.factorLead}</p><form method="post" class="stack" action="${to(FACTOR_PATH)}">${csrf}
${codeInput(settings.currentCode, settings.currentCodeHint)}<p><button class="second">${settings.enrol}</button></p></form></section>`;
};
