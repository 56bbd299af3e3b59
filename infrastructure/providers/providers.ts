// The bank of each mode (the sandbox in test, the configured provider in live), and the stored notifications.
import type { JobQueue } from '../../application/ports/jobs.ts';
import type { PaymentProvider, PaymentProviders } from '../../application/ports/paymentProvider.ts';
import type { NotifiedWork } from '../../application/ports/providerNotifications.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { OpenAccount } from '../../domain/account/account.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { autoConfirmRefunds } from '../../domain/refund/settings.ts';
import { systemStopwatch } from '../system/system.ts';
import { liveProviders } from './connections.ts';
import { providerNotifications } from './providerNotifications.ts';
import { reconciliations } from './reconciliations.ts';
import { type RegistryWorld, registryOf } from './registry.ts';
import { SandboxBank } from './sandbox/bank.ts';
import { sandboxPayer } from './sandbox/payer.ts';

export interface World extends RegistryWorld {
  readonly storage: { readonly operations: SqlPool };
  readonly jobs: JobQueue;
  /** Takes the place of all connections, for tests; null: live payments go to the connections (V7). */
  readonly liveProvider: PaymentProvider | null;
  readonly notifiedWork: NotifiedWork;
  readonly accounts: {
    refresh(id: AccountId): Promise<OpenAccount>;
    now(id: AccountId, mode: Mode): Promise<Timestamp>;
  };
}

export const providerAdapters = (world: World) => {
  const {
    storage: { operations },
    jobs,
    liveProvider,
    accounts,
    notifiedWork,
  } = world;
  const sandbox = new SandboxBank({
    db: operations,
    wait: (ms) => systemStopwatch.pause(ms),
    confirmsRefunds: async (id) => autoConfirmRefunds.of((await accounts.refresh(id)).sandbox),
    now: (id) => accounts.now(id, 'test'),
  });
  const ofMode = (mode: Mode) => (mode === 'test' ? sandbox : liveProvider);
  const live = liveProviders(registryOf(world));
  const providers: PaymentProviders = {
    route: async (tenant, methods) => {
      const only = ofMode(tenant.mode);
      return only === null ? live.route(tenant, methods) : [only];
    },
    of: async (payment) => ofMode(payment.mode) ?? live.of(payment),
  };
  const notifications = providerNotifications(operations, jobs, notifiedWork);
  return {
    providers,
    notifications,
    bank: sandboxPayer(operations, notifications),
    reconciliations: reconciliations(operations),
  };
};
