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
import { providerNotifications } from './providerNotifications.ts';
import { reconciliations } from './reconciliations.ts';
import { SandboxBank } from './sandbox/bank.ts';
import { sandboxPayer } from './sandbox/payer.ts';

export interface World {
  readonly storage: { readonly operations: SqlPool };
  readonly jobs: JobQueue;
  /** The bank of live mode; null if none is configured (E5). */
  readonly liveProvider: PaymentProvider | null;
  readonly notifiedWork: NotifiedWork;
  readonly accounts: {
    refresh(id: AccountId): Promise<OpenAccount>;
    now(id: AccountId, mode: Mode): Promise<Timestamp>;
  };
}

export const providerAdapters = ({ storage: { operations }, jobs, liveProvider, accounts, notifiedWork }: World) => {
  const sandbox = new SandboxBank({
    db: operations,
    wait: (ms) => systemStopwatch.pause(ms),
    confirmsRefunds: async (id) => autoConfirmRefunds.of((await accounts.refresh(id)).sandbox),
    now: (id) => accounts.now(id, 'test'),
  });
  const ofMode = (mode: Mode) => (mode === 'test' ? sandbox : liveProvider);
  const providers: PaymentProviders = {
    route: async ({ mode }) => [ofMode(mode)].filter((one) => one !== null),
    of: async ({ mode }) => ofMode(mode),
  };
  const notifications = providerNotifications(operations, jobs, notifiedWork);
  return {
    providers,
    notifications,
    bank: sandboxPayer(operations, notifications),
    reconciliations: reconciliations(operations),
  };
};
