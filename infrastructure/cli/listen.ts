// `listen`: receives the demo account's webhooks on loopback, checks each signature, and prints one line per event. With --forward-to
// it also forwards each webhook to the merchant's own service.
import { request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { verifyWebhook, WebhookVerificationError } from '../../docs/receivers/verifyWebhook.mjs';
import { formatAmount } from '../../domain/presentation/amount.ts';
import { loadToolConfig } from '../config/config.ts';
import { Merchant, NOTHING_TO_SAY, openInbox, type Webhook, type WebhookAnswer } from '../demo/merchant.ts';
import { type LocalCommand, UsageError } from './command.ts';
import type { Screen } from './output.ts';

/** Quita waits 30 s for a response, so forwarding must take less. */
const FORWARD_MS_MAX = 25_000;
/** The largest response that is passed back; Quita stores its first kilobytes. */
const ANSWER_BYTES_MAX = 1_048_576;
/** Headers about one connection, which must not be forwarded. */
const HOP_BY_HOP = new Set(
  'connection content-length host keep-alive proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);

/** The response of the merchant's own service. */
export type Forwarded =
  | { readonly kind: 'answered'; readonly answer: WebhookAnswer; readonly ms: number }
  /** No usable response. Quita gets `status`: 504 on a timeout, otherwise 502. */
  | { readonly kind: 'failed'; readonly why: string; readonly status: 502 | 504; readonly ms: number };

const endToEnd = (rawHeaders: readonly string[]): string[] =>
  rawHeaders.filter((_, i) => !HOP_BY_HOP.has((rawHeaders[i - (i % 2)] as string).toLowerCase()));
const endToEndOf = (headers: IncomingHttpHeaders) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));

class TooLong extends Error {}

const exchange = (webhook: Webhook, target: URL, signal: AbortSignal): Promise<WebhookAnswer> =>
  new Promise((resolve, reject) => {
    const { method, rawHeaders, rawBody } = webhook;
    const headers = [...endToEnd(rawHeaders), 'Host', target.host, 'Content-Length', String(rawBody.length)];
    const options: RequestOptions = { method, headers, signal, agent: false };
    const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
    send(target, options, async (response) => {
      try {
        const chunks: Buffer[] = [];
        let size = 0;
        for await (const chunk of response as AsyncIterable<Buffer>) {
          size += chunk.length;
          if (size > ANSWER_BYTES_MAX) throw new TooLong(`the response exceeds ${ANSWER_BYTES_MAX} bytes`);
          chunks.push(chunk);
        }
        const body = Buffer.concat(chunks);
        resolve({ status: response.statusCode as number, headers: endToEndOf(response.headers), body });
      } catch (error) {
        reject(error);
      }
    })
      .on('error', reject)
      .end(rawBody);
  });

/** Forwards a webhook with its method, headers and exact body. Redirects are returned, not followed. Never rejects. */
export const forward = async (webhook: Webhook, target: URL, msMax = FORWARD_MS_MAX): Promise<Forwarded> => {
  const startedAt = performance.now();
  const signal = AbortSignal.timeout(msMax);
  const ms = () => Math.round(performance.now() - startedAt);
  try {
    return { kind: 'answered', answer: await exchange(webhook, target, signal), ms: ms() };
  } catch (error) {
    if (signal.aborted) return { kind: 'failed', why: `no response within ${msMax / 1_000} s`, status: 504, ms: ms() };
    const { code, message } = error as { code?: string; message: string };
    return {
      kind: 'failed',
      why: code === 'ECONNREFUSED' ? `nothing listens at ${target.host}` : message,
      status: 502,
      ms: ms(),
    };
  }
};

/** Returns the URL to forward to. Throws UsageError if the text is not an http or https URL. */
const targetOf = (text: string): URL => {
  const target = URL.canParse(text) ? new URL(text) : null;
  if (target !== null && /^https?:$/.test(target.protocol)) return target;
  throw new UsageError(`--forward-to must be an http or https URL, like http://127.0.0.1:8080/webhooks, not "${text}"`);
};

interface Message {
  readonly id?: string;
  readonly data?: {
    readonly object?: {
      readonly id?: string;
      readonly charge_id?: string;
      readonly amount?: number;
      readonly currency?: string;
    };
    readonly transactionId?: string;
    readonly amount?: number;
  };
}

/** A received webhook; with --json, one line of JSON. */
export interface Received {
  readonly receivedAt: string;
  readonly type: string;
  /** null for the legacy envelope, which has no event id. */
  readonly eventId: string | null;
  readonly deliveryId: string;
  readonly paymentId: string | null;
  /** Minor units; null if the message has no amount. */
  readonly amount: number | null;
  /** null if neither this message nor an earlier one about the payment names a currency. */
  readonly currency: string | null;
  readonly signature: 'valid' | 'invalid';
  /** Why the signature is invalid; null if it is valid. */
  readonly distrust: string | null;
  /** null if it was not forwarded. If there was no response, `status` is null and `error` is the reason. */
  readonly forwarded: { readonly status: number | null; readonly ms: number; readonly error: string | null } | null;
}

