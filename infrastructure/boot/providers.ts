// The bank of each mode: the sandbox's own in test, whichever is configured in live.
import type { Accounts } from '../../application/core/accounts.ts';
import type { PaymentProviders } from '../../application/ports/paymentProvider.ts';
import { SandboxBank } from '../providers/sandbox/bank.ts';
import { systemStopwatch } from '../system/stopwatch.ts';
import type { GatewayOptions } from './composition.ts';

export const providersOf = (
  { storage, liveProvider }: Pick<GatewayOptions, 'storage' | 'liveProvider'>,
  accounts: Accounts,
): PaymentProviders => {
  const bank = new SandboxBank({
    db: storage.operations,
    wait: (ms) => systemStopwatch.pause(ms),
    confirmsRefunds: async (id) => (await accounts.refresh(id)).sandbox.autoConfirmRefunds,
    now: (id) => accounts.now(id, 'test'),
  });
  return { of: (mode) => (mode === 'test' ? bank : liveProvider) };
};
