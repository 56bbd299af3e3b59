// Health and metrics (rules S1, S3).
import type { Express, Request } from 'express';
import { isSameSecret } from './authentication.ts';
import { sendError, sendJson } from './errors.ts';
import { isLoopbackHost } from './loopback.ts';

export interface Operations {
  /** Why it can't serve, or null when it is ready: can append, can read, lag below 5 s. */
  readonly unreadiness: () => Promise<string | null>;
  /** Streams that some follower has parked: an operator should look, but nothing else waits for it. */
  readonly parkedStreams: () => number;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** null: no token opens /metrics. */
  readonly metricsToken: string | null;
  /** Whether, without a token, whoever is on this machine may read /metrics. */
  readonly metricsOnLoopback: boolean;
}

/** What proxies add, of whatever make: who asks is then not who is connected. */
const FORWARDING =
  /^(?:via|cdn-loop|(?:forwarded|cf|x-(?:forwarded|real|original|proxy|remote|envoy|arr|azure))(?:-.*)?|.*(?:client|connecting|user)-ip)$/;

/** The socket's own address: behind a proxy on this machine every client would look local, and a name of elsewhere may lead here. */
const isFromHere = ({ socket, headers }: Request): boolean =>
  isLoopbackHost(socket.remoteAddress ?? '') &&
  isLoopbackHost((headers.host ?? '').replace(/:\d*$/, '')) &&
  !Object.keys(headers).some((name) => FORWARDING.test(name));

const mayReadMetrics = (
  req: Request,
  { metricsToken: token, metricsOnLoopback }: Pick<Operations, 'metricsToken' | 'metricsOnLoopback'>,
): boolean =>
  token === null
    ? metricsOnLoopback && isFromHere(req)
    : isSameSecret(req.headers.authorization ?? '', `Bearer ${token}`);

export const mountOperations = (app: Express, operations: Operations): void => {
  app.get('/health/live', (_req, res) => sendJson(res, 200, { status: 'live' }));
  app.get('/health/ready', async (_req, res) => {
    const reason = await operations.unreadiness();
    const streams = operations.parkedStreams();
    const parked = streams === 0 ? {} : { parked: { streams } };
    sendJson(
      res,
      reason === null ? 200 : 503,
      reason === null ? { status: 'ready', ...parked } : { status: 'not_ready', reason, ...parked },
    );
  });
  app.get('/metrics', async (req, res) => {
    if (!mayReadMetrics(req, operations))
      return sendError(req, res, { code: 'not_found', message: 'There is no such route.' });
    const { contentType, text } = await operations.metrics();
    return res.setHeader('Content-Type', contentType).end(text);
  });
};
