// /docs/errors: every error code under its own anchor. The Link header of an error response leads there.
import { STATUS_CODES } from 'node:http';
import type { ErrorCode } from '../../../domain/kernel/rejection.ts';
import { ERRORS } from '../../kernel/errors.ts';
import type { Route } from '../../kernel/route.ts';
import { html, type Markup } from '../html.ts';
import { codeBlock, GUIDE_LINKS, markdown } from './guides.ts';
import { docsPage } from './layout.ts';

const BODY = `{
  "error": {
    "type": "invalid_request_error",
    "code": "invalid_amount",
    "message": "amount must be at least 1.",
    "param": "amount",
    "details": [{ "param": "amount", "message": "must be at least 1" }]
  },
  "request_id": "req_6m2v8k4c1q9x7z5d3f0b8n2h4j"
}`;

const INTRODUCTION = `# Errors

Every error has the same body, and a \`Link\` header that leads to this page.

Branch on \`code\`, which is stable. \`message\` is for people and may change. \`param\` names the field if a single field is invalid.
\`details\` lists all problems that validation found. \`request_id\` is also in the header \`X-Request-Id\`: write it to your log.

**When to retry.** After a 5xx or a lost response, you can safely retry with the same idempotency key. After a 429, wait as long as
\`Retry-After\` says. Other 4xx errors return the same result until you change the request.
`;

/** Above this number, the operations of a code are not listed, because most operations share it. */
const OPERATIONS_NAMED = 6;

const operations = (code: ErrorCode, routes: readonly Route[]): Markup | null => {
  const answering = routes.filter((route) => route.errors.includes(code));
  if (answering.length === 0 || answering.length > OPERATIONS_NAMED) return null;
  const named = answering.map(
    (route) => html`<a href="/docs#${route.operationId}"><code>${route.operationId}</code></a> `,
  );
  return html`<p class="from">${named}</p>`;
};

const entry = (code: ErrorCode, routes: readonly Route[]): Markup =>
  html`<section class="error" id="${code}">
<h3><a class="anchor" href="#${code}"><code>${code}</code></a></h3>
<div class="meaning">${markdown(ERRORS[code].when)}${operations(code, routes)}</div>
</section>`;

export const errorsPage = (routes: readonly Route[]): string => {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  const byStatus = [...Map.groupBy(codes, (code) => ERRORS[code].status)].sort(([a], [b]) => a - b);
  const sections = byStatus.map(
    ([
      status,
      there,
    ]) => html`<h2 id="${status}"><a class="anchor" href="#${status}">${status} <small>${STATUS_CODES[status] ?? ''}</small></a></h2>
${there.map((code) => entry(code, routes))}`,
  );
  return docsPage({
    path: '/docs/errors',
    title: 'Errors',
    description: 'All error codes: what each means and what to do.',
    guides: GUIDE_LINKS,
    main: html`<article class="prose errors">${markdown(INTRODUCTION)}${codeBlock(BODY, 'JSON')}${sections}</article>`,
  });
};
