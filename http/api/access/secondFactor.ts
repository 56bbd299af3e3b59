// A user's second factor: enrolling and confirming it (rule D4).

import { isRejection } from '../../../domain/kernel/rejection.ts';
import { accepting, described, exactly, listOf, optional, string } from '../../kernel/jsonSchema.ts';
import { actorOf, jsonBody, route } from '../../kernel/route.ts';
import { CODE_LENGTH_MAX } from './login.ts';
import { DASHBOARD } from './tags.ts';

const enrolTotpRoute = route({
  method: 'POST',
  path: '/v1/auth/totp/enroll',
  operationId: 'enrolTotp',
  summary: 'Begin to enrol an authenticator app as a second factor; nothing changes until it is confirmed',
  description:
    'Returns the secret of a new second factor. Logins do not change until `confirmTotp`. A repeat replaces the pending secret. A user who has a second factor sends a `code` of it.',
  tag: DASHBOARD,
  principal: 'anySession',
  body: jsonBody({
    schema: accepting({
      code: optional(
        described(
          'A TOTP or recovery code of the present second factor, which the new one replaces. Ignored without one.',
          string(CODE_LENGTH_MAX),
        ),
      ),
    }),
  }),
  responses: {
    200: {
      kind: 'json',
      description: 'A new secret. It replaces one that was not confirmed.',
      schema: exactly({
        secret: described('In base32, for apps without a camera.', string()),
        otpauth_url: described('For the app, usually as a QR code: SHA-1, six digits, 30 seconds.', string()),
      }),
    },
  },
  errors: ['second_factor_required'],
  handle: async ({ caller, body, services }) => {
    const begun = await services.enrolTotp(caller.userId, body.code);
    return isRejection(begun) ? begun : { status: 200, body: { secret: begun.secret, otpauth_url: begun.otpauthUrl } };
  },
});

const confirmTotpRoute = route({
  method: 'POST',
  path: '/v1/auth/totp/confirm',
  operationId: 'confirmTotp',
  summary: 'Put the second factor in force by a code of it; every other session of the user ends',
  description:
    'Puts the pending second factor in force and returns ten recovery codes, which are shown once. Every other session of this user ends.',
  tag: DASHBOARD,
  principal: 'anySession',
  body: jsonBody({
    schema: accepting({
      code: described('The app’s present code. It counts as used.', string(CODE_LENGTH_MAX)),
    }),
  }),
  responses: {
    200: {
      kind: 'json',
      description: 'It is in force. Each recovery code works once instead of a TOTP code. Shown only now.',
      schema: exactly({ recoveryCodes: listOf(string()) }),
    },
  },
  errors: [],
  handle: async (context) => {
    const { caller, body, services, requestId } = context;
    const done = await services.confirmTotp(caller, body.code, actorOf(context));
    if (isRejection(done)) return done;
    services.reportSecurityEvent({ security: 'second_factor_enrolled', by: caller.actor, requestId });
    return { status: 200, body: done };
  },
});

export const SECOND_FACTOR_ROUTES = [enrolTotpRoute, confirmTotpRoute];
