// Adapters of payouts: bank, reserved funds and operators' alerts.
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { JobQueue } from '../../application/ports/jobs.ts';
import type { PayoutRail, PayoutRails } from '../../application/ports/payoutRail.ts';
import type { NotifiedWork } from '../../application/ports/providerNotifications.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { OpenAccount } from '../../domain/account/account.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { autoConfirmPayouts } from '../../domain/payout/settings.ts';
import { capabilityAdapters } from '../capabilityAdapters.ts';
import type { Log } from '../log/log.ts';
import { liveRails } from '../providers/connections.ts';
import { type RegistryWorld, registryOf } from '../providers/registry.ts';
import { systemStopwatch } from '../system/system.ts';
import { keyIssuers } from './keyIssuers.ts';
import { payoutAlerts } from './payoutAlerts.ts';
import { payoutFunds } from './payoutFunds.ts';
import { sandboxPayoutBank, sandboxPayoutRail } from './sandboxBank.ts';

interface World extends RegistryWorld {
  readonly storage: EventLog & { readonly operations: SqlPool };
  readonly jobs: JobQueue;
  readonly log: Log;
  /** Takes the place of all connections, for tests. Default: live payouts go to the connections (V7). */
  readonly livePayoutRail?: PayoutRail | null;
  readonly notifiedWork: Pick<NotifiedWork, 'queueOf'>;
  readonly accounts: {
    refresh(id: AccountId): Promise<OpenAccount>;
    now(id: AccountId, mode: Mode): Promise<Timestamp>;
  };
}

const payoutAdapters = (world: World) => {
  const { storage, jobs, log, livePayoutRail = null, accounts, notifiedWork } = world;
  const { operations: db } = storage;
  const queue = notifiedWork.queueOf('payout');
  const sandbox = sandboxPayoutRail({
    db,
    wait: (ms) => systemStopwatch.pause(ms),
    confirms: async (id) => autoConfirmPayouts.of((await accounts.refresh(id)).sandbox),
    now: (id) => accounts.now(id, 'test'),
  });
  const railOf = (mode: Mode) => (mode === 'test' ? sandbox : livePayoutRail);
  const live = liveRails(registryOf(world));
  const payoutRails: PayoutRails = {
    route: async (tenant) => {
      const rail = railOf(tenant.mode);
      return rail === null ? live.route(tenant) : { connectionId: null, rail };
    },
    of: async (payout) => railOf(payout.mode) ?? live.of(payout),
  };
  return {
    payoutRails,
    payoutFunds: payoutFunds(db),
    payoutAlerts: payoutAlerts(log),
    keyIssuers: keyIssuers(storage),
    payoutBank: sandboxPayoutBank(db, (tenant, payoutId, tx) =>
      jobs.enqueue([{ queue, tenant, payload: { payoutId } }], tx),
    ),
  };
};

export const payouts = capabilityAdapters({ adapters: payoutAdapters, terminal: () => import('./terminal.ts') });
