// How a delivery is signed (contract.md "Headers on each delivery", rule W1).
import { createHmac } from 'node:crypto';
import { type EventId, PREFIX } from '../../domain/kernel/ids.ts';
import type { WebhookFamily } from '../../domain/webhookDelivery/webhookDelivery.ts';

export interface ToSign {
  /** 64 hex characters; the key is this text, not the bytes it spells. */
  readonly secret: string;
  readonly body: string;
  readonly family: WebhookFamily;
  readonly eventId: EventId;
  /** Real time of the attempt, in milliseconds. */
  readonly atMs: number;
}

const mac = (secret: string, text: string, encoding: 'hex' | 'base64'): string =>
  createHmac('sha256', secret).update(text).digest(encoding);

/** The scheme of the family, and always that of Standard Webhooks. */
export const signatureHeaders = ({ secret, body, family, eventId, atMs }: ToSign): Readonly<Record<string, string>> => {
  const t = Math.floor(atMs / 1000);
  const id = PREFIX.event + eventId;
  return {
    'x-acme-signature':
      family === 'canonical' ? `t=${t},v1=${mac(secret, `${t}.${body}`, 'hex')}` : `sha256=${mac(secret, body, 'hex')}`,
    'webhook-id': id,
    'webhook-timestamp': String(t),
    'webhook-signature': `v1,${mac(secret, `${id}.${t}.${body}`, 'base64')}`,
  };
};
