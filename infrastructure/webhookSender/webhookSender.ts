// The webhook sender on undici: kept-alive HTTP/1.1 connections, one deadline per attempt, and an address check for every connection
// (rules W3–W6; contract.md, Delivery behaviour).
import { Agent } from 'undici';
import type { AttemptOutcome, WebhookSender } from '../../application/ports/webhookSender.ts';
import { refusedOutcome, runAttempt } from './attempt.ts';
import { openDialer } from './dialer.ts';
import { describeFailure, errorLine } from './failure.ts';
import { type AddressResolver, cachedResolver, dnsResolver, hostsFile, hostsFirst } from './resolver.ts';
import { openSlots } from './slots.ts';
import { isRefusal, judged, parseTarget, policyOf } from './target.ts';

export interface WebhookSenderOptions {
  /** `WEBHOOK_ALLOW_PRIVATE`: test endpoints may have loopback and private addresses. */
  readonly allowPrivate: boolean;
  /** Deadline for DNS, connect, TLS, headers and body of one attempt, in milliseconds. Default 30,000. */
  readonly deadlineMs?: number;
  /** Called for every new connection. Default: the hosts file, then DNS, with answers cached for 10 s. */
  readonly resolver?: AddressResolver;
  /** Concurrent attempts of one account and mode to one origin, and as many pings. Others wait, outside their deadline. Default 16. */
  readonly connections?: number;
  readonly userAgent?: string;
  /** Age from which a request is made again before its attempt begins, in milliseconds. Default 1,000. */
  readonly requestMs?: number;
}

/**
 * An attempt whose request is older than this when it begins gets a new one: the endpoint or its secret may have changed. Full queues of
 * fast endpoints stay below it, because each new request costs two turns of the main thread, while a slot is held.
 */
export const REQUEST_MS_MAX = 1_000;

const DEADLINE_MS = 30_000;
const CONNECTIONS_PER_ORIGIN = 16;
const USER_AGENT = 'Quita-Webhooks/1.0';
/** An idle connection is closed after this, or when the receiver announces an earlier end. */
const IDLE_MS = 4_000;
const MAX_IDLE_MS = 60_000;
/** A connection that is never idle is replaced after this, so that a changed DNS record takes effect. */
const CONNECTION_LIFE_MS = 300_000;

/** Returns `send`, given `sendInTurn`. */
export const sendingOnce =
  (sendInTurn: WebhookSender['sendInTurn']): WebhookSender['send'] =>
  (request) =>
    sendInTurn(async () => request) as Promise<AttemptOutcome>; // not null, because the request never is

export function openWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { allowPrivate, deadlineMs = DEADLINE_MS, userAgent = USER_AGENT, requestMs = REQUEST_MS_MAX } = options;
  const resolver = options.resolver ?? cachedResolver(hostsFirst(hostsFile(), dnsResolver()));
  const slots = openSlots(options.connections ?? CONNECTIONS_PER_ORIGIN);
  // Two sets of connections, because a connection opened under the rules for test must not carry a live event.
  const lines = { live: openLine(resolver, false, deadlineMs), test: openLine(resolver, allowPrivate, deadlineMs) };
  let closing: Promise<void> | null = null;

  const sendInTurn: WebhookSender['sendInTurn'] = async (requestOf, signal) => {
    let request = await requestOf();
    if (request === null) return null;
    const madeMs = performance.now();
    const target = parseTarget(request.url, policyOf(request.mode, allowPrivate));
    if (isRefusal(target)) return refusedOutcome(errorLine('blocked', target.message));
    const key = `${request.isPing ? 'ping' : ''} ${request.mode} ${request.account} ${target.origin}`;
    if (!(await slots.acquire(key, signal))) return refusedOutcome(errorLine('connection', 'the sender is closed'));
    try {
      if (performance.now() - madeMs > requestMs) request = await requestOf();
      if (request === null) return null;
      // The sender sets these two headers. If a response is encoded nevertheless, it is decoded.
      const headers = { ...request.headers, 'user-agent': userAgent, 'accept-encoding': 'identity' };
      const ownMs = Math.min(request.deadlineMs ?? deadlineMs, deadlineMs);
      const attempt = runAttempt(lines[request.mode].agent, { ...target, headers, body: request.body }, ownMs);
      return await attempt.catch((error: unknown) => refusedOutcome(describeFailure(error)));
    } finally {
      slots.release(key);
    }
  };

  async function closeAll(): Promise<void> {
    slots.close();
    await Promise.all([lines.live.close(), lines.test.close()]);
    resolver.close();
  }

  return {
    send: sendingOnce(sendInTurn),
    sendInTurn,
    judgeUrl: (url, mode) => judged(url, policyOf(mode, allowPrivate)),
    /** Closes every socket at once. Running attempts fail as `connection`. */
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}

function openLine(resolver: AddressResolver, privateAllowed: boolean, deadlineMs: number) {
  const dialer = openDialer({ resolver, privateAllowed, deadlineMs });
  const agent = new Agent({
    connect: dialer.connect,
    allowH2: false,
    pipelining: 1,
    // The attempt's own deadline is the only one.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: MAX_IDLE_MS,
    clientTtl: CONNECTION_LIFE_MS,
  });
  return {
    agent,
    close: async (): Promise<void> => {
      dialer.close();
      await agent.destroy();
    },
  };
}
