// The sandbox: how it behaves for the account's test keys (rule X3).
import type { SandboxSettings } from '../../../domain/account/account.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { requesterOf } from '../../kernel/actor.ts';
import type { Route } from '../../kernel/route.ts';
import { sandboxSettingsBody, sandboxSettingsSchema } from '../refunds/refundSchema.ts';

interface SettingsBody {
  readonly auto_confirm_refunds?: boolean;
  readonly rate_limit_per_minute?: number;
  readonly dispute_notifications?: boolean;
}

/** Only what was sent: the rest stays. */
const wishOf = (body: SettingsBody): Partial<SandboxSettings> => ({
  ...(body.auto_confirm_refunds !== undefined && { autoConfirmRefunds: body.auto_confirm_refunds }),
  ...(body.rate_limit_per_minute !== undefined && { rateLimitPerMinute: body.rate_limit_per_minute }),
  ...(body.dispute_notifications !== undefined && { disputeNotifications: body.dispute_notifications }),
});

const settingsView = (settings: SandboxSettings) => ({
  auto_confirm_refunds: settings.autoConfirmRefunds,
  rate_limit_per_minute: settings.rateLimitPerMinute,
  dispute_notifications: settings.disputeNotifications,
});

export const sandboxSettingsRoute: Route = {
  method: 'POST',
  path: '/v1/sandbox/settings',
  operationId: 'changeSandboxSettings',
  summary: 'Change how the sandbox behaves; what is not sent stays',
  auth: 'testKey',
  isApartFromSandboxLimit: true,
  body: { schema: sandboxSettingsBody, codes: {} },
  responses: { 200: { description: 'All settings as they are now.', schema: sandboxSettingsSchema } },
  errors: ['mode_not_allowed'],
  handle: async (ask) => {
    const { accountId } = ask.caller.tenant;
    const wish = wishOf(ask.body as SettingsBody);
    const settings = await ask.services.changeSandboxSettings(accountId, wish, requesterOf(ask));
    return isRejection(settings) ? settings : { status: 200, body: settingsView(settings) };
  },
};
