// Routes outside the product’s table: a public upload, a provider callback, a session without a mode and a stream that fails.

import { expect } from 'chai';
import type { ConnectionId } from '../../../domain/kernel/ids.ts';
import { reject } from '../../../domain/kernel/rejection.ts';
import { OPERATIONS } from '../../../http/kernel/health.ts';
import { described, exactly, integer, string } from '../../../http/kernel/jsonSchema.ts';
import { jsonBody, pathParam, route } from '../../../http/kernel/route.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { expectError, openReady, rawCall } from '../../world/http.ts';

const BYTES_MAX = 100_000;

const uploadRoute = route('PUT', '/uploads/{name}', {
  operationId: 'upload',
  summary: 'Take a file',
  tag: OPERATIONS,
  principal: 'public',
  limit: 'unlimited',
  params: {
    name: pathParam('Its name.', (text) => (text === 'none' ? reject('not_found', 'There is no such file.') : text)),
  },
  body: { kind: 'stream', contentTypes: ['image/png', 'application/pdf'], bytesMax: BYTES_MAX },
  responses: {
    201: {
      kind: 'json',
      description: 'What came.',
      schema: exactly({ name: string(), bytes: integer(0, BYTES_MAX) }),
    },
  },
  errors: ['not_found'],
  handle: async ({ params: { name }, body }) => {
    let bytes = 0;
    for await (const chunk of body) bytes += chunk.length;
    return { status: 201, body: { name, bytes } };
  },
});

const callbackRoute = route('POST', '/callbacks', {
  operationId: 'callback',
  summary: 'Hear of a provider',
  tag: OPERATIONS,
  principal: 'provider',
  limit: 'unlimited',
  responses: {
    200: { kind: 'json', description: 'Who told.', schema: exactly({ of: described('The provider.', string()) }) },
  },
  errors: ['unauthorized'],
  handle: async ({ caller }) =>
    caller.connectionId === 'tired bank'
      ? { ...reject('service_unavailable', 'Ask in half a minute.'), headers: { 'Retry-After': '30' } }
      : { status: 200, body: { of: caller.connectionId } },
});

/** Its validation error names the mode in which the body was validated. */
const sessionRoute = route('POST', '/sessions', {
  operationId: 'judge',
  summary: 'Judge a body',
  tag: OPERATIONS,
  principal: 'session',
  limit: 'unlimited',
  body: jsonBody({
    schema: exactly({ word: described('Anything.', string()) }),
    refine: (_, { mode }) => [{ code: 'invalid_request', param: 'word', message: `judged as in ${mode}` }],
  }),
  responses: { 200: { kind: 'json', description: 'Never.', schema: exactly({ word: string() }) } },
  errors: [],
  handle: async ({ body: { word } }) => ({ status: 200, body: { word } }),
});

const BROKEN = new Error('broken in the middle');
const newsRoute = route('GET', '/news', {
  operationId: 'news',
  summary: 'Tell of one thing, and break',
  tag: OPERATIONS,
  principal: 'public',
  limit: 'unlimited',
  responses: { 200: { kind: 'eventStream', description: 'News.', schema: integer(0, 1) } },
  errors: [],
  handle: async () => ({
    status: 200,
    open: (sink) => {
      sink.send('news', 1);
      throw BROKEN;
    },
  }),
});

describe('a route added to the product’s', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await openReady({
      moreRoutes: [uploadRoute, callbackRoute, sessionRoute, newsRoute],
      authenticators: {
        provider: async ({ headers }) =>
          /^(tired )?bank$/.test(String(headers['x-provider']))
            ? { connectionId: String(headers['x-provider']) as ConnectionId }
            : reject('unauthorized', 'No provider that is known.'),
      },
    });
  });
  after(() => gateway.close());

  const upload = (chunks: readonly string[], headers: Record<string, string> = { 'content-type': 'image/png' }) =>
    rawCall(gateway, { method: 'PUT', path: '/uploads/a', headers, chunks });

  it('accepts a stream of a declared type up to its maximum size', async () => {
    const half = 'x'.repeat(BYTES_MAX / 2);
    const { status, body } = await upload([half, half]);
    expect([status, body]).to.deep.equal([201, { name: 'a', bytes: BYTES_MAX }]);
    expectError(await upload([half], { 'content-type': 'text/plain' }), 415, 'unsupported_media_type');
    expectError(await upload([half], {}), 415, 'unsupported_media_type');
  });
  it('rejects a larger stream, with or without Content-Length', async () => {
    const more = 'x'.repeat(BYTES_MAX + 1);
    expectError(await upload([more, '']), 413, 'payload_too_large');
    const told = { 'content-type': 'image/png', 'content-length': String(more.length) };
    expectError(await upload([more], told), 413, 'payload_too_large');
  });
  it('accepts a stream of exactly the maximum size with Content-Length', async () => {
    const headers = { 'content-type': 'application/pdf', 'content-length': String(BYTES_MAX) };
    const { status, body } = await upload(['x'.repeat(BYTES_MAX)], headers);
    expect([status, body]).to.deep.equal([201, { name: 'a', bytes: BYTES_MAX }]);
  });
  it('is validated as in live mode if its caller has no mode', async () => {
    const details = expectError(
      await gateway.post('/sessions', { word: 'a' }, { headers: await gateway.logIn() }),
      400,
      'invalid_request',
      'word',
    );
    expect(details).to.deep.equal([{ param: 'word', message: 'judged as in live' }]);
  });
  it('closes the connection and logs one fault if it fails mid-response', async () => {
    gateway.faults.length = 0;
    const failure = await fetch(`${gateway.baseUrl}/news`)
      .then((answer) => answer.text())
      .then(
        () => null,
        (error: Error) => error.message,
      );
    expect(failure).to.match(/^(terminated|fetch failed)$/);
    expect(gateway.faults).to.deep.equal([BROKEN]);
  });
  it('returns the 404 of its path parameter, and 405 for other methods', async () => {
    const options = {
      method: 'PUT',
      path: '/uploads/none',
      headers: { 'content-type': 'image/png' },
      chunks: ['x', ''],
    };
    expectError(await rawCall(gateway, options), 404, 'not_found');
    expectError(await gateway.call('GET', '/uploads/a'), 405, 'method_not_allowed');
  });
  it('authenticates with its principal’s authenticator', async () => {
    const call = (headers: Record<string, string>) => gateway.call('POST', '/callbacks', { headers });
    const { status, body } = await call({ 'x-provider': 'bank' });
    expect([status, body]).to.deep.equal([200, { of: 'bank' }]);
    expectError(await call({}), 401, 'unauthorized');
  });
  it('can set its own Retry-After', async () => {
    const reply = await gateway.call('POST', '/callbacks', { headers: { 'x-provider': 'tired bank' } });
    expectError(reply, 503, 'service_unavailable');
    expect(reply.headers.get('retry-after')).to.equal('30');
  });
  it('declares the errors that its body kind implies', () => {
    expect(uploadRoute.errors).to.have.members([
      'invalid_request',
      'payload_too_large',
      'unsupported_media_type',
      'internal_error',
      'service_unavailable',
      'not_found',
    ]);
  });
});
