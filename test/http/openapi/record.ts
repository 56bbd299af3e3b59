// Part of `npm run docs`: plays the story of the examples, provokes every error, and keeps what was answered in http/openapi/examples.
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import type { ErrorCode } from '../../../domain/kernel/rejection.ts';
import { EVENT_CATALOGUE } from '../../../domain/presentation/catalogue.ts';
import { API_ROUTES } from '../../../http/api/routes.ts';
import type { Examples } from '../../../http/openapi/examples.ts';
import { openReady } from '../../world/http.ts';
import { PROVOKED } from '../examples/provokedErrors.ts';
import { playStory } from './scenario.ts';

const REQUEST_ID = 'req_6m2v8k4c1q9x7z5d3f0b8n2h4j';

const provokeAll = async (): Promise<Examples['errors']> => {
  const gateway = await openReady();
  const errors: Record<string, unknown> = {};
  for (const [code, [, provoke]] of Object.entries(PROVOKED)) {
    const { body } = await provoke(gateway);
    errors[code as ErrorCode] = { ...(body as object), request_id: REQUEST_ID };
  }
  await gateway.close();
  return errors;
};

const inOrder = <Value>(names: readonly string[], values: { readonly [name: string]: Value }): Record<string, Value> =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(values, name)).map((name) => [name, values[name] as Value]));

const keep = (name: keyof Examples, value: object): Promise<void> =>
  writeFile(
    new URL(`../../../http/openapi/examples/${name}.json`, import.meta.url),
    `${JSON.stringify(value, null, 2)}\n`,
  );

const { operations, webhooks } = await playStory();
await keep(
  'operations',
  inOrder(
    API_ROUTES.map(({ operationId }) => operationId),
    operations,
  ),
);
await keep(
  'webhooks',
  inOrder(
    EVENT_CATALOGUE.map(({ event }) => event),
    webhooks,
  ),
);
await keep('errors', await provokeAll());
execFileSync('biome', ['format', '--write', 'http/openapi/examples']);
process.exit(0);
