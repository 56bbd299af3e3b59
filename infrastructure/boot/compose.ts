// Puts the house together: the only place that knows which adapters run.
import { Canceller } from '../../application/payments/cancellation.ts';
import { cancelPayment } from '../../application/payments/cancelPayment.ts';
import { CreateChargeHandler } from '../../application/payments/createCharge.ts';
import { CreatePaymentHandler } from '../../application/payments/createPayment.ts';
import { providerStatus } from '../../application/payments/providerStatus.ts';
import { Settler } from '../../application/payments/settle.ts';
import type { ReadModelName } from '../../application/ports/readModels.ts';
import { parseDeliveryItem } from '../../application/ports/timers.ts';
import { requestRefund } from '../../application/refunds/requestRefund.ts';
import { actInSandbox } from '../../application/sandbox/actInSandbox.ts';
import { advanceClock } from '../../application/sandbox/advanceTestClock.ts';
import { changeSandboxSettings } from '../../application/sandbox/changeSandboxSettings.ts';
import { decideSandboxRefund } from '../../application/sandbox/decideSandboxRefund.ts';
import { payInSandbox } from '../../application/sandbox/payInSandbox.ts';
import { rotateOverrideSecret } from '../../application/webhooks/overrideSecret.ts';
import { resendWebhook } from '../../application/webhooks/resendWebhook.ts';
import { deleteWebhookEndpoint, registerWebhookEndpoint } from '../../application/webhooks/webhookEndpoints.ts';
import type { Services } from '../../http/kernel/services.ts';
import { viewsOf } from '../../projections/views.ts';
import { velocityGuard } from '../operations/velocityGuard.ts';
import { sandboxPayer } from '../providers/sandbox/payer.ts';
import { systemRandomness } from '../system/randomness.ts';
import { systemStopwatch } from '../system/stopwatch.ts';
import { type Core, openCore } from './core.ts';
import { endedAmong } from './endedAmong.ts';
import { projectorOf } from './following.ts';
import type { Gateway, GatewayOptions } from './gateway.ts';
import { levelWithLog } from './levelWithLog.ts';
import { tellingOfChanges } from './securityLog.ts';
import { whileAlone } from './whileAlone.ts';
import { startWorking } from './working.ts';

export const openGateway = async (options: GatewayOptions): Promise<Gateway> => {
  const core = await openCore(options);
  const projector = options.roles.projects ? projectorOf(options, core) : null;
  projector?.start();
  const working = options.roles.works ? startWorking(options, core) : null;
  const { commands, accounts, projected, reacted, parked, jobs } = core;
  const { clockFault = () => null } = options;
  return {
    commands,
    accounts,
    projected,
    reacted,
    parked,
    jobs,
    clockFault,
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

const servicesOf = ({ storage, publicUrl, clock, log }: GatewayOptions, core: Core): Services => {
  const { commands, accounts, projected, keys, providers, creation, notifications, jobs, secrets, sender, atRest } =
    core;
  const { store, reads, operations } = storage;
  const views = viewsOf(reads);
  const [randomness, stopwatch] = [systemRandomness, systemStopwatch];
  const settler = new Settler({ commands, accounts, providers });
  const canceller = new Canceller({ commands, accounts, providers, settler });
  const levelOf = (model: ReadModelName) => levelWithLog(store, projected, model);
  const velocity = velocityGuard({ db: operations, endedAmong: endedAmong(reads, levelOf('payments')) });
  const bank = sandboxPayer(operations, notifications, jobs);
  return {
    baseUrl: publicUrl,
    views,
    accounts,
    progress: projected,
    parked: core.parked,
    findKey: (cleartext) => keys.find(cleartext),
    createCharge: new CreateChargeHandler({ commands, clock, stopwatch, providers, creation, velocity }),
    createPayment: new CreatePaymentHandler({ commands, clock, stopwatch, providers, velocity }),
    payInSandbox: payInSandbox({ commands, accounts, bank, randomness }),
    actInSandbox: actInSandbox({ commands, accounts, bank }),
    cancelPayment: cancelPayment({ commands, accounts, canceller }),
    requestRefund: requestRefund({ commands, accounts }),
    decideSandboxRefund: decideSandboxRefund({ commands, accounts, bank }),
    advanceClock: advanceClock({ commands, accounts }),
    judgeWebhookUrl: (url, mode) => sender.judgeUrl(url, mode),
    resendWebhook: resendWebhook({
      commands,
      accounts,
      subscriptionsOf: async (tenant) => (await views.endpoints.list(tenant)).map(({ events }) => events),
    }),
    providerStatus: providerStatus({ accounts, providers }),
    exposesReceipts: (mode) => providers.of(mode)?.exposesReceipts === true,
    ...tellingOfChanges(
      {
        changeSandboxSettings: changeSandboxSettings({ commands, accounts }),
        rotateOverrideSecret: rotateOverrideSecret({ commands, accounts, secrets, randomness }),
        registerWebhookEndpoint: registerWebhookEndpoint({
          commands,
          accounts,
          secrets,
          sender,
          randomness,
          whileAlone: whileAlone(operations, reads, levelOf('webhookEndpoints')),
        }),
        deleteWebhookEndpoint: deleteWebhookEndpoint({ commands, accounts }),
      },
      log,
    ),
    deliveriesRunning: async () => (await jobs.running('deliver')).map((item) => parseDeliveryItem(item).id),
    deliveriesAtRest: (tenant, timeoutMs) => atRest.deliveries(tenant, timeoutMs),
    workAtRest: (accountId, timeoutMs) => atRest.work(accountId, timeoutMs),
    clockDrained: (accountId, timeoutMs) => atRest.clockDrained(accountId, timeoutMs),
  };
};
