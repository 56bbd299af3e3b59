// Signing in and out, and requesting a new password. Uses no scripts and never reveals whether an address exists.
import { isRejection } from '../../../domain/kernel/rejection.ts';
import type { Language } from '../../../domain/presentation/amount.ts';
import { EMAIL_LENGTH_MAX } from '../../api/access/login.ts';
import { networkOf } from '../../kernel/address.ts';
import { PLATFORM_PAGES, SIGN_IN } from '../../kernel/callers.ts';
import { sessionCookieName, setCookie } from '../../kernel/cookies.ts';
import { matching } from '../../kernel/query.ts';
import { FORM, type FormBody, type RouteContext, route } from '../../kernel/route.ts';
import type { AppServices } from '../../kernel/serverContext.ts';
import { html, type Markup } from '../html.ts';
import { languageQuery } from '../language.ts';
import { languages, notice, pageAlone } from './layout.ts';
import { languageOf, PAGE, PAGES, pageHeaders, REDIRECT, redirect, TEXTS } from './page.ts';

/** Only pages of the dashboard, so that a link can't redirect to another site. */
const OWN_PAGE = /^\/dashboard(?:[/?][\w\-./?=&%]*)?$/;
const isOperatorsPage = (page: string): boolean => page.split(/[/?]/, 4).slice(0, 3).join('/') === PLATFORM_PAGES;
const START = '/dashboard';
const nextOf = (text: string | undefined): string => (text !== undefined && OWN_PAGE.test(text) ? text : START);

/** Returns the requested page, or `/dashboard` if the page is not for this kind of user. */
const nextFor = (next: string, isOperator: boolean): string => (isOperatorsPage(next) === isOperator ? next : START);

const query = {
  ...languageQuery,
  next: matching('The page to show afterwards.', 'a page of the dashboard', nextOf),
  out: matching('Whether the user has just signed out.', '1', (text) => text),
  reset: matching('Whether a link for a new password was asked for.', '1', (text) => text),
} as const;

interface Shown {
  readonly language: Language;
  /** Whether only operators sign in here. */
  readonly isOfOperators: boolean;
  readonly next: string;
  readonly email?: string;
  readonly problem?: Markup | string;
  readonly said?: string | null;
}

const signInPage = ({ language, isOfOperators, next, email = '', problem, said = null }: Shown): string => {
  const { signIn: texts } = TEXTS[language];
  return pageAlone(
    language,
    texts.title,
    isOfOperators ? START : '/',
    languages(language, TEXTS[language].language, SIGN_IN),
    html`<div class="card"><h1>${texts.title}</h1>
${notice(problem ?? said, problem !== undefined)}
<p class="muted">${isOfOperators ? texts.operatorsLead : texts.lead}</p>
<form method="post" action="${SIGN_IN}" class="stack">
<input type="hidden" name="next" value="${next}">
<label>${texts.email}<input name="email" type="email" value="${email}" autocomplete="username" required></label>
<label>${texts.password}<input name="password" type="password" autocomplete="current-password" required></label>
<label>${texts.code}<input name="code" inputmode="numeric" autocomplete="one-time-code"><span class="muted small">${texts.codeHint}</span></label>
<button>${texts.button}</button>
</form>
<details><summary>${texts.forgotten}</summary>
<form method="post" action="/dashboard/password-reset" class="stack"><p class="muted">${texts.resetLead}</p>
<label>${texts.email}<input name="email" type="email" value="${email}" autocomplete="username" required></label>
<button class="second">${texts.resetButton}</button></form></details></div>`,
  );
};

const ofVisitor = { tag: PAGES, principal: 'public' } as const;

const showSignIn = route('GET', SIGN_IN, {
  ...ofVisitor,
  operationId: 'showSignIn',
  summary: 'Show the page to sign in',
  query,
  responses: { 200: PAGE },
  handle: async (context) => {
    const language = languageOf(context);
    const { signIn: texts } = TEXTS[language];
    const { next, out, reset } = context.query;
    const said = out ? texts.signedOut : reset ? texts.resetSent : null;
    return {
      status: 200,
      headers: pageHeaders(context, language),
      page: signInPage({ language, isOfOperators: !context.services.hasMembersPages, next: next ?? START, said }),
    };
  },
});

