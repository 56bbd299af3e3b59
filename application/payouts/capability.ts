// Payouts: money that merchants withdraw from their wallet (rules Y1–Y6).
import {
  autoConfirmPayouts,
  payoutApprovalAbove,
  payoutCount,
  payoutSum,
  sandboxPayoutApproval,
} from '../../domain/payout/settings.ts';
import { capability, each, job, owedBy } from '../core/capability.ts';
import type { PayoutAlerts } from '../ports/payoutRail.ts';
import type { PayoutReads, PayoutViews } from '../ports/readModels/payouts.ts';
import { cancelPayout, reviewPayout } from './changePayout.ts';
import { type CutOffNeeds, freeCutOffRequests } from './cutOffRequests.ts';
import { type DecideSandboxPayoutNeeds, decideSandboxPayout } from './decideSandboxPayout.ts';
import { type OperatePayoutsNeeds, operatePayouts } from './operatePayouts.ts';
import {
  alertOfLatePayouts,
  type ExecutionNeeds,
  PayoutExecutor,
  payoutConfirmedLate,
  payoutExecution,
  payoutJob,
} from './payoutExecution.ts';
import { PayoutRequests, type RequestPayoutNeeds } from './requestPayout.ts';

interface PayoutsNeeds extends ExecutionNeeds, CutOffNeeds, RequestPayoutNeeds, DecideSandboxPayoutNeeds {
  readonly payouts: PayoutReads;
  readonly payoutAlerts: PayoutAlerts;
  /** For its routes. */
  readonly views: { readonly payouts: PayoutViews };
}

export const payouts = capability({
  name: 'payouts',
  parts: (needs: PayoutsNeeds) => needs,
  processes: [payoutExecution],
  jobs: [
    job(payoutJob, {
      handler: (needs: PayoutsNeeds) => {
        const executor = new PayoutExecutor(needs);
        return each(({ payoutId }, ...when) => executor.run(payoutId, ...when));
      },
      places: { places: 24, perTarget: 24 },
      idle: 'awaited',
      owed: owedBy(
        ({ payouts: reads }: PayoutsNeeds, { before, page }) => reads.unfinished(before, page),
        ({ tenant, payoutId }) => ({ tenant, payload: { payoutId } }),
      ),
    }),
  ],
  settings: [payoutCount, payoutSum, payoutApprovalAbove],
  sandboxSwitches: [autoConfirmPayouts, sandboxPayoutApproval],
  upkeep: [
    {
      failure: 'reservations of interrupted payout requests could not be released',
      pattern: '*/15 * * * * *',
      onlyLeader: true,
      run: (needs) => freeCutOffRequests(needs),
    },
  ],
  gauges: [
    {
      name: 'payouts_awaiting_approval',
      help: 'Payouts awaiting approval.',
      read: ({ payouts: reads }) => reads.countAwaitingApproval(),
    },
  ],
  notifications: { payout: { job: payoutJob } },
  effects: payoutConfirmedLate.by((needs: PayoutsNeeds) => alertOfLatePayouts(needs)),
  useCases: (needs) => ({
    payoutRequests: new PayoutRequests(needs),
    cancelPayout: cancelPayout(needs),
    reviewPayout: reviewPayout(needs),
    decideSandboxPayout: decideSandboxPayout(needs),
  }),
  operators: (needs: OperatePayoutsNeeds) => operatePayouts(needs),
});
