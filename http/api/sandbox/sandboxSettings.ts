// The sandbox: how it behaves for the account's test keys (rule X3).

import type { Static } from 'typebox';
import type { SandboxSettings } from '../../../domain/account/account.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { actorOf, type Frozen, jsonBody, route } from '../../kernel/route.ts';
import { sandboxSettingsBody, sandboxSettingsSchema } from './sandboxSchema.ts';
import { SANDBOX } from './tags.ts';

type SettingsBody = Frozen<Static<typeof sandboxSettingsBody>>;

/** Only what was sent: the rest stays. */
const wishOf = (body: SettingsBody): Partial<SandboxSettings> => ({
  ...(body.auto_confirm_refunds !== undefined && { autoConfirmRefunds: body.auto_confirm_refunds }),
  ...(body.auto_confirm_payouts !== undefined && { autoConfirmPayouts: body.auto_confirm_payouts }),
  ...(body.payout_approval_above !== undefined && {
    payoutApproval: { above: body.payout_approval_above === null ? null : toMinor(body.payout_approval_above) },
  }),
  ...(body.rate_limit_per_minute !== undefined && { rateLimitPerMinute: body.rate_limit_per_minute }),
  ...(body.dispute_notifications !== undefined && { disputeNotifications: body.dispute_notifications }),
});

const settingsView = (settings: SandboxSettings) => ({
  auto_confirm_refunds: settings.autoConfirmRefunds,
  auto_confirm_payouts: settings.autoConfirmPayouts,
  payout_approval_above: settings.payoutApproval?.above ?? null,
  rate_limit_per_minute: settings.rateLimitPerMinute,
  dispute_notifications: settings.disputeNotifications,
});

export const sandboxSettingsRoute = route({
  method: 'POST',
  path: '/v1/sandbox/settings',
  operationId: 'changeSandboxSettings',
  summary: 'Change how the sandbox behaves; what is not sent stays',
  description:
    'Changes the settings of this account’s sandbox. Fields that you omit keep their values. Live mode is not affected.',
  tag: SANDBOX,
  principal: 'testKey',
  limit: 'keyApartFromSandbox',
  body: jsonBody({ schema: sandboxSettingsBody }),
  responses: { 200: { kind: 'json', description: 'All settings as they are now.', schema: sandboxSettingsSchema } },
  errors: [],
  handle: async (context) => {
    const { accountId } = context.caller.tenant;
    const wish = wishOf(context.body);
    const settings = await context.services.changeSandboxSettings(accountId, wish, actorOf(context));
    return isRejection(settings) ? settings : { status: 200, body: settingsView(settings) };
  },
});
