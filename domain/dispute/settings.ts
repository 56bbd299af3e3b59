// Whether webhooks tell of the outcomes of an account's disputes (rules Q5, X3).
import type { OpenAccount } from '../account/account.ts';
import { flagSetting } from '../kernel/accountSetting.ts';
import { onSwitch } from '../kernel/sandboxSwitch.ts';
import type { Mode } from '../kernel/ids.ts';

export const disputeNotifications = flagSetting({
  name: 'disputeNotifications',
  description: 'Whether outcomes of live disputes are published as webhooks.',
  option: ['dispute-notifications', 'whether outcomes of live disputes are published as webhooks: on or off'],
  line: (isOn) => ['dispute outcomes', isOn ? 'published' : 'not published'],
});

export const sandboxDisputeNotifications = onSwitch(
  { name: 'disputeNotifications', apiName: 'dispute_notifications' },
  'Whether disputes lead to webhooks.',
);

export const announcesOutcomes = ({ settings, sandbox }: OpenAccount, mode: Mode): boolean =>
  mode === 'test' ? sandboxDisputeNotifications.of(sandbox) : disputeNotifications.of(settings);
