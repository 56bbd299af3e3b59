// Which signing secrets are stored while an endpoint changes in another process.
import { expect } from 'chai';
import type { WebhookSecrets } from '../../../application/ports/secrets.ts';
import { deleteWebhookEndpoint, rotateWebhookSecret } from '../../../application/webhooks/webhookEndpoints.ts';
import type { EndpointId } from '../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { registerEndpoint, WEBHOOK_ENDPOINT } from '../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { systemRandomness } from '../../../infrastructure/system/system.ts';
import { type Core, newId, openCore, why } from '../../support/core.ts';
import { CREATED_AT } from '../../support/samples.ts';

/** The secrets in memory. `stored` has them by endpoint and version. */
const memorySecrets = (): WebhookSecrets & { readonly stored: Map<string, string> } => {
  const stored = new Map<string, string>();
  const remove = (isGone: (id: string, version: number) => boolean): void => {
    for (const key of stored.keys()) {
      const [id, version] = key.split(' ') as [string, string];
      if (isGone(id, Number(version))) stored.delete(key);
    }
  };
  return {
    stored,
    keep: async (id, version, secret) => {
      const key = `${id} ${version}`;
      stored.set(key, stored.get(key) ?? secret);
      return stored.get(key) as string;
    },
    find: async (id, version) => stored.get(`${id} ${version}`) ?? null,
    forgetBefore: async (id, before) => remove((of, version) => of === id && version < before),
    forget: async (ids) => remove((of) => ids.includes(of as EndpointId)),
  };
};

describe('the signing secrets of an endpoint', () => {
  let core: Core;
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());

  const by = { actor: 'key:a', requestId: 'r' };
  const tenantOf = ({ account: { accountId } }: Core) => ({ accountId, mode: 'test' }) as const;
  const registered = async (secrets: WebhookSecrets): Promise<EndpointId> => {
    const endpointId = newId<EndpointId>();
    const endpoint = { endpointId, ...tenantOf(core), url: 'https://a.example/', events: ['*'], secretVersion: 1 };
    const stream = WEBHOOK_ENDPOINT.stream(endpointId);
    await core.commands.execute(
      WEBHOOK_ENDPOINT,
      stream,
      registerEndpoint(endpoint, CREATED_AT),
      why(core.account.accountId),
    );
    await secrets.keep(endpointId, 1, 'a'.repeat(64));
    return endpointId;
  };

  it('are deleted if the endpoint is deleted while its secret is rotated', async () => {
    const { commands, accounts } = core;
    const secrets = memorySecrets();
    const endpointId = await registered(secrets);
    const other = await registered(secrets);
    const remove = deleteWebhookEndpoint({ commands: core.anotherProcess(), accounts, secrets });
    const keep: WebhookSecrets['keep'] = async (...secret) => {
      await remove(tenantOf(core), endpointId, by);
      return secrets.keep(...secret);
    };
    const rotate = rotateWebhookSecret({
      commands,
      accounts,
      secrets: { ...secrets, keep },
      randomness: systemRandomness,
    });
    const rotated = await rotate(tenantOf(core), endpointId, by);
    expect(isRejection(rotated) && rotated.code).to.equal('not_found');
    expect([...secrets.stored.keys()]).to.deep.equal([`${other} 1`]);
  });

  it('stay if a rotation is rejected for another reason', async () => {
    const { commands, accounts } = core;
    const secrets = memorySecrets();
    const endpointId = await registered(secrets);
    const limited = {
      load: commands.load.bind(commands),
      execute: async () => reject('change_limit_reached', 'Too many changes.'),
    } as unknown as typeof commands;
    const rotate = rotateWebhookSecret({ commands: limited, accounts, secrets, randomness: systemRandomness });
    const rotated = await rotate(tenantOf(core), endpointId, by);
    expect(isRejection(rotated) && rotated.code).to.equal('change_limit_reached');
    expect([...secrets.stored.keys()]).to.include(`${endpointId} 1`);
  });

  it('stay if a key of the other mode asks to rotate them', async () => {
    const { commands, accounts } = core;
    const secrets = memorySecrets();
    const endpointId = await registered(secrets);
    const rotate = rotateWebhookSecret({ commands, accounts, secrets, randomness: systemRandomness });
    const rotated = await rotate({ ...tenantOf(core), mode: 'live' }, endpointId, by);
    expect(isRejection(rotated) && rotated.code).to.equal('not_found');
    expect([...secrets.stored.keys()]).to.deep.equal([`${endpointId} 1`]);
  });
});
