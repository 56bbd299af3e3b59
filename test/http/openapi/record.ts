// Part of `npm run docs`: plays the story, provokes every error and stores the answers next to the routes.
import type { ErrorCode } from '../../../domain/kernel/rejection.ts';
import type { Examples } from '../../../http/openapi/examples.ts';
import { openReady } from '../../world/http.ts';
import { PROVOKED } from '../examples/provokedErrors.ts';
import { keepExamples } from './keptExamples.ts';
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

keepExamples({ ...(await playStory()), errors: await provokeAll() });
process.exit(0);
