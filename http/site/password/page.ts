// The page behind a mailed link, where a user sets a password. The link's secret follows the # of its address, so that the page is the same
// for all users.
import { assetFolder } from '../assets.ts';
import { html } from '../html.ts';
import { ICON, LOGO } from '../icons.ts';

const here = (name: string): URL => new URL(name, import.meta.url);

const FOLDER = assetFolder('/account/assets', {
  'preferences.css': here('../preferences.css'),
  'checkout.css': here('../checkout/checkout.css'),
  'password.css': here('password.css'),
  'password.js': here('password.js'),
  'favicon.svg': here('../favicon.svg'),
});

export const passwordAsset = FOLDER.find;

export const PASSWORD_PAGE = html`<!doctype html>
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
