// The examples of the OpenAPI document are complete, match their schemas and have the shape of this version’s answers.

import { expect } from 'chai';
import { EVENT_CATALOGUE } from '../../../domain/presentation/catalogue.ts';
import { API_ROUTES } from '../../../http/api/routes.ts';
import { ERRORS } from '../../../http/kernel/errors.ts';
import { webhookSchema } from '../../../http/openapi/document.ts';
import { EXAMPLES } from '../../../http/openapi/examples.ts';
import { compileResponse } from '../../support/compileResponse.ts';
import { shapeOf } from '../../support/jsonShape.ts';
import { playStory, type Recorded } from './scenario.ts';

const expectValid = (schema: object, value: unknown): void => {
  const validate = compileResponse(schema);
  expect(validate(value), `${JSON.stringify(validate.errors)} ${JSON.stringify(value)}`).to.equal(true);
};

describe('the examples of the OpenAPI document', () => {
  let played: Recorded;
  before(async () => {
    played = await playStory();
  });

  for (const { operationId, body, responses } of API_ROUTES) {
    const { request, responses: answered = {} } = EXAMPLES.operations[operationId] ?? {};
    it(`are valid and current for ${operationId}, request and answer`, () => {
      if (body.kind === 'json') expectValid(body.schema, request);
      else expect(request).to.equal(undefined);
      const hasBody = Object.values(responses).some(({ kind }) => !['empty', 'eventStream', 'bytes'].includes(kind));
      expect(Object.keys(answered).length > 0).to.equal(hasBody);
      for (const [status, value] of Object.entries(answered)) {
        const response = responses[Number(status)];
        if (response?.kind !== 'json') throw new Error(`${operationId} declares no ${status}`);
        expectValid(response.schema, value);
        const today = played.operations[operationId]?.responses[status];
        expect(shapeOf(value), 'npm run docs').to.equal(shapeOf(today));
      }
    });
  }
  for (const { event } of EVENT_CATALOGUE)
    it(`are valid and current for the webhook ${event}`, () => {
      expectValid(webhookSchema(event), EXAMPLES.webhooks[event]);
      expect(shapeOf(EXAMPLES.webhooks[event]), 'npm run docs').to.equal(shapeOf(played.webhooks[event]));
    });
  // Their shapes are compared where each error is provoked (test/http/kernel/errors.test.ts).
  it('include every error', () => {
    expect(Object.keys(EXAMPLES.errors).sort()).to.deep.equal(Object.keys(ERRORS).sort());
    for (const [code, body] of Object.entries(EXAMPLES.errors))
      expect((body as { error: { code: string } }).error.code).to.equal(code);
  });
});
