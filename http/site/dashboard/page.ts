// Common parts of all dashboard pages: the reader, the language and mode, and the frame around the content.
import type { Mode } from '../../../domain/kernel/ids.ts';
import { type Rejection, reject } from '../../../domain/kernel/rejection.ts';
import type { Language } from '../../../domain/presentation/amount.ts';
import { type AccountRole, mayChangePayments, mayManageKeys } from '../../../domain/user/user.ts';
import type { Callers, MemberCaller } from '../../kernel/callers.ts';
import { setCookie } from '../../kernel/cookies.ts';
import { CSRF_FIELD } from '../../kernel/forms.ts';
import { matching } from '../../kernel/query.ts';
import { pathParam, type RouteContext, type Tag } from '../../kernel/route.ts';
import { html, type Markup } from '../html.ts';
import { chooseLanguage, languageHeaders, languageQuery } from '../language.ts';
import { frame } from './layout.ts';
import type { Person, Reader } from './reader.ts';
import { EN } from './texts/en.ts';
import { PT } from './texts/pt.ts';
import { refusalText } from './texts/refusals.ts';
import { DONE_ACTIONS, type DoneAction, type Texts } from './texts/texts.ts';

export type { Person, Reader } from './reader.ts';

export const TEXTS: { readonly [L in Language]: Texts } = { pt: PT, en: EN };

export const PAGES: Tag = { name: 'Dashboard pages', description: 'The pages for people. They need a browser.' };

/** Own files only, nothing inline; forms go to this server; no framing. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const LANGUAGE_COOKIE = 'quita_language';
const YEAR_SECONDS = 31_536_000;

export const modeParam = {
  mode: pathParam('`test` or `live`.', (text): Mode | Rejection =>
    text === 'test' || text === 'live' ? text : reject('not_found', 'There is no such page.'),
  ),
};

/** The language switch, and the result of the previous action. */
export const pageQuery = {
  ...languageQuery,
  done: matching('What has just been done.', 'an action', (text) => DONE_ACTIONS.find((one) => one === text)),
} as const;

/** A filter that the page itself parses, so that it can show a problem with it. */
export const textQuery = (description: string) => matching(description, 'a text', (text) => text);

/** Common properties of members' pages. */
export const ofMember = { tag: PAGES, principal: 'member' } as const;
export const PAGE = { kind: 'page', description: 'The page.' } as const;
export const REDIRECT = { kind: 'empty', description: 'Leads to the page that shows the result.' } as const;

type Asking = Pick<RouteContext, 'prefers' | 'cookie' | 'services'> & {
  readonly query: { readonly lang?: string | undefined };
};

/** Returns the language chosen in the address or earlier, or else the browser's preferred one. */
export const languageOf = ({ query, cookie, prefers }: Asking): Language =>
  chooseLanguage(query.lang ?? cookie(LANGUAGE_COOKIE) ?? undefined, prefers).language;

/** Returns the headers of a page. They remember a language chosen in the address. */
export const pageHeaders = (context: Asking, language: Language): Readonly<Record<string, string>> => ({
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  // With `no-referrer`, browsers would send forms without their origin.
  'Referrer-Policy': 'same-origin',
  ...languageHeaders(language),
  ...(context.query.lang === language && {
    'Set-Cookie': setCookie(LANGUAGE_COOKIE, language, {
      maxAgeSeconds: YEAR_SECONDS,
      publicUrl: context.services.baseUrl,
    }),
  }),
});

/** The context of a page that a member or an operator asks for. */
export type PersonAsking<Caller extends Callers['anyMember']> = Asking & {
  readonly caller: Caller;
  readonly query: { readonly lang?: string | undefined; readonly done?: DoneAction | undefined };
  readonly requestId: string;
};
type MemberAsking = PersonAsking<MemberCaller> & { readonly params: { readonly mode: Mode } };

/** Returns the reader of a page. `folder`: the common path of the reader's pages. */
export const personOf = (context: PersonAsking<Callers['anyMember']>, folder: string): Person => {
  const { caller, services, requestId } = context;
  const language = languageOf(context);
  return {
    ...{ language, texts: TEXTS[language], caller, services },
    actor: { actor: caller.actor, requestId },
    to: (path = '') => folder + path,
    csrf: html`<input type="hidden" name="${CSRF_FIELD}" value="${caller.csrf}">`,
  };
};

export const readerOf = (context: MemberAsking): Reader => {
  const { caller, params } = context;
  const { mode } = params;
  const tenant = { accountId: caller.tenant.accountId, mode };
  return {
    ...personOf(context, `/dashboard/${mode}`),
    ...{ caller, mode, tenant },
    asCaller: { account: caller.account, tenant, actor: caller.actor },
    mayChange: mayChangePayments(caller.role),
    mayManage: mayManageKeys(caller.role),
  };
};

export interface Content {
  readonly title: string;
  /** Path of the page's entry in the navigation, below the mode or the platform. */
  readonly section: string;
  readonly main: Markup;
  /** A problem with the submitted values, shown at the top of the page. */
  readonly problem?: string | Rejection;
  /** Whether the page itself has the search for payments. */
  readonly hasSearch?: boolean;
}

/** Returns a problem in the page's words. */
export const saidOf = (problem: string | Rejection, language: Language): string =>
  typeof problem === 'string' ? problem : refusalText(problem, language);

/** Returns the result of a page in its frame. */
export const shownPage = <Status extends 200 | 422>(
  status: Status,
  context: MemberAsking,
  reader: Reader,
  { title, section, main, problem, hasSearch = false }: Content,
) => {
  const { language, texts } = reader;
  const done = context.query.done === undefined ? null : texts.done[context.query.done];
  const page = frame({
    ...{ title, section, main, language, texts, reader, hasSearch },
    notice: problem === undefined ? done : saidOf(problem, language),
    isProblem: problem !== undefined,
  });
  return { status, headers: pageHeaders(context, language), page };
};

/** Returns a redirect to a page, which reports the completed action. */
export const redirect = (to: string, done?: DoneAction) => ({
  status: 303 as const,
  headers: { Location: done === undefined ? to : `${to}${to.includes('?') ? '&' : '?'}done=${done}` },
});

const MEMBERS = reject('role_required', 'The role of the user allows reading only.');
/** Rejects roles that only read (rule D5). */
export const unlessReader = ({ role }: { readonly role: AccountRole }): Rejection | null =>
  mayChangePayments(role) ? null : MEMBERS;

const MANAGERS = reject('role_required', 'Only an OWNER or ADMIN of the account may do this.');
/** Rejects roles that neither manage endpoints, keys and users, nor request payouts and accept disputes (rule D5). */
export const unlessManager = ({ role }: { readonly role: AccountRole }): Rejection | null =>
  mayManageKeys(role) ? null : MANAGERS;
