// /docs: the guides, and all operations by group. When a reader opens an operation, its page is fetched.
import { html, type Markup } from '../html.ts';
import { GUIDE_LINKS, GUIDES, slugOf } from './guides.ts';
import { docsPage } from './layout.ts';
import type { Group, Operation } from './reference/model.ts';
import { endpoint, operationPath, REFERENCE_HEAD } from './reference/operation.ts';

const row = (operation: Operation): Markup => {
  const { operationId, summary } = operation;
  return html`<details class="entry" id="${operationId}"><summary>${endpoint(operation)} <span class="summary">${summary}</span></summary>
<div data-page="${operationPath(operationId)}"><p><a href="${operationPath(operationId)}">Read ${operationId} on its own page</a></p></div></details>
`;
};

const groupId = ({ name }: Group): string => `group-${slugOf(name)}`;

const section = (group: Group): Markup =>
  html`<section class="group" aria-labelledby="${groupId(group)}"><h3 id="${groupId(group)}">${group.name}</h3>
<p class="muted">${group.description ?? ''}</p>
${group.operations.map(row)}</section>`;

export const referencePage = (groups: readonly Group[]): string =>
  docsPage({
    path: '/docs',
    title: 'Documentation',
    description: 'Guides and the API reference of Quita.',
    head: REFERENCE_HEAD,
    guides: GUIDE_LINKS,
    sections: groups.map((group) => ({ href: `/docs#${groupId(group)}`, text: group.name })),
    main: html`<div class="prose"><h1>Documentation</h1>
<p class="lead">Pix charges, refunds, wallets and signed webhooks over REST. Start with a guide, then use the API reference below.</p></div>
<ul class="cards">${GUIDES.map(
      ({ path, title, summary }) => html`<li><a href="${path}"><b>${title}</b><span>${summary}</span></a></li>`,
    )}<li><a href="/docs/errors"><b>Errors</b><span>All error codes and what to do about them.</span></a></li></ul>
<div class="reference"><h2 id="api">API reference</h2>
<p class="muted">Generated from this server’s routes. Also available as an OpenAPI document: <a href="/openapi.json">openapi.json</a>.</p>
<p class="find" hidden><label>Find an operation <input type="search" autocomplete="off" spellcheck="false"></label><span role="status"></span></p>
${groups.map(section)}</div>`,
  });
