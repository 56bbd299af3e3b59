// Writes the examples of the OpenAPI document into the http/api folder of each capability.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ErrorCode } from '../../../domain/kernel/rejection.ts';
import { EVENT_CATALOGUE } from '../../../domain/presentation/catalogue.ts';
import { API_ROUTES, HTTP_MODULES } from '../../../http/api/routes.ts';
import type { HttpModule } from '../../../http/kernel/httpModule.ts';
import { type Examples, exampleFile } from '../../../http/openapi/examples.ts';

/** Returns the only module whose operations declare the code, or null if several or none do. */
const answering = (code: string): HttpModule | null => {
  const modules = HTTP_MODULES.filter(({ routes }) => routes.some(({ errors }) => errors.includes(code as ErrorCode)));
  return modules.length === 1 ? (modules[0] as HttpModule) : null;
};
const operating = (operationId: string): HttpModule | null =>
  HTTP_MODULES.find(({ routes }) => routes.some((route) => route.operationId === operationId)) ?? null;
const sending = (event: string): HttpModule | null =>
  HTTP_MODULES.find(({ webhooks }) => Object.keys(webhooks).some((family) => event.startsWith(`${family}.`))) ?? null;

const ofModule = <Value>(
  module: HttpModule | null,
  names: readonly string[],
  values: { readonly [name: string]: Value },
  ownerOf: (name: string) => HttpModule | null,
): { readonly [name: string]: Value } =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = values[name];
      return value !== undefined && ownerOf(name) === module ? [[name, value]] : [];
    }),
  );

export const keepExamples = ({ operations, errors, webhooks }: Examples): void => {
  const operationIds = API_ROUTES.map(({ operationId }) => operationId);
  const events = EVENT_CATALOGUE.map(({ event }) => event);
  const modules = [null, ...HTTP_MODULES];
  for (const module of modules) {
    const examples: Examples = {
      operations: ofModule(module, operationIds, operations, operating),
      errors: ofModule(module, Object.keys(errors), errors, answering),
      webhooks: ofModule(module, events, webhooks, sending),
    };
    writeFileSync(exampleFile(module), `${JSON.stringify(examples, null, 2)}\n`);
  }
  execFileSync('biome', ['format', '--write', ...modules.map((module) => fileURLToPath(exampleFile(module)))]);
};
