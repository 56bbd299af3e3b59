// The examples of the OpenAPI document: real requests and answers, recorded by `npm run docs` (test/http/openapi/record.ts).
import { existsSync, readFileSync } from 'node:fs';
import { HTTP_MODULES } from '../api/routes.ts';
import type { HttpModule } from '../kernel/httpModule.ts';

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

/** The examples of a module, or those that belong to no single one. */
export const exampleFile = (module: HttpModule | null): URL =>
  new URL(module === null ? './examples.json' : `../api/${module.name}/examples.json`, import.meta.url);

const KEPT: readonly Examples[] = [null, ...HTTP_MODULES]
  .map(exampleFile)
  .filter((file) => existsSync(file))
  .map((file) => JSON.parse(readFileSync(file, 'utf8')));

export const EXAMPLES: Examples = {
  operations: Object.assign({}, ...KEPT.map(({ operations }) => operations)),
  errors: Object.assign({}, ...KEPT.map(({ errors }) => errors)),
  webhooks: Object.assign({}, ...KEPT.map(({ webhooks }) => webhooks)),
};
