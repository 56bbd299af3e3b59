// Puts the house together: the only place that knows which adapters run.

import { Canceller, cancelPayment } from '../../application/payments/cancellation.ts';
import { CreateChargeHandler } from '../../application/payments/createCharge.ts';
import { CreatePaymentHandler } from '../../application/payments/createPayment.ts';
import { InstrumentIssuer } from '../../application/payments/issueInstruments.ts';
import { providerStatus } from '../../application/payments/providerStatus.ts';
import { Settler } from '../../application/payments/settle.ts';
import { requestRefund } from '../../application/refunds/requestRefund.ts';
import { actInSandbox } from '../../application/sandbox/actInSandbox.ts';
import { changeSandboxSettings } from '../../application/sandbox/changeSandboxSettings.ts';
import { decideSandboxRefund } from '../../application/sandbox/decideSandboxRefund.ts';
import { payInSandbox } from '../../application/sandbox/payInSandbox.ts';
import { advanceClock, whenClockDrained } from '../../application/sandbox/testClock.ts';
import { deliveriesRunning, whenDelivered } from '../../application/webhooks/messagesUnderWay.ts';
import { rotateOverrideSecret } from '../../application/webhooks/overrideSecret.ts';
import { resendWebhook } from '../../application/webhooks/resendWebhook.ts';
import { deleteWebhookEndpoint, registerWebhookEndpoint } from '../../application/webhooks/webhookEndpoints.ts';
import type { Services } from '../../http/kernel/services.ts';
import { viewsOf } from '../../projections/views.ts';
import { endpointReads } from '../../projections/webhookEndpoints/queries.ts';
import { velocityGuard } from '../operations/velocityGuard.ts';
import { tenantLock } from '../postgres/tenantLock.ts';
import { sandboxPayer } from '../providers/sandbox/payer.ts';
import { caughtUp } from '../subscriptions/caughtUp.ts';
import { type Core, openCore } from './core.ts';
import type { Gateway, GatewayOptions } from './gateway.ts';
import { projectorOf } from './logConsumers.ts';
import { tellingOfChanges } from './securityLog.ts';
import { startWorker } from './workerRole.ts';

export const openGateway = async (options: GatewayOptions): Promise<Gateway> => {
  const core = await openCore(options);
  const projector = options.roles.projects ? projectorOf(options, core) : null;
  projector?.start();
  const worker = options.roles.works ? startWorker(options, core) : null;
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
    needs: core.needs,
    projector,
    reactor: worker?.reactor ?? null,
    services: servicesOf(options, core),
    stop: async (graceMs) => {
      await worker?.stop();
      await jobs.stop(graceMs);
      await projector?.stop();
      await core.close();
    },
  };
};

const servicesOf = ({ storage, publicUrl, log }: GatewayOptions, core: Core): Services => {
  const { accounts, projected, reacted, keys, needs } = core;
  const { providers, sender, quiescence } = needs;
  const { store, reads, operations } = storage;
  const views = viewsOf(reads);
  const asked = {
    ...needs,
    projected,
    reacted,
    issuer: new InstrumentIssuer(needs),
    canceller: new Canceller({ ...needs, settler: new Settler(needs) }),
    velocity: velocityGuard({ db: operations, payments: needs.payments }),
    bank: sandboxPayer(operations, needs.notifications),
    endpoints: endpointReads(reads, caughtUp(store, projected)),
    withTenantLock: tenantLock(operations),
  };
  return {
    baseUrl: publicUrl,
    views,
    accounts,
    progress: projected,
    parked: core.parked,
    findKey: (cleartext) => keys.find(cleartext),
    createCharge: new CreateChargeHandler(asked),
    createPayment: new CreatePaymentHandler(asked),
    payInSandbox: payInSandbox(asked),
    actInSandbox: actInSandbox(asked),
    cancelPayment: cancelPayment(asked),
    requestRefund: requestRefund(asked),
    decideSandboxRefund: decideSandboxRefund(asked),
    advanceClock: advanceClock(asked),
    judgeWebhookUrl: (url, mode) => sender.judgeUrl(url, mode),
    resendWebhook: resendWebhook(asked),
    providerStatus: providerStatus(asked),
    exposesReceipts: (mode) => providers.of(mode)?.exposesReceipts === true,
    ...tellingOfChanges(
      {
        changeSandboxSettings: changeSandboxSettings(asked),
        rotateOverrideSecret: rotateOverrideSecret(asked),
        registerWebhookEndpoint: registerWebhookEndpoint(asked),
        deleteWebhookEndpoint: deleteWebhookEndpoint(asked),
      },
      log,
    ),
    deliveriesRunning: deliveriesRunning(asked),
    whenDelivered: whenDelivered(asked),
    whenIdle: (accountId, timeoutMs) => quiescence.whenIdle({ accountId, mode: 'test' }, timeoutMs),
    whenClockDrained: whenClockDrained(asked),
  };
};
