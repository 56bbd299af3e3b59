// Signs deliveries (contract.md "Headers on each delivery", rule W1).
import type { WebhookFamily } from '../../domain/kernel/publisher.ts';
import { HmacKey } from '../ports/hmac.ts';

interface ToSign {
  /** 64 hex characters. The MAC's key is this text, not the 32 bytes that it encodes. */
  readonly secret: string;
  readonly body: string;
  readonly family: WebhookFamily;
  /** Id of the message, `evt_…`, the same for every attempt. */
  readonly id: string;
  /** Real time of the attempt, in milliseconds. */
  readonly atMs: number;
}

/** Returns the signature headers of a delivery: those of its family's scheme, and always those of Standard Webhooks. */
export const signatureHeaders = ({ secret, body, family, id, atMs }: ToSign): Readonly<Record<string, string>> => {
  const t = Math.floor(atMs / 1000);
  const key = new HmacKey(Buffer.from(secret));
  return {
    'x-acme-signature':
      family === 'canonical' ? `t=${t},v1=${key.digest(`${t}.${body}`, 'hex')}` : `sha256=${key.digest(body, 'hex')}`,
    'webhook-id': id,
    'webhook-timestamp': String(t),
    'webhook-signature': `v1,${key.digest(`${id}.${t}.${body}`, 'base64')}`,
  };
};
