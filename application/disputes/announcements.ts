// Whether webhooks tell of the outcomes of an account's disputes (Q5).
import type { OpenAccount } from '../../domain/account/account.ts';
import type { Mode } from '../../domain/kernel/ids.ts';

export const announcesOutcomes = ({ settings, sandbox }: OpenAccount, mode: Mode): boolean =>
  mode === 'test' ? sandbox.disputeNotifications : settings.disputeNotifications;
