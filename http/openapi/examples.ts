// The examples of the OpenAPI document: real requests and responses, recorded by `npm run docs` (test/http/openapi/record.ts).
import { existsSync, readFileSync } from 'node:fs';
import { HTTP_MODULES } from '../api/routes.ts';
import type { HttpModule } from '../kernel/httpModule.ts';

/** A recorded request of an operation, and its response of each status. */
export interface OperationExamples {
  readonly request?: unknown;
  readonly responses: { readonly [status: string]: unknown };
}

export interface Examples {
  readonly operations: { readonly [operationId: string]: OperationExamples };
  /** Response bodies by error code. */
  readonly errors: { readonly [code: string]: unknown };
  /** Delivery bodies by event type. */
  readonly webhooks: { readonly [event: string]: unknown };
}

/** Returns the file with the examples of a module, or with the shared examples if `module` is null. */
export const exampleFile = (module: HttpModule | null): URL =>
  new URL(module === null ? './examples.json' : `../api/${module.name}/examples.json`, import.meta.url);

const RECORDED: readonly Examples[] = [null, ...HTTP_MODULES]
  .map(exampleFile)
  .filter((file) => existsSync(file))
  .map((file) => JSON.parse(readFileSync(file, 'utf8')));

export const EXAMPLES: Examples = {
  operations: Object.assign({}, ...RECORDED.map(({ operations }) => operations)),
  errors: Object.assign({}, ...RECORDED.map(({ errors }) => errors)),
  webhooks: Object.assign({}, ...RECORDED.map(({ webhooks }) => webhooks)),
};
