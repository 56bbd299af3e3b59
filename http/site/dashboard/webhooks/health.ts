// Whether an endpoint receives what is sent to it.
import type { EndpointFailures } from '../../../../domain/presentation/endpoint.ts';
import type { ExistingEndpoint } from '../../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import type { Reader } from '../page.ts';

/** `failures`: of an endpoint that keeps failing. */
export const healthBadge = (
  { status }: ExistingEndpoint,
  failures: EndpointFailures | undefined,
  { texts: { webhooks }, language }: Reader,
): Markup => {
  if (status !== 'active') return html`<span class="status">${webhooks.inactive}</span>`;
  return failures === undefined
    ? html`<span class="status paid">${webhooks.healthy}</span>`
    : html`<span class="status failed">${webhooks.failing}</span> <span class="muted small">${failures.lastError} · ${instant(failures.failingSince, language)}</span>`;
};
