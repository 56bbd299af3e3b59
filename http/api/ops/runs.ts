// Routes that rebuild and verify read models in the background of the server, for operators of the platform (rule O1).
import { isRejection } from '../../../domain/kernel/rejection.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { actorOf, json, jsonBody, type Route, route } from '../../kernel/route.ts';
import { FOR_OPERATORS } from './operatorRoutes.ts';

const work = s.described('`rebuild` or `verify`.', s.oneOfTexts(['rebuild', 'verify']));
const outcome = s.exactly({
  rebuilt: s.described(
    'Empty for a verification.',
    s.listOf(s.exactly({ readModel: s.string(), events: s.anyInteger, seconds: s.anyNumber })),
  ),
  verified: s.described(
    'null for a rebuild.',
    s.orNull(
      s.exactly({
        rows: s.described('Compared rows.', s.anyInteger),
        differences: s.described('Rows that differ. Must be 0.', s.anyInteger),
        tables: s.described('The tables of the first differences.', s.listOf(s.string())),
        parkedStreams: s.described('Parked streams, which are not compared from the parked event on.', s.anyInteger),
      }),
    ),
  ),
});
const runSchema = s.exactly({
  id: s.string(),
  work,
  readModel: s.described('The read model, or `all`.', s.string()),
  by: s.described('Who started it.', s.string()),
  state: s.described(
    '`lost`: its process has not reported for 15 seconds.',
    s.oneOfTexts(['running', 'done', 'failed', 'lost']),
  ),
  share: s.described('The completed share, from 0 to 1.', s.anyNumber),
  what: s.described('What it does now.', s.string()),
  startedAt: s.timestamp,
  endedAt: s.orNull(s.timestamp),
  outcome: s.described('The result; null unless it is done.', s.orNull(outcome)),
  error: s.described('Why it failed; null if it did not.', s.orNull(s.string())),
});

const listRunsRoute = route('GET', '/ops/v1/projections/runs', {
  ...FOR_OPERATORS,
  operationId: 'listProjectionRuns',
  summary: 'List rebuilds and verifications',
  description:
    'Returns the rebuilds and verifications that `startProjectionRun` started, newest first, with their progress. A process knows the last 20 since it started.',
  responses: { 200: json('The runs.', s.exactly({ data: s.listOf(runSchema) })) },
  handle: async ({ services }) => ({ status: 200, body: { data: services.readModelRuns() } }),
});

const startRunRoute = route('POST', '/ops/v1/projections/runs', {
  ...FOR_OPERATORS,
  operationId: 'startProjectionRun',
  summary: 'Start a rebuild or verification',
  description:
    'Rebuilds or verifies read models in the background, one at a time. `listProjectionRuns` shows the progress. When the process stops, the run fails; starting a rebuild again resumes it.',
  body: jsonBody({
    schema: s.accepting({
      work,
      readModel: s.optional(s.described('The read model to rebuild. Default: `all`.', s.string(100))),
    }),
  }),
  responses: { 202: json('The run has started.', runSchema) },
  errors: ['not_found', 'work_in_progress'],
  handle: async (context) => {
    const { body, services } = context;
    const wanted = { work: body.work, readModel: body.readModel ?? 'all', by: actorOf(context).actor };
    const run = services.startReadModelRun(wanted);
    return isRejection(run) ? run : { status: 202, body: run };
  },
});

export const OPS_RUN_ROUTES: readonly Route[] = [listRunsRoute, startRunRoute];
