// The route that checks the deployment, for operators of the platform (rule O1).
import * as s from '../../kernel/jsonSchema.ts';
import { json, type Route, route } from '../../kernel/route.ts';
import { FOR_OPERATORS } from './operatorRoutes.ts';

const checkRoute = route('GET', '/ops/v1/system', {
  ...FOR_OPERATORS,
  operationId: 'checkSystem',
  summary: 'Check the deployment',
  description:
    'Returns what `npm run cli -- doctor` prints, the version and start of the answering process, and which roles have a leader.',
  responses: {
    200: json(
      'The checks. `isGood` false: an operator should act.',
      s.exactly({
        version: s.string(),
        startedAt: s.timestamp,
        findings: s.listOf(s.exactly({ check: s.string(), isGood: s.boolean, says: s.string() })),
        leaders: s.listOf(
          s.exactly({
            role: s.string(),
            since: s.timestamp,
            isAlive: s.described(
              'Whether it renewed its lease in time. If not, another process takes over.',
              s.boolean,
            ),
            address: s.described(
              'The address of its process; null if it is on the database’s machine.',
              s.orNull(s.string()),
            ),
          }),
        ),
      }),
    ),
  },
  handle: async ({ services: { platform } }) => {
    const [findings, leaders] = [await platform.checkSystem(), await platform.listLeaders()];
    return { status: 200, body: { ...platform.showProcess(), findings, leaders } };
  },
});

export const OPS_SYSTEM_ROUTES: readonly Route[] = [checkRoute];
