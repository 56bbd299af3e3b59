// A route that is not of the product's table, with the kinds of body and principal that no route of the product has yet.
import { expect } from 'chai';
import { reject } from '../../domain/kernel/rejection.ts';
import { described, exactly, integer, string } from '../../http/kernel/jsonSchema.ts';
import { route } from '../../http/kernel/route.ts';
import type { TestGateway } from '../support/gateway.ts';
import { expectError, openReady, rawCall } from './support.ts';

const BYTES_MAX = 100_000;

const uploadRoute = route({
  method: 'PUT',
  path: '/uploads/{name}',
  operationId: 'upload',
  summary: 'Take a file',
  tag: 'Operations',
  principal: 'public',
  limit: 'unlimited',
  params: {
    name: {
      description: 'Its name.',
      schema: { type: 'string' },
      parse: (text: string) => (text === 'none' ? reject('not_found', 'There is no such file.') : text),
    },
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

const callbackRoute = route({
  method: 'POST',
  path: '/callbacks',
  operationId: 'callback',
  summary: 'Hear of a provider',
  tag: 'Operations',
  principal: 'provider',
  limit: 'unlimited',
  responses: {
    200: { kind: 'json', description: 'Who told.', schema: exactly({ of: described('The provider.', string()) }) },
  },
  errors: ['unauthorized'],
  handle: async ({ caller }) => ({ status: 200, body: { of: String(caller) } }),
});

describe('a route beside those of the product', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await openReady({
      moreRoutes: [uploadRoute, callbackRoute],
      authenticators: {
        provider: async ({ headers }) =>
          headers['x-provider'] === 'bank' ? 'bank' : reject('unauthorized', 'No provider that is known.'),
      },
    });
  });
  after(() => gateway.close());

  const upload = (chunks: readonly string[], headers: Record<string, string> = { 'content-type': 'image/png' }) =>
    rawCall(gateway, { method: 'PUT', path: '/uploads/a', headers, chunks });

  it('takes a stream up to its size, of its types', async () => {
    const half = 'x'.repeat(BYTES_MAX / 2);
    const { status, body } = await upload([half, half]);
    expect([status, body]).to.deep.equal([201, { name: 'a', bytes: BYTES_MAX }]);
    expectError(await upload([half], { 'content-type': 'text/plain' }), 415, 'unsupported_media_type');
    expectError(await upload([half], {}), 415, 'unsupported_media_type');
  });
  it('refuses more, whether its length is told or not', async () => {
    const more = 'x'.repeat(BYTES_MAX + 1);
    expectError(await upload([more, '']), 413, 'payload_too_large');
    const told = { 'content-type': 'image/png', 'content-length': String(more.length) };
    expectError(await upload([more], told), 413, 'payload_too_large');
  });
  it('says what its path names', async () => {
    const options = {
      method: 'PUT',
      path: '/uploads/none',
      headers: { 'content-type': 'image/png' },
      chunks: ['x', ''],
    };
    expectError(await rawCall(gateway, options), 404, 'not_found');
    expectError(await gateway.call('GET', '/uploads/a'), 405, 'method_not_allowed');
  });
  it('is for whom its principal is known by', async () => {
    const call = (headers: Record<string, string>) => gateway.call('POST', '/callbacks', { headers });
    const { status, body } = await call({ 'x-provider': 'bank' });
    expect([status, body]).to.deep.equal([200, { of: 'bank' }]);
    expectError(await call({}), 401, 'unauthorized');
  });
  it('declares what follows from its kinds', () => {
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
