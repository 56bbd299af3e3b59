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
import { systemStopwatch } from '../system/system.ts';
import { keyIssuers } from './keyIssuers.ts';
import { payoutAlerts } from './payoutAlerts.ts';
import { payoutFunds } from './payoutFunds.ts';
import { sandboxPayoutBank, sandboxPayoutRail } from './sandboxBank.ts';

interface World {
  readonly storage: EventLog & { readonly operations: SqlPool };
  readonly jobs: JobQueue;
  readonly log: Log;
  /** The bank for live payouts. Default: none. */
  readonly livePayoutRail?: PayoutRail | null;
  readonly notifiedWork: Pick<NotifiedWork, 'queueOf'>;
  readonly accounts: {
    refresh(id: AccountId): Promise<OpenAccount>;
    now(id: AccountId, mode: Mode): Promise<Timestamp>;
  };
}

const payoutAdapters = ({ storage, jobs, log, livePayoutRail = null, accounts, notifiedWork }: World) => {
  const { operations: db } = storage;
  const queue = notifiedWork.queueOf('payout');
  const sandbox = sandboxPayoutRail({
    db,
    wait: (ms) => systemStopwatch.pause(ms),
    confirms: async (id) => autoConfirmPayouts.of((await accounts.refresh(id)).sandbox),
    now: (id) => accounts.now(id, 'test'),
  });
  const railOf = (mode: Mode) => (mode === 'test' ? sandbox : livePayoutRail);
  const payoutRails: PayoutRails = {
    route: async ({ mode }) => {
      const rail = railOf(mode);
      return rail && { connectionId: null, rail };
    },
    of: async ({ mode }) => railOf(mode),
  };
  return {
    payoutRails,
    payoutFunds: payoutFunds(db),
    payoutAlerts: payoutAlerts(log),
    keyIssuers: keyIssuers(storage),
    payoutBank: sandboxPayoutBank(db, {
      moved: (tenant, payoutId, tx) => jobs.enqueue([{ queue, tenant, payload: { payoutId } }], tx),
      wake: (tenant) => jobs.wake([{ queue, tenant }]),
    }),
  };
};

export const payouts = capabilityAdapters({ adapters: payoutAdapters, terminal: () => import('./terminal.ts') });
