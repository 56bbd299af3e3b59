import { reject } from '../../../domain/kernel/rejection.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { matching } from '../../kernel/query.ts';
import { json, jsonBody, type Route, route } from '../../kernel/route.ts';
import { FOR_OPERATORS, total, upToThousand } from './operatorRoutes.ts';

const queueText = s.described('The name of a queue.', s.string(100));
const jobSchema = s.exactly({
  id: s.string(),
  queue: s.string(),
  state: s.described(
    '`failed`: all attempts failed. `retry`: another attempt follows automatically. `awaits_upgrade`: a newer version of Quita added the job, and only a worker of that version can run it.',
    s.oneOfTexts(['failed', 'retry', 'awaits_upgrade']),
  ),
  accountId: s.string(),
  mode: s.mode,
  attempts: s.anyInteger,
  error: s.string(),
  failedAt: s.string(),
  nextAttemptAt: s.orNull(s.string()),
});

const listFailedJobsRoute = route('GET', '/ops/v1/jobs', {
  operationId: 'listFailedJobs',
  summary: 'List failed jobs',
  description:
    'Returns background jobs that failed permanently, wait for their next attempt, or wait for an upgrade. Permanently failed jobs are kept for 30 days.',
  ...FOR_OPERATORS,
  query: {
    limit: upToThousand,
    queue: matching('Only jobs of this queue.', 'the name of a queue', (text) => text || undefined),
  },
  refusesUnknownQuery: true,
  responses: {
    200: json('The jobs.', s.exactly({ data: s.listOf(jobSchema), total })),
  },
  handle: async ({ query, services: { platform } }) => {
    const { jobs, total: all } = await platform.listFailedJobs(query.queue ?? null, query.limit);
    return { status: 200, body: { data: jobs, total: all } };
  },
});

const listQueuesRoute = route('GET', '/ops/v1/jobs/queues', {
  operationId: 'listQueues',
  summary: 'List the job queues',
  description:
    'Returns the number of jobs in each queue, each counted up to 10,000. The list is empty until a worker has run.',
  ...FOR_OPERATORS,
  responses: {
    200: json(
      'The queues.',
      s.exactly({
        data: s.listOf(
          s.exactly({
            queue: s.string(),
            ready: s.described('Jobs that a worker may start now.', s.anyInteger),
            running: s.anyInteger,
            retry: s.described('Jobs that wait for their next attempt.', s.anyInteger),
            failed: s.described('Jobs that failed permanently.', s.anyInteger),
            oldestAt: s.described(
              'Since when the oldest of the counted jobs that are ready waits; null if none is.',
              s.orNull(s.timestamp),
            ),
          }),
        ),
      }),
    ),
  },
  handle: async ({ services: { platform } }) => ({ status: 200, body: { data: await platform.listQueues() } }),
});

const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
const WHICH = reject('invalid_request', 'Send exactly one of id, queue, and all: true.', { param: 'id' });

const redriveJobsRoute = route('POST', '/ops/v1/jobs/redrive', {
  operationId: 'redriveJobs',
  summary: 'Retry failed jobs',
  description:
    'Retries jobs that failed permanently: one job, the jobs of one queue, or all of them. Completed steps are not repeated.',
  ...FOR_OPERATORS,
  body: jsonBody({
    schema: s.accepting({
      id: s.optional(s.described('The id of one job.', s.string(36, { pattern: UUID }))),
      queue: s.optional(queueText),
      all: s.optional(s.described('`true` retries the failed jobs of every queue.', s.boolean)),
    }),
  }),
  responses: {
    200: json(
      'The restarted jobs. `payloads` is the number of work items in a job.',
      s.exactly({ data: s.listOf(s.exactly({ id: s.string(), queue: s.string(), payloads: s.anyInteger })) }),
    ),
  },
  errors: ['not_found'],
  handle: async ({ body, services: { platform } }) => {
    const { id: jobId = null, queue = null, all = false } = body;
    if ([jobId !== null, queue !== null, all].filter(Boolean).length !== 1) return WHICH;
    const jobs = await platform.redriveJobs({ id: jobId, queue });
    if (jobId !== null && jobs.length === 0) return reject('not_found', 'There is no such permanently failed job.');
    const data = jobs.map((job) => ({ id: job.id, queue: job.queue, payloads: job.payloads.length }));
    return { status: 200, body: { data } };
  },
});

export const OPS_JOB_ROUTES: readonly Route[] = [listFailedJobsRoute, listQueuesRoute, redriveJobsRoute];
