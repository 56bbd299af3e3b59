// Puts the house together: the only place that knows which adapters run.
import { randomBytes } from 'node:crypto';
import { advanceClock } from '../../application/commands/advanceTestClock.ts';
import { CreateChargeHandler } from '../../application/commands/createCharge.ts';
import { payInSandbox } from '../../application/commands/payInSandbox.ts';
import { deleteWebhookEndpoint, registerWebhookEndpoint } from '../../application/commands/webhookEndpoints.ts';
import type { Services } from '../../http/services.ts';
import { sandboxPayer } from '../providers/sandbox/payer.ts';
import { type Core, openCore } from './core.ts';
import { projectorOf } from './following.ts';
import type { Gateway, GatewayOptions } from './gateway.ts';
import { whileAlone } from './whileAlone.ts';
import { startWorking } from './working.ts';

export const openGateway = async (options: GatewayOptions): Promise<Gateway> => {
  const core = await openCore(options);
  const projector = options.roles.projects ? projectorOf(options, core) : null;
  projector?.start();
  const working = options.roles.works ? startWorking(options, core) : null;
  const { commands, accounts, projected, reacted, jobs } = core;
  return {
    commands,
    accounts,
    projected,
    reacted,
    jobs,
    projector,
    reactor: working?.reactor ?? null,
    services: servicesOf(options, core),
    stop: async (graceMs) => {
      await working?.stop();
      await jobs.stop(graceMs);
      await projector?.stop();
      await core.close();
    },
  };
};

const servicesOf = ({ storage, publicUrl, clock }: GatewayOptions, core: Core): Services => {
  const { commands, accounts, projected, keys, providers, creation, notifications, jobs, secrets, sender, atRest } =
    core;
  const { store, reads, operations } = storage;
  const learnHead = async () => {
    const head = await store.head();
    if (head !== null) projected.sawHead(head);
  };
  return {
    baseUrl: publicUrl,
    db: reads,
    accounts,
    progress: projected,
    findKey: (cleartext) => keys.find(cleartext),
    createCharge: new CreateChargeHandler({ commands, accounts, clock, providers, creation }),
    payInSandbox: payInSandbox({
      commands,
      accounts,
      bank: sandboxPayer(operations, notifications, jobs),
      randomSuffix,
    }),
    advanceClock: advanceClock({ commands, accounts }),
    registerWebhookEndpoint: registerWebhookEndpoint({
      commands,
      accounts,
      secrets,
      sender,
      whileAlone: whileAlone(operations, reads, projected, learnHead),
    }),
    deleteWebhookEndpoint: deleteWebhookEndpoint({ commands, accounts }),
    deliveriesAtRest: (tenant, timeoutMs) => atRest.deliveries(tenant, timeoutMs),
    clockDrained: (accountId, timeoutMs) => atRest.clockDrained(accountId, timeoutMs),
  };
};

/** 11 letters and digits for an end-to-end id. */
const randomSuffix = (): string => randomBytes(12).toString('base64url').replaceAll(/[-_]/g, 'x').slice(0, 11);
