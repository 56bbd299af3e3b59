// /account/password: the page behind a mailed password link (architecture §2).

import { reject } from '../../domain/kernel/rejection.ts';
import { PASSWORD_LENGTH } from '../../domain/user/password.ts';
import { DASHBOARD } from '../api/access/login.ts';
import * as s from '../kernel/jsonSchema.ts';
import { jsonBody, pathParam, type Route, route } from '../kernel/route.ts';
import { NOT_MODIFIED } from '../kernel/send.ts';
import { assetFolder, sentAsset } from './assets.ts';
import { checkoutContentSecurityPolicy } from './checkout/contentSecurityPolicy.ts';
import { html } from './html.ts';
import { ICON, LOGO } from './icons.ts';

// --- The page behind a mailed link, where a user sets a password. The link's secret follows the # of its address, so that the page is the
// same for all users. ---

const here = (name: string): URL => new URL(name, import.meta.url);

const FOLDER = assetFolder('/account/assets', {
  'preferences.css': here('preferences.css'),
  'checkout.css': here('checkout/checkout.css'),
  'password.css': here('password/password.css'),
  'password.js': here('password/password.js'),
  'favicon.svg': here('favicon.svg'),
});

const passwordAsset = FOLDER.find;

const PASSWORD_PAGE = html`<!doctype html>
<html lang="pt-BR">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<title>Sua senha na Quita</title>
<link rel="icon" type="image/svg+xml" href="${FOLDER.urlOf('favicon.svg')}">
<link rel="stylesheet" href="${FOLDER.urlOf('preferences.css')}">
<link rel="stylesheet" href="${FOLDER.urlOf('checkout.css')}">
<link rel="stylesheet" href="${FOLDER.urlOf('password.css')}">
<script type="module" src="${FOLDER.urlOf('password.js')}"></script>
</head>
<body>
<header><span class="brand">${LOGO}Quita</span></header>
<main>
<div class="summary"><div class="panel"><h1>Defina a sua senha</h1>
<p>De 12 a 128 caracteres, de qualquer tipo. Uma frase é uma boa senha.</p>
<form>
<label>Nova senha<input name="password" type="password" autocomplete="new-password" minlength="12" maxlength="256" required></label>
<label>Repita a nova senha<input name="repeated" type="password" autocomplete="new-password" required></label>
<button name="send">Salvar senha</button>
<output role="status"></output>
</form>
<noscript><p>Esta página precisa de JavaScript: o segredo do link não é enviado com o endereço.</p></noscript>
</div></div>
</main>
<footer>${ICON.lock}<p>O link vale por uma hora e pode ser usado uma única vez.</p></footer>
</body>
</html>
`.markup;

const assetRoute = route('GET', '/account/assets/{name}', {
  operationId: 'getAccountAsset',
  summary: 'Get a file of the password page',
  tag: DASHBOARD,
  principal: 'public',
  params: {
    name: pathParam(
      'The name of the file.',
      (text) => passwordAsset(text) ?? reject('not_found', 'There is no such file.'),
    ),
  },
  responses: {
    200: {
      kind: 'bytes',
      description: 'The file. Its URL in the page changes with its content.',
      contentTypes: ['text/css', 'text/javascript', 'image/svg+xml'],
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
  responses: { 200: { kind: 'page', description: 'The page, the same for every link.' } },
  handle: async () => ({
    status: 200,
    headers: { 'Content-Security-Policy': checkoutContentSecurityPolicy },
    page: PASSWORD_PAGE,
  }),
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
