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
  it('asks for a key where the routes do, and tells of 401 and 429 there', () => {
    const isKeyed = (operation: Operation) => operation.security.length > 0;
    expect(operations.filter((operation) => !isKeyed(operation)).map(({ operationId }) => operationId)).to.deep.equal([
      'listEventCatalogue',
    ]);
    for (const { operationId, responses } of operations.filter(isKeyed))
      expect(Object.keys(responses), operationId).to.include.members(['401', '429', '500', '503']);
    for (const [path, there] of Object.entries(document.paths))
      for (const { security, operationId } of Object.values(there))
        expect(JSON.stringify(security).includes('testApiKey'), operationId).to.equal(path.startsWith('/v1/sandbox/'));
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
