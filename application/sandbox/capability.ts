// The sandbox: simulates payers, acquirers and the passing of time in test mode.
import type { AccountId } from '../../domain/kernel/ids.ts';
import { capability, each, job, type OwedSource, owedBy } from '../core/capability.ts';
import { type NeedsOf, settingChanged } from '../core/useCase.ts';
import { actInSandbox } from './actInSandbox.ts';
import { changeSandboxSettings } from './changeSandboxSettings.ts';
import { decideSandboxRefund } from './decideSandboxRefund.ts';
import { sandboxDisputes } from './disputeInSandbox.ts';
import { payInSandbox } from './payInSandbox.ts';
import {
  advanceClock,
  advanceClocks,
  clockAdvance,
  drain,
  drainClock,
  testClock,
  whenClockDrained,
} from './testClock.ts';

type SandboxNeeds = NeedsOf<
  | typeof payInSandbox
  | typeof actInSandbox
  | typeof decideSandboxRefund
  | typeof sandboxDisputes
  | typeof changeSandboxSettings
  | typeof advanceClock
  | typeof whenClockDrained
  | typeof drain
  | typeof advanceClocks
>;

/** Yields the accounts whose clock is being drained. The job ends the drain, so a drain without a job has lost it. */
async function* clocksBeingDrained({ testTimers }: SandboxNeeds): AsyncGenerator<readonly AccountId[]> {
  yield await testTimers.draining();
}

export const sandbox = capability({
  name: 'sandbox',
  parts: (needs: SandboxNeeds) => needs,
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
  effects: clockAdvance.by(advanceClocks),
  useCases: (needs: SandboxNeeds) => ({
    payInSandbox: payInSandbox(needs),
    actInSandbox: actInSandbox(needs),
    decideSandboxRefund: decideSandboxRefund(needs),
    ...sandboxDisputes(needs),
    changeSandboxSettings: changeSandboxSettings(needs),
    advanceClock: advanceClock(needs),
    /** Waits at most `timeoutMs` until no job runs for the account's test payments. Returns whether none does. */
    whenIdle: (accountId: AccountId, timeoutMs: number) =>
      needs.quiescence.whenIdle({ accountId, mode: 'test' }, timeoutMs),
    whenClockDrained: whenClockDrained(needs),
  }),
  records: {
    changeSandboxSettings: (_, accountId, changes, by) =>
      settingChanged('sandbox', { accountId, mode: 'test' }, by, { changed: Object.keys(changes) }),
  },
});
