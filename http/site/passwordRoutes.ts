// /account/password: the page behind a mailed password link (architecture §2).

import { reject } from '../../domain/kernel/rejection.ts';
import type { Language } from '../../domain/presentation/amount.ts';
import { PASSWORD_LENGTH } from '../../domain/user/password.ts';
import { DASHBOARD } from '../api/access/login.ts';
import { SIGN_IN } from '../kernel/callers.ts';
import * as s from '../kernel/jsonSchema.ts';
import { jsonBody, pathParam, type Route, route } from '../kernel/route.ts';
import { NOT_MODIFIED } from '../kernel/send.ts';
import { assetFolder, sentAsset } from './assets.ts';
import { checkoutContentSecurityPolicy } from './checkout/contentSecurityPolicy.ts';
import { documentOf } from './dashboard/layout.ts';
import { languageOf, pageHeaders, TEXTS } from './dashboard/page.ts';
import { html } from './html.ts';
import { LOGO } from './icons.ts';
import { languageQuery } from './language.ts';

// --- The page behind a mailed link, where a user sets a password. The link's secret follows the # of its address, so that the page is the
// same for all users. ---

const here = (name: string): URL => new URL(name, import.meta.url);

const FOLDER = assetFolder('/account/assets', { 'password.js': here('password/password.js') });

const page = (language: Language): string => {
  const { password: texts } = TEXTS[language];
  const form = html`<form class="stack" data-mismatch="${texts.mismatch}" data-wait="${texts.wait}" data-done="${texts.done}"
data-failed="${texts.failed}" data-offline="${texts.offline}" data-token="${texts.dead}" data-password="${texts.rule(PASSWORD_LENGTH)}">
<label>${texts.wanted}<input name="password" type="password" autocomplete="new-password" minlength="${PASSWORD_LENGTH.min}" maxlength="${2 * PASSWORD_LENGTH.max}" required></label>
<label>${texts.repeated}<input name="repeated" type="password" autocomplete="new-password" required></label>
<button name="send">${texts.save}</button><output class="notice" role="status" hidden></output></form>`;
  return documentOf({
    ...{ language, title: texts.title, kind: 'alone', scripts: [FOLDER.urlOf('password.js')] },
    body: html`<header><div class="bar"><a class="brand" href="/">${LOGO}<span>Quita</span></a></div></header>
<main id="content"><div class="card"><h1>${texts.title}</h1><p class="muted">${texts.rule(PASSWORD_LENGTH)} ${texts.lead}</p>${form}
<p class="muted">${texts.note} <a href="${SIGN_IN}">${texts.signIn}</a></p><noscript><p class="notice bad">${texts.noScript}</p></noscript></div></main>`,
  });
};

const assetRoute = route('GET', '/account/assets/{name}', {
  operationId: 'getAccountAsset',
  summary: 'Get the script of the password page',
  tag: DASHBOARD,
  principal: 'public',
  params: {
    name: pathParam(
      'The name of the file.',
      (text) => FOLDER.find(text) ?? reject('not_found', 'There is no such file.'),
    ),
  },
  responses: {
    200: {
      kind: 'bytes',
      description: 'The file. Its URL in the page changes with its content.',
      contentTypes: ['text/javascript'],
    },
    304: NOT_MODIFIED,
  },
  handle: async ({ params: { name: asset } }) => sentAsset(asset),
});

const pageRoute = route('GET', '/account/password', {
  operationId: 'showPasswordPage',
  summary: 'Show the page where a user with a mailed link sets a password',
  tag: DASHBOARD,
  principal: 'public',
  query: languageQuery,
  responses: { 200: { kind: 'page', description: 'The page, the same for every link.' } },
  handle: async (context) => {
    const language = languageOf(context);
    const headers = {
      ...pageHeaders(context, language),
      // The script sends the password, so the page needs no form target.
      'Content-Security-Policy': checkoutContentSecurityPolicy,
      'Referrer-Policy': 'no-referrer',
    };
    return { status: 200, headers, page: page(language) };
  },
});

const setPasswordRoute = route('POST', '/account/password', {
  operationId: 'setPassword',
  summary: 'Set a password with a link’s secret; ends the user’s sessions',
  tag: DASHBOARD,
  principal: 'public',
  limit: 'login',
  body: jsonBody({
    schema: s.accepting({
      token: s.described('The secret after the `#` of the link.', s.string(128)),
      password: s.described(
        `${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters of any kind.`,
        s.string(1_024),
      ),
    }),
  }),
  responses: { 204: { kind: 'empty', description: 'The password is set, and the link is used up.' } },
  handle: async (context) =>
    (await context.services.setPassword(context.body, context.requestId, context)) ?? { status: 204 },
});

export const PASSWORD_ROUTES: readonly Route[] = [assetRoute, pageRoute, setPasswordRoute];