const messageOf = (rawBody: Buffer): Message => {
  try {
    return (JSON.parse(rawBody.toString('utf8')) ?? {}) as Message;
  } catch {
    return {};
  }
};

/** Returns why the signature is invalid, or null if it is valid. */
const distrustOf = ({ headers, rawBody }: Webhook, secret: string): string | null => {
  try {
    verifyWebhook(secret, headers, rawBody);
    return null;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.message;
    throw error;
  }
};

/** Raw payment id → currency, from the messages received so far. */
type Currencies = Map<string, string>;
const rawIdOf = (id: string): string => id.replace(/^[a-z]+_/, '');

const receivedOf = (
  webhook: Webhook,
  secret: string,
  forwarded: Forwarded | null,
  receivedAt: string,
  currencies: Currencies,
): Received => {
  const { id, data } = messageOf(webhook.rawBody);
  const amount = data?.object?.amount ?? data?.amount ?? null;
  const paymentId = data?.object?.charge_id ?? data?.object?.id ?? data?.transactionId ?? null;
  if (paymentId !== null && data?.object?.currency !== undefined)
    currencies.set(rawIdOf(paymentId), data.object.currency);
  const answered = forwarded?.kind === 'answered';
  const distrust = distrustOf(webhook, secret);
  return {
    receivedAt,
    type: String(webhook.headers['x-acme-event-type']),
    eventId: id ?? null,
    deliveryId: String(webhook.headers['x-acme-delivery-id']),
    paymentId,
    amount,
    currency: paymentId === null ? null : (currencies.get(rawIdOf(paymentId)) ?? null),
    signature: distrust === null ? 'valid' : 'invalid',
    distrust,
    forwarded: forwarded && {
      status: answered ? forwarded.answer.status : null,
      ms: forwarded.ms,
      error: answered ? null : forwarded.why,
    },
  };
};

const TYPE_WIDTH = 'withdrawal.status_changed'.length;
const ID_WIDTH = 'evt_'.length + 26;

const lineOf = (received: Received, { colours }: Screen): string => {
  const { receivedAt, type, eventId, deliveryId, paymentId, amount, currency, distrust, forwarded } = received;
  const sum =
    amount === null ? '-' : currency === null ? `${amount} minor units` : formatAmount(amount, currency, 'en');
  const isTaken = forwarded?.status != null && forwarded.status >= 200 && forwarded.status < 300;
  const answer = forwarded && (forwarded.error ?? `responded ${forwarded.status} in ${forwarded.ms} ms`);
  return [
    receivedAt.slice('2026-11-01T'.length),
    type.padEnd(TYPE_WIDTH),
    (eventId ?? deliveryId).padEnd(ID_WIDTH),
    (paymentId ?? '-').padEnd(ID_WIDTH - 1),
    sum.padStart('R$ 1,000.00'.length),
    distrust === null ? colours.green('signature valid') : colours.bold(colours.red(`signature invalid: ${distrust}`)),
    ...(answer === null ? [] : [isTaken ? colours.green(answer) : colours.red(answer)]),
  ].join('  ');
};

export const listenCommand: LocalCommand = {
  name: 'listen',
  summary: 'Receive the demo account’s webhooks until Ctrl-C, check their signatures and print one line per event',
  args: [],
  options: {
    'forward-to': {
      description: 'forward each webhook to this URL of your own service, and its response to Quita',
    },
  },
  isLocal: true,
  run: async ({ env, signal }, { options, isJson }, { print, screen }) => {
    const forwardTo = options['forward-to'];
    const target = typeof forwardTo === 'string' ? targetOf(forwardTo) : null;
    const merchant = await Merchant.of(loadToolConfig(env));
    // A message can arrive before the response to the registration.
    const secret = Promise.withResolvers<string>();
    const currencies: Currencies = new Map();
    await using inbox = await openInbox(async (webhook) => {
      const receivedAt = new Date().toISOString();
      const forwarded = target === null ? null : await forward(webhook, target);
      const received = receivedOf(webhook, await secret.promise, forwarded, receivedAt, currencies);
      print(isJson ? JSON.stringify(received) : lineOf(received, screen));
      if (forwarded === null) return NOTHING_TO_SAY;
      if (forwarded.kind === 'answered') return forwarded.answer;
      return { status: forwarded.status, headers: {}, body: Buffer.from(forwarded.why) };
    });
    await merchant.subscribed(inbox.url, ['*'], async (endpoint) => {
      secret.resolve(endpoint.secret);
      const where = target === null ? '' : `, forwarding to ${target.href}`;
      if (!isJson) print(`Listening at ${inbox.url} as ${endpoint.id}${where}. Press Ctrl-C to stop.`);
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    });
    return { json: undefined, text: '' };
  },
};
