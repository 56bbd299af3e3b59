// Adapters of payments.
import type { PaymentProviders } from '../../application/ports/paymentProvider.ts';
import type { PaymentReads } from '../../application/ports/readModels/payments.ts';
import { capabilityAdapters } from '../capabilityAdapters.ts';
import type { Log } from '../log/log.ts';
import { operatorAlerts } from '../log/operatorAlerts.ts';
import { type World as ProviderWorld, providerAdapters } from '../providers/providers.ts';
import { velocityGuard } from './velocityGuard.ts';

interface OperatorsWorld {
  readonly log: Log;
}
interface World extends OperatorsWorld, ProviderWorld {
  readonly readModels: ProviderWorld['readModels'] & { readonly payments: Pick<PaymentReads, 'endedAmong'> };
}

/** The command line calls no provider; the running program does. */
const NO_PROVIDERS: PaymentProviders = { route: async () => [], of: async () => null };

export const payments = capabilityAdapters({
  adapters: (world: World) => ({
    ...providerAdapters(world),
    alerts: operatorAlerts(world.log),
    velocity: velocityGuard({ db: world.storage.operations, payments: world.readModels.payments }),
  }),
  operatorsAdapters: ({ log }: OperatorsWorld) => ({ providers: NO_PROVIDERS, alerts: operatorAlerts(log) }),
  terminal: () => import('./terminal.ts'),
});
