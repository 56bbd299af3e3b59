// @ts-check
// Tells whether a webhook comes from Quita. Copy this file into your service: it needs Node 18 or newer, and nothing else.
import { createHmac, timingSafeEqual } from 'node:crypto';

const TOLERANCE_SECONDS = 300;

/** The webhook is not to be trusted: answer 400. `code` says why, to programs; `message`, to people. */
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
 * Verifies a webhook and returns its event; `id` stays the same when the event comes again: do the work once for each.
 * `charge.*` and `payout.*` are verified by X-Acme-Signature. That of `payment.*` and `withdrawal.*` signs neither the instant nor the
 * event's id, so the headers of Standard Webhooks, which sign both, must hold as well. Without X-Acme-Signature those alone decide.
 * Throws WebhookVerificationError; TypeError when it is called with something else than these arguments.
 * @param {string | readonly string[]} secret The endpoint's secret, as it was shown; a list while you replace one by another.
 * @param {Headers | Readonly<Record<string, string | readonly string[] | undefined>>} headers Of the request.
 * @param {Uint8Array | string} rawBody The body as it came, before anything has parsed it.
 * @param {{ now?: Date }} [options] `now`: for tests.
 * @returns {{ id: string, type: string, sentAt: Date, payload: any }}
 */
export function verifyWebhook(secret, headers, rawBody, { now = new Date() } = {}) {
  const secrets = [secret].flat();
  if (secrets.length === 0 || !secrets.every((one) => typeof one === 'string' && one !== ''))
    throw new TypeError('secret must be the text of a secret, or a list of such texts');
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array))
    throw new TypeError('rawBody must be the bytes of the body, not what a parser has made of them');

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
    throw new WebhookVerificationError('missing_signature', 'no header signs when it was sent and which event it is');

  /** @type {(prefix: string, sent: Buffer) => boolean} */
  const signs = (prefix, sent) => secrets.some((one) => isMac(sent, one, prefix, rawBody));
  const isGenuine = canonical
    ? signs(`${seconds}.`, Buffer.from(canonical, 'hex'))
    : (!legacy || signs('', Buffer.from(legacy, 'hex'))) &&
      standardMacs(standard.macs).some((sent) => signs(`${standard.id}.${seconds}.`, sent));
  if (!isGenuine)
    throw new WebhookVerificationError('wrong_signature', 'the body was changed, or signed with another secret');

  const sentAt = new Date(Number(seconds) * 1_000);
  if (Math.abs(now.getTime() - sentAt.getTime()) > TOLERANCE_SECONDS * 1_000)
    throw new WebhookVerificationError('outside_tolerance', `it was signed more than ${TOLERANCE_SECONDS} s from now`);
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
    throw new WebhookVerificationError('malformed_body', 'the body is no JSON');
  }
  // The canonical envelope names its event itself, the older one does not.
  const { id = signedId, type = payload?.event } = payload ?? {};
  if (typeof id === 'string' && typeof type === 'string') return { id, type, payload };
  throw new WebhookVerificationError('malformed_body', 'the body is no event');
};
