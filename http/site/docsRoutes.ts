// What is for developers: the OpenAPI document of this server. All of it is made at start and kept in memory.
import type { Express } from 'express';
import type { Route } from '../kernel/route.ts';
import { openApiDocument } from '../openapi/document.ts';

/** Pages and document change only with a start: a browser may keep them so long. */
const FRESH_SECONDS = 300;

export const mountDocs = (app: Express, routes: readonly Route[], publicUrl: string): void => {
  const document = JSON.stringify(openApiDocument(routes, publicUrl));
  app.get('/openapi.json', (_req, res) => {
    res.setHeader('Content-Type', 'application/json; charset=utf-8');
    res.setHeader('Cache-Control', `public, max-age=${FRESH_SECONDS}`);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    // It is the same for everybody and holds no secret: tools on other sites may read it.
    res.setHeader('Access-Control-Allow-Origin', '*');
    res.end(document);
  });
};
