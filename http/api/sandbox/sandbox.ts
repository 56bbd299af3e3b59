// Sandbox routes for the test clock and webhook deliveries (rules X). They respond when their effect is visible in reads.

import type { Static } from 'typebox';
import type { Actor } from '../../../application/core/eventMetadata.ts';
import type { SandboxSettings } from '../../../domain/account/account.ts';
import type { DeclaredSettings, SandboxSwitch } from '../../../domain/kernel/accountSetting.ts';
import type { AccountId } from '../../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../../domain/kernel/rejection.ts';
import { actorOf, type Frozen, json, jsonBody, type KeyContext, route } from '../../kernel/route.ts';
import type { AppServices } from '../../kernel/serverContext.ts';
import {
  advanceBody,
  clockSchema,
  flushSchema,
  IN_SANDBOX,
  sandboxSettingsBody,
  sandboxSettingsSchema,
  VISIBLE_MS,
} from './sandboxSchema.ts';

// --- The route that changes the sandbox settings of an account (rule X3) ---

type SettingsBody = Frozen<Static<ReturnType<typeof sandboxSettingsBody>>>;

/** Returns the settings in the body. Omitted ones keep their values. */
const wishOf = (switches: readonly SandboxSwitch[], body: SettingsBody): SandboxSettings =>
  Object.fromEntries(
    switches.flatMap(({ name, apiName, sent }) => (body[apiName] === undefined ? [] : [[name, sent(body[apiName])]])),
  );

export const sandboxSettingsRoute = ({ switches }: DeclaredSettings) =>
  route('POST', '/v1/sandbox/settings', {
    operationId: 'changeSandboxSettings',
    summary: 'Change the sandbox settings',
    description:
      'Changes the settings of this account’s sandbox. Fields that you omit keep their values. Live mode is not affected.',
    ...IN_SANDBOX,
    limit: 'keyApartFromSandbox',
    body: jsonBody({ schema: sandboxSettingsBody(switches) }),
    responses: {
      200: json('All sandbox settings after the change.', sandboxSettingsSchema(switches)),
    },
    errors: ['change_limit_reached'],
    handle: async (context) => {
      const { accountId } = context.caller.tenant;
      const wish = wishOf(switches, context.body);
      const settings = await context.services.changeSandboxSettings(accountId, wish, actorOf(context));
      if (isRejection(settings)) return settings;
      return { status: 200, body: Object.fromEntries(switches.map((one) => [one.apiName, one.shown(settings)])) };
    },
  });

/** The longest wait for running work before the clock is moved. */
const AT_REST_MS = 2_000;

const clockView = async ({ caller, services }: KeyContext) => {
  const account = await services.accounts.get(caller.tenant.accountId);
  const now = await services.accounts.now(caller.tenant.accountId, 'test');
  return { now, offset_seconds: account.testClock.offsetSeconds };
};

export const getClockRoute = route('GET', '/v1/sandbox/clock', {
  operationId: 'getSandboxClock',
  summary: 'Retrieve the test clock',
  description: 'Returns account time in test mode. It equals real time until you advance the test clock.',
  ...IN_SANDBOX,
  responses: {
    200: json('Account time and how far it is ahead of real time.', clockSchema),
  },
  handle: async (context) => ({ status: 200, body: await clockView(context) }),
});

/**
 * Moves the test clock of the account forward, once running work has ended at the old time, so that only scheduled work is affected.
 * Returns whether all due work is done. `seenOffset`: see `advanceClock`.
 */
export const moveClock = async (
  services: AppServices,
  accountId: AccountId,
  seconds: number,
  by: Actor,
  seenOffset: number | null = null,
): Promise<boolean | Rejection> => {
  const startedMs = performance.now();
  await services.whenIdle(accountId, AT_REST_MS);
  const refused = await services.advanceClock(accountId, seconds, by, seenOffset);
  return refused ?? services.whenClockDrained(accountId, VISIBLE_MS - (performance.now() - startedMs));
};

export const advanceClockRoute = route('POST', '/v1/sandbox/clock/advance', {
  operationId: 'advanceSandboxClock',
  summary: 'Advance the test clock',
  description:
    'Moves the test clock forward. Expiries, releases and webhook retries that fall due happen before the response. The clock never goes back.',
  ...IN_SANDBOX,
  body: jsonBody({ schema: advanceBody }),
  responses: {
    200: json('The new time. Everything due has happened.', clockSchema),
    202: json('The new time. Due work is still being processed.', clockSchema),
  },
  errors: ['change_limit_reached'],
  handle: async (context) => {
    const { caller, services, body } = context;
    const isDone = await moveClock(services, caller.tenant.accountId, body.seconds, actorOf(context));
    if (isRejection(isDone)) return isDone;
    return { status: isDone ? 200 : 202, body: await clockView(context) };
  },
});

export const flushDeliveriesRoute = route('POST', '/v1/sandbox/deliveries/flush', {
  operationId: 'flushSandboxDeliveries',
  summary: 'Flush webhook deliveries',
  description:
    'Attempts pending webhook deliveries and waits up to 5 seconds until none is due. Use it in tests before you check your receiver.',
  ...IN_SANDBOX,
  responses: {
    200: json('No delivery is due. `pending` counts those held back for failing endpoints.', flushSchema),
    202: json('Deliveries are still due after 5 seconds. `pending` counts those due or held back.', flushSchema),
  },
  handle: async ({ caller, services }) => {
    const { due, held } = await services.whenDelivered(caller.tenant, VISIBLE_MS);
    return { status: due === 0 ? 200 : 202, body: { pending: due + held } };
  },
});
