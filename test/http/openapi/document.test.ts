// GET /openapi.json: valid, linted, and what the routes enforce.
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { EVENT_CATALOGUE } from '../../../domain/presentation/catalogue.ts';
import { API_ROUTES } from '../../../http/api/routes.ts';
import { openApiDocument } from '../../../http/openapi/document.ts';
import { TestGateway } from '../../support/gateway.ts';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
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
  it('has nothing that the recommended rules of Redocly find', async () => {
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
  it('has every route of the table, under its own operationId', () => {
    const ids = [...operations, ...hooks].map(({ operationId }) => operationId);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(operations.map(({ operationId }) => operationId).sort()).to.deep.equal(
      API_ROUTES.map(({ operationId }) => operationId).sort(),
    );
  });
  it('has every event of the catalogue', () => {
    expect(Object.keys(document.webhooks)).to.deep.equal(EVENT_CATALOGUE.map(({ event }) => event));
  });
  for (const operation of [...operations, ...hooks])
    it(`${operation.operationId} is described: summary, a declared tag, every parameter`, () => {
      expect(operation.summary).to.match(/\S/);
      expect(operation.tags).to.have.length(1);
      expect(document.tags.map(({ name }) => name)).to.include(operation.tags[0]);
      for (const parameter of operation.parameters) expect(parameter.$ref ?? parameter.description).to.match(/\S/);
    });
  it('declares no tag that nothing has: the reference would show an empty chapter', () => {
    const had = new Set([...operations, ...hooks].flatMap(({ tags }) => tags));
    expect(document.tags.map(({ name }) => name)).to.have.members([...had]);
  });
  it('asks for a key where the routes do, and tells of 401 and 429 there', () => {
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
  it('shows what is answered late by the example of what is answered in time', () => {
    const exampleOf = ({ responses }: Operation, status: string) =>
      (responses[status] as { content?: { 'application/json': { example?: unknown } } }).content?.['application/json']
        .example;
    const late = operations.filter(({ responses }) => responses['202'] !== undefined && responses['200'] !== undefined);
    expect(late.length).to.be.at.least(4);
    for (const operation of late) {
      expect(exampleOf(operation, '200'), operation.operationId).to.be.an('object');
      expect(exampleOf(operation, '202'), operation.operationId).to.be.an('object');
    }
  });
  it('is of the server whose address it is given', () =>
    expect(document.servers.map(({ url }) => url)).to.deep.equal([BASE]));
  it('has no parameter of another list that this one refuses', () => {
    const listed = document.paths['/v1/charges']?.['get'] as Operation;
    const names = listed.parameters.flatMap(({ name }) => name ?? []);
    expect(names).to.include('starting_after').and.not.include.members(['page']);
    for (const { parameters } of operations)
      for (const { description } of parameters) expect(description ?? '').to.not.match(/^Refused/);
  });
  it('requires a body where a field of it is required', () => {
    const isRequired = (path: string) =>
      (document.paths[path]?.['post']?.requestBody as { required?: boolean } | undefined)?.required;
    expect(isRequired('/v1/charges')).to.equal(true);
    expect(isRequired('/v1/sandbox/charges/{id}/pay')).to.equal(false);
  });
  it('tells of the header that each answer has: a repeat with 201 alone, the limit with 429', () => {
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
  it('tells how each family of events is signed', () => {
    const signatureOf = (event: string) =>
      document.webhooks[event]?.post.parameters.find(({ name }) => name === 'X-Acme-Signature')?.description;
    for (const { event, legacy } of EVENT_CATALOGUE)
      expect(signatureOf(event), event).to.match(legacy ? /^`sha256=<hex>`/ : /^`t=<unix seconds>,v1=<hex>`/);
  });
  it('requires the Idempotency-Key header of charges', () => {
    const creating = document.paths['/v1/charges']?.['post'] as Operation;
    expect(creating.parameters.map(({ $ref }) => $ref)).to.include('#/components/parameters/IdempotencyKey');
  });
  it('asks nobody for what a route fills in itself', () => {
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

  it('is the document of this server, for everybody', async () => {
    const { status, headers, body } = await gateway.get('/openapi.json', { key: null });
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(headers.get('cache-control')).to.equal('public, max-age=300');
    expect(headers.get('access-control-allow-origin')).to.equal('*');
    expect(body).to.deep.equal(JSON.parse(JSON.stringify(openApiDocument(API_ROUTES, gateway.baseUrl))));
  });
});
