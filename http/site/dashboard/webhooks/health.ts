// The health of an endpoint: whether deliveries to it succeed.
import type { EndpointFailures } from '../../../../domain/presentation/endpoint.ts';
import type { ExistingEndpoint } from '../../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import type { Reader } from '../page.ts';
import { badge } from '../parts.ts';

/** `failures`: the failures of an endpoint that keeps failing. */
export const healthBadge = (
  { status }: ExistingEndpoint,
  failures: EndpointFailures | undefined,
  { texts: { webhooks }, language }: Reader,
): Markup => {
  if (status !== 'active') return badge(webhooks.inactive);
  return failures === undefined
    ? badge(webhooks.healthy, 'good')
    : html`${badge(webhooks.failing, 'bad')} <span class="muted small">${failures.lastError} · ${instant(failures.failingSince, language)}</span>`;
};
