// Settings that decide whether dispute outcomes are published as webhooks (rules Q5, X3).
import type { OpenAccount } from '../account/account.ts';
import { accountSetting, onSwitch } from '../kernel/accountSetting.ts';
import type { Mode } from '../kernel/ids.ts';
import { reject } from '../kernel/rejection.ts';
import { flag } from '../kernel/serde.ts';

export const disputeNotifications = accountSetting<boolean>({
  name: 'disputeNotifications',
  initial: true,
  shape: flag,
  schema: { type: 'boolean', description: 'Whether outcomes of live disputes are published as webhooks.' },
  options: {
    'dispute-notifications': {
      description: 'whether outcomes of live disputes are published as webhooks: on or off',
      read: (text) =>
        text === 'on' || text === 'off' ? text === 'on' : reject('invalid_request', `must be on or off, not "${text}"`),
    },
  },
  line: (isOn) => ['dispute outcomes', isOn ? 'published' : 'not published'],
});

export const sandboxDisputeNotifications = onSwitch(
  { name: 'disputeNotifications', apiName: 'dispute_notifications' },
  'Whether disputes are published as webhooks.',
);

export const announcesOutcomes = ({ settings, sandbox }: OpenAccount, mode: Mode): boolean =>
  mode === 'test' ? sandboxDisputeNotifications.of(sandbox) : disputeNotifications.of(settings);
