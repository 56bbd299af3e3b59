// The webhook sender on undici: kept-alive HTTP/1.1 connections, one deadline per attempt, and an address check for every connection
// (rules W3–W6; contract.md, Delivery behaviour).
import { Agent } from 'undici';
import type { AttemptOutcome, WebhookRequest, WebhookSender } from '../../application/ports/webhookSender.ts';
import { refusedOutcome, runAttempt } from './attempt.ts';
import { openDialer } from './dialer.ts';
import { describeFailure, errorLine } from './failure.ts';
import { type AddressResolver, cachedResolver, dnsResolver, hostsFile, hostsFirst } from './resolver.ts';
import { type Attempts, withSlots } from './slots.ts';
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
}

const DEADLINE_MS = 30_000;
const USER_AGENT = 'Quita-Webhooks/1.0';
/** An idle connection is closed after this, or when the receiver announces an earlier end. */
const IDLE_MS = 4_000;
const MAX_IDLE_MS = 60_000;
/** A connection that is never idle is replaced after this, so that a changed DNS record takes effect. */
const CONNECTION_LIFE_MS = 300_000;

export const openWebhookSender = (options: WebhookSenderOptions): WebhookSender =>
  withSlots(openAttempts(options), options.connections);

/** Like `openWebhookSender`, without a limit of concurrent attempts. */
export function openAttempts(options: Omit<WebhookSenderOptions, 'connections'>): Attempts {
  const { allowPrivate, deadlineMs = DEADLINE_MS, userAgent = USER_AGENT } = options;
  const resolver = options.resolver ?? cachedResolver(hostsFirst(hostsFile(), dnsResolver()));
  // Two sets of connections, because a connection opened under the rules for test must not carry a live event.
  const lines = { live: openLine(resolver, false, deadlineMs), test: openLine(resolver, allowPrivate, deadlineMs) };
  let closing: Promise<void> | null = null;

  async function send(request: WebhookRequest): Promise<AttemptOutcome> {
    const target = parseTarget(request.url, policyOf(request.mode, allowPrivate));
    if (isRefusal(target)) return refusedOutcome(errorLine('blocked', target.message));
    try {
      // The sender sets these two headers. If a response is encoded nevertheless, it is decoded.
      const headers = { ...request.headers, 'user-agent': userAgent, 'accept-encoding': 'identity' };
      const ownMs = Math.min(request.deadlineMs ?? deadlineMs, deadlineMs);
      return await runAttempt(lines[request.mode].agent, { ...target, headers, body: request.body }, ownMs);
    } catch (error) {
      return refusedOutcome(describeFailure(error));
    }
  }

  async function closeAll(): Promise<void> {
    await Promise.all([lines.live.close(), lines.test.close()]);
    resolver.close();
  }

  return {
    send,
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
