// Routes by which operators see the audit log, rotate its key and manage auditors' tokens (rule O1).
import type { AuditToken } from '../../../application/ports/auditAccess.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { anyInteger, described, exactly, listOf, orNull, string, timestamp } from '../../kernel/jsonSchema.ts';
import { json, jsonBody, pathParam, type Route, route } from '../../kernel/route.ts';
import { FOR_OPERATORS } from '../ops/tags.ts';

const keys = described(
  'The public keys of the log, oldest first. `until` is null for the key that signs.',
  listOf(exactly({ vkey: string(), from: timestamp, until: orNull(timestamp) })),
);

const statusRoute = route('GET', '/ops/v1/audit', {
  ...FOR_OPERATORS,
  operationId: 'getAuditStatus',
  summary: 'Retrieve the status of the audit log',
  description:
    'Returns the size of the tree, how far sealing is behind the event log, the latest checkpoint, keys and anchors.',
  responses: {
    200: json(
      'The status.',
      exactly({
        origin: string(),
        size: described('Leaves of the tree.', anyInteger),
        root: described('The root of the tree, in base64.', string()),
        stopped: described('Why sealing stopped; null if it goes on.', orNull(string())),
        lagSeconds: described(
          'Age of the oldest event that is not sealed; null if the event log can’t be read from there.',
          orNull(anyInteger),
        ),
        checkpoint: described('The latest checkpoint.', orNull(exactly({ size: anyInteger, signedAt: timestamp }))),
        keys,
        anchors: listOf(
          exactly({
            anchor: string(),
            size: described('Size of the last checkpoint that the anchor received.', anyInteger),
            sentAt: orNull(timestamp),
            failures: described('Failed attempts since then.', anyInteger),
            retryAt: orNull(timestamp),
            error: orNull(string()),
          }),
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
  responses: { 201: json('The keys.', exactly({ keys })) },
  handle: async ({ services: { platform } }) => ({ status: 201, body: { keys: await platform.rotateAuditKey() } }),
});

const TOKEN = {
  id: described('The first 16 hex characters of the token’s hash.', string()),
  name: string(),
  createdAt: timestamp,
  revokedAt: orNull(timestamp),
};
const viewOf = ({ id, name, createdAt, revokedAt }: AuditToken) => ({ id, name, createdAt, revokedAt });

const listRoute = route('GET', '/ops/v1/audit/tokens', {
  ...FOR_OPERATORS,
  operationId: 'listAuditTokens',
  summary: 'List auditors’ tokens',
  description: 'Returns all tokens, oldest first, without their secrets.',
  responses: { 200: json('The tokens.', exactly({ data: listOf(exactly(TOKEN)) })) },
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
  body: jsonBody({ schema: exactly({ name: described('Whom the token is for.', string(100)) }) }),
  responses: { 201: json('The token.', exactly({ ...TOKEN, token: string() })) },
  handle: async ({ body, services: { platform } }) => {
    const issued = await platform.issueAuditToken(body.name);
    return isRejection(issued) ? issued : { status: 201, body: { ...viewOf(issued), token: issued.token } };
  },
});

const ID = /^[0-9a-f]{16}$/;
const idParam = pathParam('The id of the token.', (text) =>
  ID.test(text) ? text : reject('not_found', 'There is no such token.'),
);

const revokeRoute = route('DELETE', '/ops/v1/audit/tokens/{id}', {
  ...FOR_OPERATORS,
  operationId: 'revokeAuditToken',
  summary: 'Revoke an auditor’s token',
  description: 'Ends the token’s access at once. A repeat changes nothing.',
  params: { id: idParam },
  responses: { 200: json('The token.', exactly(TOKEN)) },
  handle: async ({ params, services: { platform } }) => {
    const revoked = await platform.revokeAuditToken(params.id);
    return isRejection(revoked) ? revoked : { status: 200, body: viewOf(revoked) };
  },
});

export const OPERATOR_AUDIT_ROUTES: readonly Route[] = [statusRoute, rotateRoute, listRoute, issueRoute, revokeRoute];
