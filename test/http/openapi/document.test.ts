// GET /openapi.json: it is valid, passes the linter and matches what the routes enforce.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { EVENT_CATALOGUE } from '../../../domain/presentation/catalogue.ts';
import { API_ROUTES } from '../../../http/api/routes.ts';
import { openApiDocument } from '../../../http/openapi/document.ts';
import { cpuMsHere, longestTurnOf } from '../../support/longestTurn.ts';
import { TestGateway } from '../../world/gateway.ts';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly parameters: readonly { readonly $ref?: string; readonly name?: string; readonly description?: string }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly responses: { readonly [status: string]: object };
}
interface Schema {
  readonly required?: readonly string[];
}
interface Document {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly webhooks: { readonly [event: string]: { readonly post: Operation } };
}

const BASE = 'https://pay.quita.example';
const document = openApiDocument(API_ROUTES, BASE) as unknown as Document;
const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
const hooks = Object.values(document.webhooks).map(({ post }) => post);

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)));
    expect(valid, JSON.stringify(errors)).to.equal(true);
    expect(document.openapi).to.equal('3.1.0');
  });
  it('passes the recommended rules of Redocly', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({
      source: JSON.stringify(document, null, 1),
      absoluteRef: 'openapi.json',
      config,
    });
    expect(
      problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`),
    ).to.deep.equal([]);
  });
  it('contains every route, each with a unique operationId', () => {
    const ids = [...operations, ...hooks].map(({ operationId }) => operationId);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(operations.map(({ operationId }) => operationId).sort()).to.deep.equal(
      API_ROUTES.map(({ operationId }) => operationId).sort(),
    );
  });
  it('contains every event of the catalog', () => {
    expect(Object.keys(document.webhooks)).to.deep.equal(EVENT_CATALOGUE.map(({ event }) => event));
  });
  for (const operation of [...operations, ...hooks])
    it(`describes ${operation.operationId}: summary, a declared tag, every parameter`, () => {
      expect(operation.summary).to.match(/\S/);
      expect(operation.tags).to.have.length(1);
      expect(document.tags.map(({ name }) => name)).to.include(operation.tags[0]);
      for (const parameter of operation.parameters) expect(parameter.$ref ?? parameter.description).to.match(/\S/);
    });
  it('describes every operation beyond its summary', () => {
    for (const { operationId, summary, description } of [...operations, ...hooks])
      expect(description, operationId)
        .to.match(/^[A-Z].*\.$/s)
        .and.not.equal(summary);
  });
  it('declares the body of every operation that accepts one', () => {
    const bodyOf = (path: string) => document.paths[path]?.['put']?.requestBody;
    const file = { schema: { type: 'string', format: 'binary' } };
    const logo = { required: true, content: { 'image/png': file, 'image/jpeg': file } };
    expect(bodyOf('/v1/account/logo')).to.deep.equal(logo);
    expect(bodyOf('/ops/v1/accounts/{id}/logo')).to.deep.equal(logo);
    for (const { operationId, body } of API_ROUTES) {
      const operation = operations.find((each) => each.operationId === operationId);
      expect(operation?.requestBody === undefined, operationId).to.equal(body.kind === 'none');
    }
  });
  it('states the limits of metadata', () => {
    for (const path of ['/v1/charges', '/v1/pix/charges', '/v1/payments', '/v1/payouts'])
      expect(JSON.stringify(document.paths[path]?.['post']?.requestBody), path).to.include(
        'At most 50 keys, 8192 bytes as JSON and 20 levels, and integers within ±(2^53 − 1).',
      );
  });
  it('declares no unused tag, which would be an empty chapter of the reference', () => {
    const had = new Set([...operations, ...hooks].flatMap(({ tags }) => tags));
    expect(document.tags.map(({ name }) => name)).to.have.members([...had]);
  });
  it('requires a key where the routes do, and declares 401, 429, 500 and 503 there', () => {
    const isKeyed = (operation: Operation) => operation.security.length > 0;
    expect(operations.filter((operation) => !isKeyed(operation)).map(({ operationId }) => operationId)).to.deep.equal([
      'listEventCatalogue',
      'logIn',
      'requestPasswordReset',
    ]);
    for (const { operationId, responses } of operations.filter(isKeyed))
      expect(Object.keys(responses), operationId).to.include.members(['401', '429', '500', '503']);
    for (const [path, there] of Object.entries(document.paths))
      for (const { security, operationId } of Object.values(there))
        expect(JSON.stringify(security).includes('testApiKey'), operationId).to.equal(path.startsWith('/v1/sandbox/'));
  });
  it('has examples for late answers (202) as for timely ones', () => {
    const exampleOf = ({ responses }: Operation, status: string) =>
      (responses[status] as { content?: { 'application/json': { example?: unknown } } }).content?.['application/json']
        .example;
    const inTime = ({ responses }: Operation) => ['200', '201'].find((status) => responses[status] !== undefined);
    const late = operations.filter(({ responses }) => responses['202'] !== undefined);
    expect(late.map(({ operationId }) => operationId)).to.include('sandboxOpenMedCase');
    for (const operation of late.filter((one) => inTime(one) !== undefined)) {
      expect(exampleOf(operation, inTime(operation) as string), operation.operationId).to.be.an('object');
      expect(exampleOf(operation, '202'), operation.operationId).to.be.an('object');
    }
  });
  it('names the given server address', () => expect(document.servers.map(({ url }) => url)).to.deep.equal([BASE]));
  it('lists no parameters of other lists', () => {
    const listed = document.paths['/v1/charges']?.['get'] as Operation;
    const names = listed.parameters.flatMap(({ name }) => name ?? []);
    expect(names).to.include('starting_after').and.not.include.members(['page']);
    for (const { parameters } of operations)
      for (const { description } of parameters) expect(description ?? '').to.not.match(/^Refused/);
  });
  it('requires a body only if a field is required', () => {
    const isRequired = (path: string) =>
      (document.paths[path]?.['post']?.requestBody as { required?: boolean } | undefined)?.required;
    expect(isRequired('/v1/charges')).to.equal(true);
    expect(isRequired('/v1/sandbox/charges/{id}/pay')).to.equal(false);
  });
  it('declares each answer’s headers: Idempotent-Replayed with 201 only, Retry-After with 429', () => {
    const headersOf = ({ responses }: Operation, status: string) =>
      Object.keys((responses[status] as { headers?: object } | undefined)?.headers ?? {});
    const limits = ['X-RateLimit-Limit-Minute', 'X-RateLimit-Remaining-Minute'];
    const creating = document.paths['/v1/charges']?.['post'] as Operation;
    expect(headersOf(creating, '201')).to.deep.equal(['X-Request-Id', ...limits, 'Idempotent-Replayed']);
    expect(headersOf(creating, '429')).to.deep.equal(['X-Request-Id', 'Link', 'Retry-After', ...limits]);
    expect(headersOf(creating, '400')).to.deep.equal(['X-Request-Id', 'Link']);
    for (const { operationId, responses } of operations)
      for (const [status, { headers = {} }] of Object.entries(responses as { [status: string]: { headers?: object } }))
        if (status !== '201') expect(Object.keys(headers), operationId).to.not.include('Idempotent-Replayed');
  });
  it('describes how each family of events is signed', () => {
    const signatureOf = (event: string) =>
      document.webhooks[event]?.post.parameters.find(({ name }) => name === 'X-Acme-Signature')?.description;
    for (const { event, legacy } of EVENT_CATALOGUE)
      expect(signatureOf(event), event).to.match(legacy ? /^`sha256=<hex>`/ : /^`t=<unix seconds>,v1=<hex>`/);
  });
  it('requires the Idempotency-Key header of charges', () => {
    const creating = document.paths['/v1/charges']?.['post'] as Operation;
    expect(creating.parameters.map(({ $ref }) => $ref)).to.include('#/components/parameters/IdempotencyKey');
  });
  it('omits fields that the route sets itself', () => {
    const requiredBy = (path: string) =>
      document.paths[path]?.['post']?.requestBody?.content['application/json'].schema.required;
    expect(requiredBy('/v1/charges')).to.deep.equal(['amount', 'payment_method']);
    expect(requiredBy('/v1/pix/charges')).to.deep.equal(['amount']);
  });
});

describe('GET /openapi.json', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await TestGateway.open();
  });
  after(() => gateway.close());
  /** Sends a request with `node:http`, which decompresses nothing. */
  const ask = async (headers: Record<string, string>, method = 'GET') => {
    const sent = request(new URL('/openapi.json', gateway.baseUrl), { method, headers }).end();
    const [res] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of res) chunks.push(chunk as Buffer);
    return { status: res.statusCode, headers: res.headers, bytes: Buffer.concat(chunks) };
  };

  it('is compressed to less than a fifth for clients that accept gzip', async () => {
    const plain = await ask({});
    for (const coding of ['gzip', 'gzip, deflate, br', 'br;q=0.1, gzip']) {
      const { headers, bytes } = await ask({ 'accept-encoding': coding });
      expect([headers['content-encoding'], headers.vary]).to.deep.equal(['gzip', 'Accept-Encoding']);
      expect(gunzipSync(bytes).equals(plain.bytes)).to.equal(true);
      expect(bytes.length).to.be.below(plain.bytes.length / 5);
    }
    for (const coding of ['', 'identity', 'br', 'gzip;q=0']) {
      const { headers, bytes } = await ask({ 'accept-encoding': coding });
      expect([headers['content-encoding'], bytes.equals(plain.bytes)]).to.deep.equal([undefined, true]);
    }
  });
  it('returns 304 to clients that already have it, compressed or not', async () => {
    const tags = [(await ask({})).headers.etag ?? '', (await ask({ 'accept-encoding': 'gzip' })).headers.etag ?? ''];
    expect(tags[0]).to.match(/^"[0-9a-f]{16}"$/);
    expect(tags[1]).to.equal(`W/${tags[0]}`);
    for (const tag of [...tags, `"other", ${tags[0]}`, '*'])
      for (const coding of ['', 'gzip'])
        for (const method of ['GET', 'HEAD']) {
          const { status, headers, bytes } = await ask({ 'if-none-match': tag, 'accept-encoding': coding }, method);
          expect([status, bytes.length, headers['cache-control']]).to.deep.equal([304, 0, 'public, max-age=300']);
          expect(headers.etag).to.equal(coding === '' ? tags[0] : tags[1]);
        }
    for (const tag of ['"other"', tags[0]?.slice(1, -1) ?? ''])
      expect((await ask({ 'if-none-match': tag })).status).to.equal(200);
  });
  it('is rendered once, so that repeated answers cost hardly any CPU time', async () => {
    const first = await ask({ 'accept-encoding': 'gzip' });
    const { result, longestMs } = await longestTurnOf(() => ask({ 'accept-encoding': 'gzip' }));
    expect(result.bytes.equals(first.bytes)).to.equal(true);
    expect(longestMs).to.be.below(cpuMsHere(10));
  });

  it('is this server’s document, for any caller', async () => {
    const { status, headers, body } = await gateway.get('/openapi.json', { key: null });
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(headers.get('cache-control')).to.equal('public, max-age=300');
    expect(headers.get('access-control-allow-origin')).to.equal('*');
    expect(body).to.deep.equal(JSON.parse(JSON.stringify(openApiDocument(API_ROUTES, gateway.baseUrl))));
  });
});
