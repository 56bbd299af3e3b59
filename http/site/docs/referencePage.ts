// /docs: where to begin, and the reference of every operation (Swagger UI over /openapi.json).
import { html } from '../html.ts';
import { GUIDE_LINKS, GUIDES } from './guides.ts';
import { docsPage, script, styleSheet } from './layout.ts';

export const referencePage = (): string =>
  docsPage({
    path: '/docs',
    title: 'Documentation',
    description: 'Guides and the API reference of Quita.',
    head: html`${styleSheet('swagger-ui.css')}
${styleSheet('reference.css')}
${script('swagger-ui-bundle.js')}
${script('reference.js')}
`,
    guides: GUIDE_LINKS,
    main: html`<div class="prose"><h1>Documentation</h1>
<p class="lead">Pix charges, refunds, wallets and signed webhooks over REST. Read one guide, then look things up below.</p></div>
<ul class="cards">${GUIDES.map(
      ({ path, title, summary }) => html`<li><a href="${path}"><b>${title}</b><span>${summary}</span></a></li>`,
    )}<li><a href="/docs/errors"><b>Errors</b><span>Every code and what to do about it.</span></a></li></ul>
<section class="reference" aria-labelledby="api"><h2 id="api">API reference</h2>
<p class="muted">Made from the routes that this server serves. <a href="/openapi.json">openapi.json</a> is the same for your tools.</p>
<div id="reference" data-document="/openapi.json"><p class="muted">Loading…</p></div>
<noscript><p>The reference needs a script to be shown. <a href="/openapi.json">openapi.json</a> holds all of it.</p></noscript></section>`,
  });