/** Returns the page's words for a failed login. */
const problemOf = (code: string, { signIn: texts }: (typeof TEXTS)[Language]): string =>
  code === 'second_factor_required' ? texts.needsCode : code === 'role_required' ? texts.elsewhere : texts.wrong;

/** Starts a session, unless the user's pages are on another listener. Returns the problem that the page shows. */
const logInHere = async (
  { services, body }: Pick<RouteContext<'public', never, never, FormBody>, 'services' | 'body'>,
  waits: Parameters<AppServices['logIn']>[2],
  language: Language,
) => {
  const [email, password, code] = [body.text('email'), body.all('password')[0] ?? '', body.text('code')];
  const credentials = { email, password, ...(code !== '' && { code }) };
  const done = await services.logIn(credentials, services.operatorsLogIn, waits);
  if (isRejection(done)) return { problem: problemOf(done.code, TEXTS[language]) };
  if (services.hasMembersPages || done.user.role === 'OPERATOR') return done;
  const session = await services.findSession(done.token);
  if (session !== null) await services.logOut(session.sessionId);
  const { signIn: texts } = TEXTS[language];
  return {
    problem: html`${texts.membersElsewhere} <a href="${services.baseUrl}${START}">${services.baseUrl}${START}</a>`,
  };
};

const signIn = route('POST', SIGN_IN, {
  ...ofVisitor,
  operationId: 'signIn',
  summary: 'Sign in to the dashboard',
  limit: 'login',
  query: languageQuery,
  body: FORM,
  responses: { 303: REDIRECT, 401: { kind: 'page', description: 'The page again, with what is wrong.' } },
  handle: async (context) => {
    const { body, services, address, requestId } = context;
    const { baseUrl: publicUrl } = services;
    const next = nextOf(body.text('next'));
    const language = languageOf(context);
    const done = await logInHere(context, context, language);
    if ('problem' in done) {
      services.reportSecurityEvent({ security: 'login_failed', network: networkOf(address), requestId });
      const shown = { language, isOfOperators: !services.hasMembersPages, next, email: body.text('email') };
      return {
        status: 401,
        headers: pageHeaders(context, language),
        page: signInPage({ ...shown, problem: done.problem }),
      };
    }
    // The session that this browser had before ends.
    const before = context.cookie(sessionCookieName(publicUrl));
    const replaced = before === null ? null : await services.findSession(before);
    if (replaced !== null) await services.logOut(replaced.sessionId);
    const cookie = setCookie(sessionCookieName(publicUrl), done.token, {
      maxAgeSeconds: done.expiresInSeconds,
      publicUrl,
    });
    const page = nextFor(next, done.user.role === 'OPERATOR');
    return { status: 303, headers: { ...redirect(page).headers, 'Set-Cookie': cookie } };
  },
});

const signOut = route('POST', '/dashboard/sign-out', {
  tag: PAGES,
  principal: 'anyMember',
  operationId: 'signOut',
  summary: 'Sign out of the dashboard',
  limit: 'logOut',
  body: FORM,
  responses: { 303: REDIRECT },
  handle: async ({ caller, services }) => {
    await services.logOut(caller.sessionId);
    const cookie = setCookie(sessionCookieName(services.baseUrl), '', {
      maxAgeSeconds: 0,
      publicUrl: services.baseUrl,
    });
    return { status: 303, headers: { Location: `${SIGN_IN}?out=1`, 'Set-Cookie': cookie } };
  },
});

const askForPassword = route('POST', '/dashboard/password-reset', {
  ...ofVisitor,
  operationId: 'askForPassword',
  summary: 'Ask for a link to set a new password',
  limit: 'login',
  body: FORM,
  responses: { 303: REDIRECT },
  handle: async ({ body, services }) => {
    const email = body.text('email');
    // No user has a longer address.
    if (email.length <= EMAIL_LENGTH_MAX) await services.requestPasswordLink('reset', email);
    return { status: 303, headers: { Location: `${SIGN_IN}?reset=1` } };
  },
});

export const SIGN_IN_ROUTES = [showSignIn, signIn, signOut, askForPassword];
