// The route that changes the sandbox settings of an account (rule X3).

import type { Static } from 'typebox';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import type { SandboxSettings } from '../../../domain/account/account.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { actorOf, type Frozen, json, jsonBody, route } from '../../kernel/route.ts';
import { sandboxSettingsBody, sandboxSettingsSchema } from './sandboxSchema.ts';
import { IN_SANDBOX } from './tags.ts';

type SettingsBody = Frozen<Static<typeof sandboxSettingsBody>>;
const { switches } = DECLARED_SETTINGS;

/** Returns the settings in the body. Omitted ones keep their values. */
const wishOf = (body: SettingsBody): SandboxSettings =>
  Object.fromEntries(
    switches.flatMap(({ name, apiName, sent }) => (body[apiName] === undefined ? [] : [[name, sent(body[apiName])]])),
  );

const settingsView = (settings: SandboxSettings) =>
  Object.fromEntries(switches.map(({ apiName, shown }) => [apiName, shown(settings)]));

export const sandboxSettingsRoute = route('POST', '/v1/sandbox/settings', {
  operationId: 'changeSandboxSettings',
  summary: 'Change the sandbox settings',
  description:
    'Changes the settings of this account’s sandbox. Fields that you omit keep their values. Live mode is not affected.',
  ...IN_SANDBOX,
  limit: 'keyApartFromSandbox',
  body: jsonBody({ schema: sandboxSettingsBody }),
  responses: {
    200: json('All sandbox settings after the change.', sandboxSettingsSchema),
  },
  handle: async (context) => {
    const { accountId } = context.caller.tenant;
    const wish = wishOf(context.body);
    const settings = await context.services.changeSandboxSettings(accountId, wish, actorOf(context));
    return isRejection(settings) ? settings : { status: 200, body: settingsView(settings) };
  },
});
