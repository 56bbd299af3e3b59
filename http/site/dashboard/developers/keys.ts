// /dashboard/{mode}/developers: the API keys of the mode. A key is shown once.
import { type KeyId, PREFIX } from '../../../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject, SECRET_MADE_BEFORE } from '../../../../domain/kernel/rejection.ts';
import { type ApiKey, KEY_LABEL_LENGTH_MAX } from '../../../../domain/keyring/keyring.ts';
import { keyParam } from '../../../api/access/apiKeys.ts';
import type { Form } from '../../../kernel/forms.ts';
import { FORM, route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { keyField, keyIn, seenField, seenIn } from '../edit.ts';
import { instant } from '../format.ts';
import {
  modeParam,
  ofMember,
  PAGE,
  pageQuery,
  REDIRECT,
  type Reader,
  readerOf,
  redirect,
  shownPage,
  unlessManager,
} from '../page.ts';
import { confirmed, shownOnce } from '../secret.ts';
import { tableOf } from '../tables.ts';

const SECTION = '/developers';
const NO_KEY = reject('not_found', 'There is no such API key.');
const keyPath = (id: KeyId): string => `${SECTION}/keys/${PREFIX.key}${id}`;

/** Returns the working keys of the page's mode, oldest first. */
export const keysOf = async ({ services, tenant }: Reader): Promise<readonly ApiKey[]> =>
  (await services.listApiKeys(tenant.accountId)).filter(({ mode }) => mode === tenant.mode);

const table = (keys: readonly ApiKey[], { texts, to, language }: Reader): Markup => {
  const { developers } = texts;
  if (keys.length === 0) return html`<p class="empty">${developers.noKeys}</p>`;
  return tableOf(
    developers.keys,
    [developers.key, developers.label, developers.issuedAt],
    keys.map(
      ({
        keyId,
        prefix,
        label,
        issuedAt,
      }) => html`<tr><th scope="row"><a href="${to(keyPath(keyId))}"><code>${prefix}…</code></a></th>
<td class="wide">${label ?? texts.none}</td><td>${instant(issuedAt, language)}</td></tr>`,
    ),
  );
};

export const labelInput = (label: string, { texts: { developers, create } }: Pick<Reader, 'texts'>): Markup =>
  html`<label>${developers.label} (${create.optional})<input name="label" value="${label}" maxlength="${KEY_LABEL_LENGTH_MAX}" autocomplete="off"><span class="muted small">${developers.labelHint}</span></label>`;

/** `label` and `key`: of a rejected form. */
const contentOf = async (reader: Reader, label = '', key: string | null = null) => {
  const { texts, to, csrf } = reader;
  const { developers, payment } = texts;
  return {
    title: texts.pages.developers,
    section: SECTION,
    main: html`<section class="panel"><h2>${developers.keys}</h2><p class="muted">${developers.keysLead}</p>${table(await keysOf(reader), reader)}</section>
<section class="panel"><h2>${developers.issue}</h2>${
      reader.mayManage
        ? html`<form method="post" class="stack narrow" action="${to('/developers/keys')}">${csrf}${keyField(key)}${labelInput(label, reader)}<p><button>${developers.issueButton}</button></p></form>`
        : html`<p class="muted">${payment.mayNot}</p>`
    }</section>
<section class="panel"><h2>${developers.tools}</h2><ul><li><a href="${to('/developers/requests')}">${developers.requests}</a></li>
<li><a href="/docs">${developers.reference}</a></li><li><a href="/docs/errors">${developers.errors}</a></li></ul></section>`,
  };
};

const newKeyContent = (cleartext: string, lead: string, reader: Reader) => ({
  title: reader.texts.developers.newKey,
  section: SECTION,
  main: html`${shownOnce(cleartext, reader.texts.developers.key, lead, reader)}<p><a class="button second" href="${reader.to(SECTION)}">${reader.texts.back}</a></p>`,
});

const developersRoute = route('GET', '/dashboard/{mode}/developers', {
  ...ofMember,
  operationId: 'showDevelopers',
  summary: 'Show the API keys',
  params: modeParam,
  query: pageQuery,
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    return shownPage(200, context, reader, await contentOf(reader));
  },
});

const acting = { ...ofMember, query: pageQuery, refusalOf: unlessManager, body: FORM } as const;
const oneKey = { ...modeParam, ...keyParam };

