// The sandbox: what payers, acquirers and time do in test mode.
import type { AccountId } from '../../domain/kernel/ids.ts';
import type { Accounts } from '../core/accounts.ts';
import { type Capability, each, job, type OwedSource, owedBy, type TimerWork } from '../core/capability.ts';
import type { Quiescence } from '../core/quiescence.ts';
import type { DeliveryReads } from '../ports/readModels/webhookDeliveries.ts';
import type { TestTimers } from '../ports/timers.ts';
import { drain, drainClock, testClock } from './testClock.ts';

export interface SandboxNeeds {
  readonly accounts: Accounts;
  readonly testTimers: TestTimers;
  readonly timerWork: TimerWork;
  readonly deliveries: DeliveryReads;
  readonly quiescence: Quiescence;
}

/** A clock is marked as drained by the job that drains it, so that one without a job was forgotten. */
async function* clocksBeingDrained({ testTimers }: SandboxNeeds): AsyncGenerator<readonly AccountId[]> {
  yield await testTimers.draining();
}

export const sandbox: Capability<SandboxNeeds> = {
  name: 'sandbox',
  processes: [testClock],
  jobs: [
    job(drainClock, {
      handler: (needs: SandboxNeeds) => each(drain(needs)),
      places: { places: 12, perTarget: 1 },
      idle: 'apart',
      owed: owedBy(clocksBeingDrained satisfies OwedSource<SandboxNeeds, AccountId>, (accountId) => ({
        tenant: { accountId, mode: 'test' },
        payload: { accountId },
      })),
    }),
  ],
};
