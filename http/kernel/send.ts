// What a route answers, by its kind.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { helpLink, PUBLIC_URL, sendJson } from './errors.ts';
import type { EventSink } from './eventSink.ts';
import type { RouteResult } from './route.ts';
import type { SentChunks } from './sentChunks.ts';

/** The response 304 of a route whose answers have an ETag. */
export const NOT_MODIFIED = { kind: 'empty', description: 'The client has this version already.' } as const;

/** Resolves when a stream has been opened and done with; everything else is sent when this returns. */
export const sendResult = async (req: Request, res: Response, result: RouteResult): Promise<void> => {
  for (const [name, value] of Object.entries(result.headers ?? {})) res.setHeader(name, value);
  if ('body' in result) return void sendJson(res, result.status, result.body);
  res.statusCode = result.status;
  if (!res.hasHeader('Cache-Control')) res.setHeader('Cache-Control', 'no-store');
  // The client has this version already (RFC 9110, 13.1.2).
  if (res.hasHeader('ETag') && req.fresh) {
    res.statusCode = 304;
    return void res.end();
  }
  // A page that is missing is an error like any other to a program.
  if (result.status === 404) res.setHeader('Link', helpLink(req.app.get(PUBLIC_URL), 'not_found'));
  if ('page' in result) res.setHeader('Content-Type', 'text/html; charset=utf-8').end(result.page);
  else if ('bytes' in result) res.setHeader('Content-Type', result.contentType).end(result.bytes);
  else if ('chunks' in result) await sendChunks(req, res, result);
  else if ('open' in result) await openStream(req, res, result.open);
  else res.end();
};

/** A client that leaves or reads too slowly is no fault of the service. A source that fails is. */
const sendChunks = async (
  req: Request,
  res: Response,
  { contentType, chunks, sendMs, close }: { readonly contentType: string } & SentChunks,
): Promise<void> => {
  res.setHeader('Content-Type', contentType);
  let failure: unknown = null;
  const source = chunks[Symbol.asyncIterator]();
  // Not `for await`: what ends the sending would be thrown there as well.
  const watched = async function* () {
    try {
      for (;;) {
        const next = await source.next().catch((error: unknown) => {
          failure = error;
          throw error;
        });
        if (next.done) return;
        yield next.value;
      }
    } finally {
      await source.return?.();
    }
  };
  try {
    if (req.method === 'HEAD') res.end();
    else await pipeline(Readable.from(watched()), res, { signal: AbortSignal.timeout(sendMs) });
  } catch {
    res.destroy();
    if (failure !== null) throw failure;
  } finally {
    close();
  }
};

/** Proxies must not gather what a page waits for. */
const STREAM_HEADERS = { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' };

const openStream = async (
  req: Request,
  res: Response,
  open: (sink: EventSink) => void | Promise<void>,
): Promise<void> => {
  res.writeHead(res.statusCode, STREAM_HEADERS);
  if (req.method === 'HEAD') return void res.end();
  await open({
    send: (event, data) => void res.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    end: () => void res.end(),
    drained: () =>
      new Promise((resolve) => {
        if (!res.writableNeedDrain || res.destroyed) return resolve();
        res.once('drain', resolve).once('close', resolve);
      }),
    onClose: (listener) => void res.on('close', listener),
  });
};
