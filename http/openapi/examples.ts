// The examples of the OpenAPI document: real requests and answers, recorded by `npm run docs` (test/http/openapi/record.ts).
import { readFileSync } from 'node:fs';

/** By operation: what was sent, and what was answered with each status. */
export interface OperationExamples {
  readonly request?: unknown;
  readonly responses: { readonly [status: string]: unknown };
}

export interface Examples {
  readonly operations: { readonly [operationId: string]: OperationExamples };
  /** By code: the body of an answer. */
  readonly errors: { readonly [code: string]: unknown };
  /** By event type: headers and body of a delivery. */
  readonly webhooks: { readonly [event: string]: unknown };
}

const read = <Shape>(name: keyof Examples): Shape =>
  JSON.parse(readFileSync(new URL(`./examples/${name}.json`, import.meta.url), 'utf8')) as Shape;

export const EXAMPLES: Examples = {
  operations: read('operations'),
  errors: read('errors'),
  webhooks: read('webhooks'),
};
