// Routes by which operators see the audit log, rotate its key and manage auditors' tokens (rule O1).
import type { AuditToken } from '../../../application/ports/auditAccess.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { json, jsonBody, ok, pathParam, type Route, route } from '../../kernel/route.ts';
import { FOR_OPERATORS } from '../ops/operatorRoutes.ts';

export const keyPeriods = s.described(
  'The public keys of the log, oldest first. `until` is null for the key that signs.',
  s.listOf(s.exactly({ vkey: s.string(), from: s.timestamp, until: s.orNull(s.timestamp) })),
);

const statusRoute = route('GET', '/ops/v1/audit', {
  ...FOR_OPERATORS,
  operationId: 'getAuditStatus',
  summary: 'Retrieve the status of the audit log',
  description:
    'Returns the size of the tree, how far sealing is behind the event log, the latest checkpoint, keys, anchors and witnesses.',
  responses: {
    200: json(
      'The status.',
      s.exactly({
        origin: s.string(),
        size: s.described('Leaves of the tree.', s.anyInteger),
        root: s.described('The root of the tree, in base64.', s.string()),
        stopped: s.described('Why sealing stopped; null if it goes on.', s.orNull(s.string())),
        lagSeconds: s.described(
          'Age of the oldest event that is not sealed; null if the event log can’t be read from there.',
          s.orNull(s.anyInteger),
        ),
        checkpoint: s.described(
          'The latest checkpoint.',
          s.orNull(
            s.exactly({
              size: s.anyInteger,
              signedAt: s.timestamp,
              signedBy: s.described('The public key that signed it; null if it is not listed.', s.orNull(s.string())),
            }),
          ),
        ),
        keys: keyPeriods,
        anchors: s.listOf(
          s.exactly({
            anchor: s.string(),
            size: s.described('Size of the last checkpoint that the anchor received.', s.anyInteger),
            sentAt: s.orNull(s.timestamp),
            failures: s.described('Failed attempts since then.', s.anyInteger),
            retryAt: s.orNull(s.timestamp),
            error: s.orNull(s.string()),
          }),
        ),
        witnesses: s.described(
          'The last checkpoint that each known witness cosigned.',
          s.listOf(s.exactly({ witness: s.string(), size: s.orNull(s.anyInteger), receivedAt: s.orNull(s.timestamp) })),
        ),
      }),
    ),
  },
  handle: async ({ services: { platform } }) => ({ status: 200, body: await platform.auditStatus() }),
});

const rotateRoute = route('POST', '/ops/v1/audit/keys', {
  ...FOR_OPERATORS,
  operationId: 'rotateAuditKey',
  summary: 'Rotate the key of the audit log',
  description: 'Creates a key that signs all further checkpoints. Old public keys stay listed.',
  responses: { 201: json('The keys.', s.exactly({ keys: keyPeriods })) },
  handle: async ({ services: { platform } }) => {
    const keys = await platform.rotateAuditKey();
    return isRejection(keys) ? keys : { status: 201, body: { keys } };
  },
});

const TOKEN = {
  id: s.described('The id of the token, 16 hex characters.', s.string()),
  name: s.string(),
  createdAt: s.timestamp,
  revokedAt: s.orNull(s.timestamp),
};
const viewOf = ({ id, name, createdAt, revokedAt }: AuditToken) => ({ id, name, createdAt, revokedAt });

const listRoute = route('GET', '/ops/v1/audit/tokens', {
  ...FOR_OPERATORS,
  operationId: 'listAuditTokens',
  summary: 'List auditors’ tokens',
  description: 'Returns all tokens, oldest first, without their secrets.',
  responses: { 200: json('The tokens.', s.exactly({ data: s.listOf(s.exactly(TOKEN)) })) },
  handle: async ({ services: { platform } }) => {
    const tokens = await platform.listAuditTokens();
    return { status: 200, body: { data: tokens.map(viewOf) } };
  },
});

const issueRoute = route('POST', '/ops/v1/audit/tokens', {
  ...FOR_OPERATORS,
  operationId: 'issueAuditToken',
  summary: 'Create an auditor’s token',
  description:
    'Creates a token with which an auditor can read the audit log. The token is shown only in this response.',
  body: jsonBody({ schema: s.exactly({ name: s.described('Whom the token is for.', s.string(100)) }) }),
  responses: { 201: json('The token.', s.exactly({ ...TOKEN, token: s.string() })) },
  handle: async ({ body, services: { platform } }) => {
    const issued = await platform.issueAuditToken(body.name);
    return isRejection(issued) ? issued : { status: 201, body: { ...viewOf(issued), token: issued.token } };
  },
});

const ID = /^[0-9a-f]{16}$/;
export const auditTokenParam = {
  id: pathParam('The id of the token.', (text) =>
    ID.test(text) ? text : reject('not_found', 'There is no such token.'),
  ),
};

const revokeRoute = route('DELETE', '/ops/v1/audit/tokens/{id}', {
  ...FOR_OPERATORS,
  operationId: 'revokeAuditToken',
  summary: 'Revoke an auditor’s token',
  description: 'Ends the token’s access at once. A repeat changes nothing.',
  params: auditTokenParam,
  responses: { 200: json('The token.', s.exactly(TOKEN)) },
  handle: async ({ params, services: { platform } }) => {
    return ok(await platform.revokeAuditToken(params.id), viewOf);
  },
});

export const OPERATOR_AUDIT_ROUTES: readonly Route[] = [statusRoute, rotateRoute, listRoute, issueRoute, revokeRoute];
