// The error page of the operators' listener, which has no documentation to link to.
import type { ErrorPage } from '../../kernel/send.ts';
import { errorWords } from '../errorPage.ts';
import { html } from '../html.ts';
import { languageHeaders } from '../language.ts';
import { pageAlone } from './layout.ts';
import { CONTENT_SECURITY_POLICY } from './page.ts';

export const operatorsErrorPage: ErrorPage = (error) => {
  const { language, texts, title, text } = errorWords(error);
  return {
    page: pageAlone(
      language,
      title,
      '/dashboard',
      null,
      html`<div class="card"><p class="muted">${error.status}</p><h1>${title}</h1>${text}
<p class="muted small">${texts.request}: <code>${error.requestId}</code></p></div>`,
    ),
    headers: {
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      'Referrer-Policy': 'no-referrer',
      ...languageHeaders(language),
    },
  };
};
