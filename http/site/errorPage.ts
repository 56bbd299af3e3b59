// The error page for browsers, instead of an error body: unknown addresses, expired links, ended sessions.
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
  readonly signedOut: Text;
  readonly stale: Text;
  readonly forbidden: Text;
  readonly forMembers: Text;
  readonly forOperators: Text;
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
    signedOut: {
      title: 'A sessão terminou',
      text: html`<p>Nada foi alterado. <a href="/dashboard">Entre de novo no painel.</a></p>`,
    },
    stale: {
      title: 'Esta página é de outra sessão',
      text: html`<p>Você entrou de novo, talvez como outra pessoa, depois de abrir a página. Nada foi alterado. <a href="/dashboard">Volte ao painel.</a></p>`,
    },
    forbidden: {
      title: 'Sem permissão',
      text: html`<p>O seu papel na conta não permite isso. <a href="/dashboard">Volte ao painel.</a></p>`,
    },
    forMembers: {
      title: 'Esta página é dos lojistas',
      text: html`<p>Você entrou como operador da plataforma. <a href="/dashboard">Vá para as páginas de operadores.</a></p>`,
    },
    forOperators: {
      title: 'Esta página é dos operadores da plataforma',
      text: html`<p>Você entrou como usuário de uma conta. <a href="/dashboard">Vá para o painel da sua conta.</a></p>`,
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
    signedOut: {
      title: 'The session has ended',
      text: html`<p>Nothing was changed. <a href="/dashboard">Sign in to the dashboard again.</a></p>`,
    },
    stale: {
      title: 'This page belongs to another session',
      text: html`<p>After you opened the page, you signed in again, perhaps as somebody else. Nothing was changed. <a href="/dashboard">Return to the dashboard.</a></p>`,
    },
    forbidden: {
      title: 'Not allowed',
      text: html`<p>Your role in the account does not allow this. <a href="/dashboard">Return to the dashboard.</a></p>`,
    },
    forMembers: {
      title: 'This page is for merchants',
      text: html`<p>You signed in as an operator of the platform. <a href="/dashboard">Go to the operators’ pages.</a></p>`,
    },
    forOperators: {
      title: 'This page is for operators of the platform',
      text: html`<p>You signed in as a user of an account. <a href="/dashboard">Go to your account’s dashboard.</a></p>`,
    },
  },
};

const textOf = ({ code, status, isFor }: ShownError, texts: Texts): Text => {
  if (isFor !== undefined) return isFor === 'members' ? texts.forMembers : texts.forOperators;
  if (code === 'csrf_rejected') return texts.stale;
  if (code === 'unauthorized') return texts.signedOut;
  if (code === 'role_required') return texts.forbidden;
  if (code === 'invalid_signature' || status === 410) return texts.expired;
  if (status === 404) return texts.missing;
  if (status === 429) return texts.busy;
  return status >= 500 ? texts.fault : texts.other;
};

/** Returns the language, title, text and request id that the page of an error shows. */
export const errorWords = (error: ShownError) => {
  const { language } = chooseLanguage(undefined, error.prefers);
  const texts = TEXTS[language];
  return { language, texts, ...textOf(error, texts) };
};

/** Returns the page of an error. It contains no part of the request. */
export const errorPage: ErrorPage = (error) => {
  const { language, texts, title, text } = errorWords(error);
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
