// The error page for browsers, instead of an error body: unknown addresses, expired links, /login.
import type { Language } from '../../domain/presentation/amount.ts';
import type { ErrorPage, ShownError } from '../kernel/send.ts';
import { docsContentSecurityPolicy, layout } from './docs/layout.ts';
import { html, type Markup } from './html.ts';
import { chooseLanguage, LANGUAGE_TAG } from './language.ts';

interface Text {
  readonly title: string;
  readonly text: Markup;
}
interface Texts {
  readonly skip: string;
  readonly home: string;
  readonly docs: string;
  readonly request: string;
  readonly missing: Text;
  readonly expired: Text;
  readonly busy: Text;
  readonly fault: Text;
  readonly other: Text;
  readonly login: Text;
}

const TEXTS: { readonly [L in Language]: Texts } = {
  pt: {
    skip: 'Ir para o conteúdo',
    home: 'Página inicial',
    docs: 'Documentação',
    request: 'Identificador da requisição',
    missing: {
      title: 'Página não encontrada',
      text: html`<p>Confira o endereço. Se você abriu um link, ele pode ter expirado: peça um novo a quem o enviou.</p>`,
    },
    expired: {
      title: 'Este link não é mais válido',
      text: html`<p>Links de documentos valem por poucos minutos. Consulte a lista de documentos de novo para receber um novo link.</p>`,
    },
    busy: { title: 'Muitas requisições', text: html`<p>Aguarde um minuto e tente de novo.</p>` },
    fault: { title: 'O serviço não está disponível', text: html`<p>Tente de novo em alguns instantes.</p>` },
    other: { title: 'A requisição não foi aceita', text: html`<p>Confira o endereço.</p>` },
    login: {
      title: 'O painel ainda não está disponível',
      text: html`<p>Esta versão da Quita não tem painel. Hoje, os usuários de uma conta usam a API:</p>
<ul><li><a href="/docs#logIn">Entrar</a> e receber um token, válido por uma hora</li>
<li><a href="/docs#listApiKeys">Gerenciar as chaves de API</a></li>
<li><a href="/docs#getAccount">Ver a conta e suas configurações</a></li>
<li><a href="/docs#requestPasswordReset">Pedir um link para uma nova senha</a></li></ul>`,
    },
  },
  en: {
    skip: 'Skip to content',
    home: 'Home page',
    docs: 'Documentation',
    request: 'Request id',
    missing: {
      title: 'Page not found',
      text: html`<p>Check the address. If you followed a link, it may have expired: ask the sender for a new one.</p>`,
    },
    expired: {
      title: 'This link is no longer valid',
      text: html`<p>Links to documents are valid for a few minutes. Request the list of documents again to get a new link.</p>`,
    },
    busy: { title: 'Too many requests', text: html`<p>Wait a minute, then try again.</p>` },
    fault: { title: 'The service is unavailable', text: html`<p>Try again in a moment.</p>` },
    other: { title: 'The request was rejected', text: html`<p>Check the address.</p>` },
    login: {
      title: 'The dashboard is not available yet',
      text: html`<p>This version of Quita has no dashboard. Today, the users of an account use the API:</p>
<ul><li><a href="/docs#logIn">Log in</a> and receive a token that is valid for one hour</li>
<li><a href="/docs#listApiKeys">Manage API keys</a></li>
<li><a href="/docs#getAccount">View the account and its settings</a></li>
<li><a href="/docs#requestPasswordReset">Request a link for a new password</a></li></ul>`,
    },
  },
};

const textOf = ({ path, code, status }: ShownError, texts: Texts): Text => {
  if (path === '/login' && code === 'not_found') return texts.login;
  if (code === 'invalid_signature' || status === 410) return texts.expired;
  if (status === 404) return texts.missing;
  if (status === 429) return texts.busy;
  return status >= 500 ? texts.fault : texts.other;
};

/** Returns the page of an error. It contains nothing of the request. */
export const errorPage: ErrorPage = (error) => {
  const { language } = chooseLanguage(undefined, error.prefers);
  const texts = TEXTS[language];
  const { title, text } = textOf(error, texts);
  const page = layout({
    lang: LANGUAGE_TAG[language],
    title: `${title} · Quita`,
    description: title,
    kind: 'home',
    skip: texts.skip,
    home: '/',
    top: html``,
    main: html`<main id="content" class="prose notice"><p class="code-of">${error.status}</p><h1>${title}</h1>
${text}<p class="actions"><a class="button" href="/">${texts.home}</a><a class="button second" href="/docs">${texts.docs}</a></p>
<p class="muted">${texts.request}: <code>${error.requestId}</code></p></main>`,
    foot: html`<a href="/">Quita</a><a href="/docs">${texts.docs}</a>`,
  });
  return {
    page,
    headers: {
      'Content-Security-Policy': docsContentSecurityPolicy,
      'Content-Language': LANGUAGE_TAG[language],
      'Referrer-Policy': 'no-referrer',
    },
  };
};
