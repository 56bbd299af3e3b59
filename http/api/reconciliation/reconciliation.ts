// Routes by which operators compare provider connections, read the statement of a day, and resolve findings (rule V4).
import { FINDING_KINDS, type Finding } from '../../../application/ports/providerBooks.ts';
import { type ConnectionId, PREFIX, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { PROVIDER_CONNECTION } from '../../../domain/providerConnection/aggregate.ts';
import { NO_CONNECTION } from '../../../domain/providerConnection/decisions.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { matching, oneOf } from '../../kernel/query.ts';
import { actorOf, json, jsonBody, ok, type Route, route } from '../../kernel/route.ts';
import { FOR_OPERATORS, total, upToThousand } from '../ops/operatorRoutes.ts';

/** The longest time that a request waits for the comparison. */
const WAIT_MS = 20_000;

const connectionOf = (text: string): ConnectionId | null =>
  parsePrefixedId<ConnectionId>(text, PROVIDER_CONNECTION.idPrefix);
const ofConnection = matching('Only this provider connection.', 'a pc_ id', (text) => connectionOf(text) ?? undefined);

const runRoute = route('POST', '/ops/v1/reconciliation/run', {
  operationId: 'runReconciliation',
  summary: 'Compare provider connections now',
  description:
    'Requests a comparison of one provider connection, or of all that are enabled or draining, and waits up to 20 s for its end. Otherwise the program continues it. `retryAt`: the institution gives no answer and is asked again then.',
  ...FOR_OPERATORS,
  body: jsonBody({
    schema: s.accepting({
      connection: s.optional(s.described('The `pc_` id of a connection; all if omitted.', s.string())),
    }),
  }),
  responses: {
    200: json(
      'The connections.',
      s.exactly({
        requestedAt: s.timestamp,
        isDone: s.boolean,
        connections: s.listOf(
          s.exactly({
            connection: s.id(PROVIDER_CONNECTION.idPrefix),
            comparedAt: s.orNull(s.timestamp),
            retryAt: s.orNull(s.timestamp),
          }),
        ),
      }),
    ),
  },
  errors: ['not_found'],
  handle: async ({ body, services: { platform } }) => {
    const connectionId = body.connection === undefined ? null : connectionOf(body.connection);
    if (body.connection !== undefined && connectionId === null) return NO_CONNECTION;
    return ok(await platform.runReconciliation(connectionId, WAIT_MS));
  },
});

const signed = (whose: string) =>
  s.described(
    `${whose} amount in centavos; negative if it left the institution; otherwise null.`,
    s.orNull(s.anyInteger),
  );
const FOUND = {
  kind: s.described('What differs.', s.oneOfTexts(FINDING_KINDS)),
  endToEndId: s.described('Of the Pix; of a return, that of the received Pix.', s.orNull(s.string())),
  txid: s.orNull(s.string()),
  charge: s.orNull(s.id(PREFIX.charge)),
  expected: signed('Our'),
  found: signed('The institution’s'),
};
const RESOLVED = {
  resolved: s.optional(
    s.described(
      'Absent while the finding is unresolved. `by` is `reconciliation` if a later comparison no longer showed it.',
      s.exactly({ at: s.timestamp, by: s.string(), reason: s.orNull(s.string()) }),
    ),
  ),
};

const reportRoute = route('GET', '/ops/v1/reconciliation/report', {
  operationId: 'reportReconciliation',
  summary: 'Retrieve the statement of a day',
  description:
    'Returns the statement of a provider connection for a civil day of São Paulo, in centavos. `difference` is what the institution lists minus what Quita posted: 0, or the sum of `found` minus `expected` over the findings.',
  ...FOR_OPERATORS,
  query: {
    connection: ofConnection,
    day: matching('The day as `yyyy-mm-dd`. Required.', 'a day as yyyy-mm-dd', (text) =>
      /^\d{4}-\d\d-\d\d$/.test(text) ? text : undefined,
    ),
  },
  refusesUnknownQuery: true,
  reads: ['providerMovements'],
  responses: {
    200: json(
      'The statement.',
      s.exactly({
        connection: s.id(PROVIDER_CONNECTION.idPrefix),
        day: s.string(),
        opening: s.anyInteger,
        received: s.anyInteger,
        returned: s.anyInteger,
        paidOut: s.anyInteger,
        fees: s.anyInteger,
        closing: s.anyInteger,
        difference: s.anyInteger,
        findings: s.listOf(s.exactly({ ...FOUND, ...RESOLVED })),
      }),
    ),
  },
  errors: ['invalid_request', 'not_found'],
  handle: async ({ query: { connection, day }, services: { platform } }) => {
    if (connection === undefined || day === undefined)
      return reject('invalid_request', '`connection` and `day` are required.', {
        param: connection === undefined ? 'connection' : 'day',
      });
    const found = await platform.reportReconciliation(connection, day);
    return isRejection(found) ? found : { status: 200, body: found };
  },
});

const findingSchema = s.exactly({
  id: s.described('Stays the same in every comparison.', s.string()),
  connection: s.id(PROVIDER_CONNECTION.idPrefix),
  day: s.string(),
  at: s.described('When the money moved.', s.timestamp),
  ...FOUND,
  reference: s.described(
    'The end-to-end id, the id of the return after it, or the id of the payout or refund.',
    s.string(),
  ),
  firstSeenAt: s.timestamp,
  lastSeenAt: s.timestamp,
  ...RESOLVED,
});
const shown = ({ connectionId, paymentId, moved: _, resolved, ...finding }: Finding) => ({
  ...finding,
  connection: PROVIDER_CONNECTION.idPrefix + connectionId,
  charge: paymentId === null ? null : PREFIX.charge + paymentId,
  ...(resolved !== null && { resolved }),
});

const listRoute = route('GET', '/ops/v1/reconciliation/findings', {
  operationId: 'listReconciliationFindings',
  summary: 'List findings of reconciliation',
  description: 'Returns unresolved findings, newest first, or with `all=true` also resolved ones.',
  ...FOR_OPERATORS,
  query: {
    limit: upToThousand,
    connection: ofConnection,
    all: oneOf('Whether resolved findings are included.', ['true', 'false']),
  },
  refusesUnknownQuery: true,
  responses: { 200: json('The findings.', s.exactly({ data: s.listOf(findingSchema), total })) },
  handle: async ({ query: { limit, connection = null, all }, services: { platform } }) => {
    const found = await platform.listFindings({ connectionId: connection, all: all === 'true' }, limit);
    return { status: 200, body: { data: found.findings.map(shown), total: found.total } };
  },
});

const resolveRoute = route('POST', '/ops/v1/reconciliation/findings/{id}/resolve', {
  operationId: 'resolveReconciliationFinding',
  summary: 'Resolve a finding',
  description:
    'Marks a finding as resolved. It stays in the report with the reason, and a later comparison does not reopen it unless its amounts change.',
  ...FOR_OPERATORS,
  params: {
    id: {
      description: 'The `rf_` id of the finding.',
      schema: { type: 'string' },
      parse: (text: string) =>
        /^rf_[0-9a-f]{24}$/.test(text) ? text : reject('not_found', 'No unresolved finding has this id.'),
    },
  },
  body: jsonBody({
    schema: s.accepting({ reason: s.described('1 to 500 characters. Don’t include personal data.', s.string()) }),
  }),
  responses: { 200: json('The finding.', findingSchema) },
  errors: ['not_found', 'invalid_request'],
  handle: async (context) =>
    ok(await context.services.platform.resolveFinding(context.params.id, context.body.reason, actorOf(context)), shown),
});

export const RECONCILIATION_ROUTES: readonly Route[] = [runRoute, reportRoute, listRoute, resolveRoute];