const issueRoute = route('POST', '/dashboard/{mode}/developers/keys', {
  ...acting,
  operationId: 'issueKeyFromPage',
  summary: 'Issue an API key and show it once',
  params: modeParam,
  responses: { 200: PAGE, 422: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { services, tenant, actor, texts, mode } = reader;
    const label = context.body.text('label');
    const key = keyIn(context.body);
    const wish = { mode, label: label === '' ? null : label };
    const done = await services.issueApiKey(tenant.accountId, wish, actor, key);
    if (isRejection(done)) {
      const content = await contentOf(reader, label, done === SECRET_MADE_BEFORE ? null : key);
      return shownPage(422, context, reader, { ...content, problem: done });
    }
    return shownPage(200, context, reader, newKeyContent(done.cleartext, texts.developers.newKeyLead, reader));
  },
});

const keyRoute = route('GET', '/dashboard/{mode}/developers/keys/{id}', {
  ...ofMember,
  operationId: 'showKey',
  summary: 'Show one API key, and what can be done with it',
  params: oneKey,
  query: pageQuery,
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const key = (await keysOf(reader)).find(({ keyId }) => keyId === context.params.id);
    if (key === undefined) return NO_KEY;
    const { texts, to, language, csrf } = reader;
    const { developers } = texts;
    const at = to(keyPath(key.keyId));
    return shownPage(200, context, reader, {
      title: key.label ?? `${key.prefix}…`,
      section: SECTION,
      main: html`<p class="under"><code>${key.prefix}…</code> <span class="muted">${developers.issuedAt} ${instant(key.issuedAt, language)}</span></p>
<p><a href="${to(`/developers/requests?key=${key.fingerprint.slice(0, 16)}`)}">${developers.requestsOfKey}</a></p>
<section class="panel actions"><h2>${texts.payment.actions}</h2>${
        reader.mayManage
          ? html`<details><summary>${developers.rotate}</summary><form method="post" action="${at}/rotate" class="action narrow">${csrf}${seenField(key.prefix)}
<p class="muted">${developers.rotateLead}</p>${labelInput(key.label ?? '', reader)}<button class="danger">${developers.rotate}</button></form></details>
${confirmed(developers.revoke, developers.revokeLead, `${at}/revoke`, reader)}`
          : html`<p class="muted">${texts.payment.mayNot}</p>`
      }</section><p><a href="${to(SECTION)}">${texts.back}</a></p>`,
    });
  },
});

/** Returns whether the key is one of the page's mode. */
const isOfMode = async (reader: Reader, id: KeyId): Promise<boolean> =>
  (await keysOf(reader)).some(({ keyId }) => keyId === id);

/** Returns the refusal to replace a key. A key that a page showed and that no longer works was replaced before, or revoked. */
export const unlessReplaced = (refusal: Rejection, form: Form): Rejection =>
  refusal.code === 'not_found' && seenIn(form) !== null ? SECRET_MADE_BEFORE : refusal;

const rotateRoute = route('POST', '/dashboard/{mode}/developers/keys/{id}/rotate', {
  ...acting,
  operationId: 'rotateKeyFromPage',
  summary: 'Replace an API key and show the new one once',
  params: oneKey,
  responses: { 200: PAGE, 422: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { services, tenant, actor, texts } = reader;
    const { params, body } = context;
    const label = body.text('label') || undefined;
    const isKnown = await isOfMode(reader, params.id);
    const done = isKnown ? await services.rotateApiKey(tenant.accountId, params.id, label, actor) : NO_KEY;
    if (isRejection(done)) {
      const problem = unlessReplaced(done, body);
      if (problem.code === 'not_found') return problem;
      return shownPage(422, context, reader, { ...(await contentOf(reader)), problem });
    }
    return shownPage(200, context, reader, newKeyContent(done.cleartext, texts.developers.rotatedLead, reader));
  },
});

const revokeRoute = route('POST', '/dashboard/{mode}/developers/keys/{id}/revoke', {
  ...acting,
  operationId: 'revokeKeyFromPage',
  summary: 'Revoke an API key',
  params: oneKey,
  responses: { 303: REDIRECT },
  handle: async (context) => {
    const reader = readerOf(context);
    const { services, tenant, actor, to } = reader;
    const { id } = context.params;
    if (!(await isOfMode(reader, id))) return NO_KEY;
    const done = await services.revokeApiKey(tenant.accountId, id, actor);
    return isRejection(done) ? done : redirect(to(SECTION), 'keyRevoked');
  },
});

export const KEY_PAGES = [developersRoute, issueRoute, keyRoute, rotateRoute, revokeRoute];
