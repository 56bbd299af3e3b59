// @ts-check
// Verifies that a webhook comes from Quita. Copy this file into your service. It needs Node 18 or newer and no packages.
import { createHmac, timingSafeEqual } from 'node:crypto';

const TOLERANCE_SECONDS = 300;

/** The webhook can't be trusted: answer 400. `code` is for programs, `message` for people. */
export class WebhookVerificationError extends Error {
  /**
   * @param {'missing_signature' | 'malformed_signature' | 'wrong_signature' | 'outside_tolerance' | 'malformed_body'} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.name = 'WebhookVerificationError';
    this.code = code;
  }
}

/**
 * Verifies a webhook and returns its event. A repeated event has the same `id`: process each `id` once.
 * X-Acme-Signature verifies `charge.*`, `payout.*`, `med_case.*` and `med.resolved`. In `payment.*` and `withdrawal.*` it signs neither
 * the time nor the event's id, so the headers of Standard Webhooks, which sign both, must also be valid. Without X-Acme-Signature, only
 * those headers are checked. Throws WebhookVerificationError if the webhook is invalid, TypeError if an argument has the wrong type.
 * @param {string | readonly string[]} secret The endpoint's secret as text, or a list of secrets during a rotation.
 * @param {Headers | Readonly<Record<string, string | readonly string[] | undefined>>} headers The headers of the request.
 * @param {Uint8Array | string} rawBody The bytes of the body, before any parser.
 * @param {{ now?: Date }} [options] `now` is for tests.
 * @returns {{ id: string, type: string, sentAt: Date, payload: any }}
 */
export function verifyWebhook(secret, headers, rawBody, { now = new Date() } = {}) {
  const secrets = [secret].flat();
  if (secrets.length === 0 || !secrets.every((one) => typeof one === 'string' && one !== ''))
    throw new TypeError('secret must be a non-empty string, or a list of such strings');
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array))
    throw new TypeError('rawBody must be the bytes of the unparsed body');

  const header = headerReader(headers);
  const acme = header('x-acme-signature');
  const standard = {
    id: header('webhook-id'),
    seconds: header('webhook-timestamp'),
    macs: header('webhook-signature'),
  };
  const [, seconds = standard.seconds, canonical] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(acme) ?? [];
  const [, legacy] = /^sha256=([0-9a-f]{64})$/.exec(acme) ?? [];
  if (acme !== '' && !canonical && !legacy)
    throw new WebhookVerificationError('malformed_signature', 'X-Acme-Signature is neither t=…,v1=… nor sha256=…');
  if (!canonical && (standard.id === '' || !/^\d{1,12}$/.test(seconds) || standard.macs === ''))
    throw new WebhookVerificationError('missing_signature', 'no valid header signs the time and the event id');

  /** @type {(prefix: string, sent: Buffer) => boolean} */
  const signs = (prefix, sent) => secrets.some((one) => isMac(sent, one, prefix, rawBody));
  const isGenuine = canonical
    ? signs(`${seconds}.`, Buffer.from(canonical, 'hex'))
    : (!legacy || signs('', Buffer.from(legacy, 'hex'))) &&
      standardMacs(standard.macs).some((sent) => signs(`${standard.id}.${seconds}.`, sent));
  if (!isGenuine)
    throw new WebhookVerificationError('wrong_signature', 'the signature does not match the body and the secret');

  const sentAt = new Date(Number(seconds) * 1_000);
  if (Math.abs(now.getTime() - sentAt.getTime()) > TOLERANCE_SECONDS * 1_000)
    throw new WebhookVerificationError('outside_tolerance', `the timestamp is off by more than ${TOLERANCE_SECONDS} s`);
  return { ...eventOf(rawBody, canonical ? undefined : standard.id), sentAt };
}

/** @type {(headers: any) => (name: string) => string} */
const headerReader = (headers) => (name) => {
  if (typeof headers.get === 'function') return headers.get(name) ?? '';
  const key = Object.keys(headers).find((one) => one.toLowerCase() === name);
  return key === undefined ? '' : String(headers[key] ?? '');
};

/** @type {(sent: Buffer, secret: string, prefix: string, rawBody: Uint8Array | string) => boolean} */
const isMac = (sent, secret, prefix, rawBody) => {
  const expected = createHmac('sha256', secret).update(prefix).update(rawBody).digest();
  return sent.length === expected.length && timingSafeEqual(sent, expected);
};

/** @type {(header: string) => readonly Buffer[]} */
const standardMacs = (header) =>
  header.split(' ').flatMap((one) => (one.startsWith('v1,') ? [Buffer.from(one.slice(3), 'base64')] : []));

/** @type {(rawBody: Uint8Array | string, signedId: string | undefined) => { id: string, type: string, payload: any }} */
const eventOf = (rawBody, signedId) => {
  let payload;
  try {
    payload = JSON.parse(Buffer.from(rawBody).toString('utf8'));
  } catch {
    throw new WebhookVerificationError('malformed_body', 'the body is not valid JSON');
  }
  // The canonical envelope contains the event id; the legacy one does not.
  const { id = signedId, type = payload?.event } = payload ?? {};
  if (typeof id === 'string' && typeof type === 'string') return { id, type, payload };
  throw new WebhookVerificationError('malformed_body', 'the body is not an event');
};
