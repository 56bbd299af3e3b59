// Routes that enroll and confirm a user's second factor (rule D4).

import { isRejection } from '../../../domain/kernel/rejection.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { actorOf, json, jsonBody, route } from '../../kernel/route.ts';
import { CODE_LENGTH_MAX, DASHBOARD } from './login.ts';

const enrolTotpRoute = route('POST', '/v1/auth/totp/enroll', {
  operationId: 'enrolTotp',
  summary: 'Start the enrolment of a second factor',
  description:
    'Returns a new secret for an authenticator app. The second factor takes effect when `confirmTotp` succeeds. A repeat replaces the pending secret. If the user already has a second factor, a `code` from it is required.',
  tag: DASHBOARD,
  principal: 'anySession',
  body: jsonBody({
    schema: s.accepting({
      code: s.optional(
        s.described(
          'A TOTP or recovery code of the current second factor, which the new one replaces. Ignored if the user has none.',
          s.string(CODE_LENGTH_MAX),
        ),
      ),
    }),
  }),
  responses: {
    200: json(
      'A new secret. It replaces an unconfirmed one.',
      s.exactly({
        secret: s.described('The secret in base32, for manual entry.', s.string()),
        otpauth_url: s.described(
          'The URL for the authenticator app, usually shown as a QR code (SHA-1, six digits, 30 seconds).',
          s.string(),
        ),
      }),
    ),
  },
  errors: ['second_factor_required'],
  handle: async ({ caller, body, services }) => {
    const begun = await services.enrolTotp(caller.userId, body.code);
    return isRejection(begun) ? begun : { status: 200, body: { secret: begun.secret, otpauth_url: begun.otpauthUrl } };
  },
});

const confirmTotpRoute = route('POST', '/v1/auth/totp/confirm', {
  operationId: 'confirmTotp',
  summary: 'Confirm a second factor',
  description:
    'Activates the pending second factor and returns ten recovery codes. Store them: they are returned only once. Every other session of this user ends.',
  tag: DASHBOARD,
  principal: 'anySession',
  body: jsonBody({
    schema: s.accepting({
      code: s.described(
        'The current code of the authenticator app. It can’t be used again.',
        s.string(CODE_LENGTH_MAX),
      ),
    }),
  }),
  responses: {
    200: json(
      'The second factor is active. Each recovery code works once in place of a TOTP code.',
      s.exactly({ recoveryCodes: s.listOf(s.string()) }),
    ),
  },
  errors: ['change_limit_reached'],
  handle: async (context) => {
    const { caller, body, services, requestId } = context;
    const done = await services.confirmTotp(caller, body.code, actorOf(context));
    if (isRejection(done)) return done;
    services.reportSecurityEvent({ security: 'second_factor_enrolled', by: caller.actor, requestId });
    return { status: 200, body: done };
  },
});

export const SECOND_FACTOR_ROUTES = [enrolTotpRoute, confirmTotpRoute];
