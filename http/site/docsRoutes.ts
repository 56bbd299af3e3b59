// What is for developers: the OpenAPI document of this server. All of it is made at start and kept in memory.
import { type Route, route } from '../kernel/route.ts';
import { openApiDocument } from '../openapi/document.ts';

/** Pages and document change only with a start: a browser may keep them so long. */
const FRESH_SECONDS = 300;

/** `routes`: those that the document describes. */
export const docsRoutes = (routes: readonly Route[], publicUrl: string): readonly Route[] => {
  const bytes = JSON.stringify(openApiDocument(routes, publicUrl));
  const headers = {
    'Cache-Control': `public, max-age=${FRESH_SECONDS}`,
    // It is the same for everybody and holds no secret: tools on other sites may read it.
    'Access-Control-Allow-Origin': '*',
  };
  const documentRoute = route({
    method: 'GET',
    path: '/openapi.json',
    operationId: 'getOpenApiDocument',
    summary: 'The OpenAPI document of this server',
    tag: 'Operations',
    principal: 'public',
    responses: { 200: { kind: 'bytes', description: 'OpenAPI 3.1.', contentTypes: ['application/json'] } },
    errors: [],
    handle: async () => ({ status: 200, headers, contentType: 'application/json; charset=utf-8', bytes }),
  });
  return [documentRoute];
};
