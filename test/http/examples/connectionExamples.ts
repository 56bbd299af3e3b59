// Examples for the routes of provider connections.
import type { ConnectionId } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { PROVIDER_CONNECTION } from '../../../domain/providerConnection/aggregate.ts';
import { connectionTerms } from '../../world/fakeConnections.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { type Connections, type Example, NO_ID } from './exampleParts.ts';

/** Nothing listens at these addresses. */
const URLS = { baseUrl: 'https://127.0.0.1:1', tokenUrl: 'https://127.0.0.1:1/token', allowPrivate: true };

/** Adds a connection in its own account, so that no other example uses it. */
export const makeConnection = async (gateway: TestGateway): Promise<Connections> => {
  const { accountId } = await gateway.newTenant();
  const { connectionId: _, ...terms } = connectionTerms('' as ConnectionId, { ...URLS, accountId });
  const added = await gateway.gateway.services.platform.addProviderConnection(
    terms,
    { clientSecret: 'a secret', privateKey: null },
    { actor: 'operator:test', requestId: null },
  );
  if (isRejection(added)) throw new Error(added.message);
  await gateway.untilProjected();
  return { providerId: PROVIDER_CONNECTION.idPrefix + added.connectionId };
};

const PROVIDERS = '/ops/v1/providers';
const ofConnection = (rest = '', more: Partial<Example> = {}): Example => ({
  path: ({ providerId }) => `${PROVIDERS}/${providerId}${rest}`,
  absent: `${PROVIDERS}/pc_${NO_ID}${rest}`,
  live: 401,
  ...more,
});

export const CONNECTION_EXAMPLES: { readonly [operationId: string]: Example } = {
  addProvider: {
    path: () => PROVIDERS,
    body: {
      preset: 'efi',
      name: 'Efí, main account',
      baseUrl: 'https://pix.api.efipay.com.br',
      tokenUrl: 'https://pix.api.efipay.com.br/oauth/token',
      clientId: 'Client_Id_0f4c',
      clientSecret: 'Client_Secret_77e1',
      pixKey: '5f84a4c5-c5cb-4599-9f13-7eb4d419dacc',
      // Belongs to a nonexistent account, so that charges of other examples don’t use it.
      accountId: `acct_${NO_ID}`,
    },
    live: 401,
    refusal: 400,
  },
  listProviders: { path: () => PROVIDERS, live: 401 },
  showProvider: ofConnection(),
  changeProvider: ofConnection('', { body: { name: 'Efí, second account', order: 2 } }),
  enableProvider: ofConnection('/enable'),
  drainProvider: ofConnection('/drain'),
  disableProvider: ofConnection('/disable'),
  removeProvider: ofConnection('', { fresh: makeConnection }),
  rotateProviderClientSecret: ofConnection('/client-secret', { body: { clientSecret: 'Client_Secret_91b2' } }),
  rotateProviderCallbackSecret: ofConnection('/callback-secret'),
  checkProvider: ofConnection('/check'),
  registerProviderWebhook: ofConnection('/webhook', { refusal: 400 }),
  showProviderWebhook: ofConnection('/webhook', { refusal: 400 }),
};
