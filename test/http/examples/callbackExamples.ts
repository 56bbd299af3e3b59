// Examples for the routes of provider callbacks.
import type { ConnectionId } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { PROVIDER_CONNECTION } from '../../../domain/providerConnection/aggregate.ts';
import { connectionTerms } from '../../world/fakeConnections.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { type Callbacks, type Example, NO_ID } from './exampleParts.ts';

const BY = { actor: 'operator:test', requestId: null };
const FINDING = {
  outcome: 'unmatched',
  reference: 'E18236120202611241200s1234567890',
  txid: null,
  because: 'no_txid',
};

/** Stores a callback that waits for an operator. */
const waiting = async ({ storage }: TestGateway, connection: string): Promise<string> => {
  const { rows } = await storage.operations.query<{ id: number }>(
    `INSERT INTO operations.provider_callbacks (connection_id, body_hash, raw, handled_at, outcome, findings)
     VALUES ($1, sha256(gen_random_uuid()::text::bytea), '{}', now(), 'unmatched', $2) RETURNING id`,
    [connection.slice(PROVIDER_CONNECTION.idPrefix.length), JSON.stringify([FINDING])],
  );
  return String(rows[0]?.id);
};

/** The connection makes no calls, because it is disabled, but its callbacks are stored. */
export const makeCallbacks = async (gateway: TestGateway): Promise<Callbacks> => {
  const { platform } = gateway.gateway.services;
  const { connectionId: _, ...terms } = connectionTerms('' as ConnectionId);
  const added = await platform.addProviderConnection(terms, { clientSecret: 'a secret', privateKey: null }, BY);
  if (isRejection(added)) throw new Error(added.message);
  await platform.switchProviderConnection(added.connectionId, 'disabled', BY);
  await gateway.untilProjected();
  const callbackConnectionId = PROVIDER_CONNECTION.idPrefix + added.connectionId;
  return {
    callbackConnectionId,
    callbackPath: new URL(added.callbackUrl).pathname,
    callbackId: await waiting(gateway, callbackConnectionId),
  };
};

const PROVIDERS = '/ops/v1/providers';

export const CALLBACK_EXAMPLES: { readonly [operationId: string]: Example } = {
  takeCallback: {
    path: ({ callbackPath }) => callbackPath,
    body: {},
    absent: `/providers/pc_${NO_ID}/none`,
    live: 200,
  },
  takePixCallback: {
    path: ({ callbackPath }) => `${callbackPath}/pix`,
    body: {},
    absent: `/providers/pc_${NO_ID}/none/pix`,
    live: 200,
  },
  listProviderCallbacks: {
    path: ({ callbackConnectionId }) => `${PROVIDERS}/${callbackConnectionId}/callbacks`,
    absent: `${PROVIDERS}/pc_${NO_ID}/callbacks`,
    live: 401,
  },
  resolveProviderCallback: {
    path: ({ callbackConnectionId, callbackId }) =>
      `${PROVIDERS}/${callbackConnectionId}/callbacks/${callbackId}/resolve`,
    body: { reason: 'A customer paid to the key. We sent it back.' },
    absent: `${PROVIDERS}/pc_${NO_ID}/callbacks/1/resolve`,
    live: 401,
    fresh: makeCallbacks,
  },
};
