// Health and metrics (decisions S1, S3).
import { timingSafeEqual } from 'node:crypto';
import type { Express, Request } from 'express';
import { sendError, sendJson } from './errors.ts';

export interface Operations {
  /** Why it can't serve, or null when it is ready: can append, can read, lag below 5 s. */
  readonly unreadiness: () => Promise<string | null>;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** null: loopback only. */
  readonly metricsToken: string | null;
}

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

const isSame = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};

const mayReadMetrics = (req: Request, token: string | null): boolean =>
  // The socket's own address: behind a proxy on this machine every client would look local.
  token === null
    ? LOOPBACK.test(req.socket.remoteAddress ?? '') && req.headers['x-forwarded-for'] === undefined
    : isSame(req.headers.authorization ?? '', `Bearer ${token}`);

export const mountOperations = (app: Express, operations: Operations): void => {
  app.get('/health/live', (_req, res) => sendJson(res, 200, { status: 'live' }));
  app.get('/health/ready', async (_req, res) => {
    const reason = await operations.unreadiness();
    sendJson(res, reason === null ? 200 : 503, reason === null ? { status: 'ready' } : { status: 'not_ready', reason });
  });
  app.get('/metrics', async (req, res) => {
    if (!mayReadMetrics(req, operations.metricsToken))
      return sendError(req, res, { code: 'not_found', message: 'There is no such route.' });
    const { contentType, text } = await operations.metrics();
    return res.setHeader('Content-Type', contentType).end(text);
  });
};
