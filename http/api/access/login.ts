// Logging in to the dashboard, logging out, and changing or resetting a password (rules D1, E8).

import { ACCOUNT } from '../../../domain/account/account.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { PASSWORD_LENGTH } from '../../../domain/user/password.ts';
import { ROLES, USER } from '../../../domain/user/user.ts';
import { networkOf } from '../../kernel/address.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { actorOf, json, jsonBody, route, type Tag } from '../../kernel/route.ts';

/** The chapter of the API reference that contains these routes. */
export const DASHBOARD: Tag = {
  name: 'Dashboard',
  description:
    'Login and management of an account by its users. These operations require the token of a login. API keys can’t call them.',
};

export const EMAIL_LENGTH_MAX = 254;
/** A bound in UTF-16 units that every valid password stays below. */
const TYPED_LENGTH_MAX = 1_024;
/** A generous bound: recovery codes have 19 characters. */
export const CODE_LENGTH_MAX = 64;

const loginSchema = s.exactly({
  token: s.described('Send it in the header `Authorization: Bearer <token>`. Returned only once.', s.string()),
  tokenType: s.constant('Bearer'),
  expiresIn: s.described('Seconds until the token expires.', s.integer(1, 86_400)),
  user: s.exactly({
    id: s.id(USER.idPrefix),
    name: s.string(),
    email: s.string(),
    role: s.described(
      'An OPERATOR belongs to the platform, a user with any other role to an account.',
      s.oneOfTexts(ROLES),
    ),
  }),
  account: s.described(
    'The account of the user; null for an OPERATOR.',
    s.orNull(s.exactly({ id: s.id(ACCOUNT.idPrefix), name: s.string() })),
  ),
});

export const logInRoute = route('POST', '/v1/auth/login', {
  operationId: 'logIn',
  summary: 'Log in to the dashboard',
  description:
    'Checks an email address, a password and, for a user who has a second factor, a `code`. Returns a token for the dashboard operations, which is valid for one hour.',
  tag: DASHBOARD,
  principal: 'public',
  limit: 'login',
  body: jsonBody({
    schema: s.accepting({
      email: s.described('Case-insensitive.', s.string(EMAIL_LENGTH_MAX)),
      password: s.string(TYPED_LENGTH_MAX),
      code: s.optional(
        s.described(
          'A TOTP code or recovery code. Required if the user has a second factor.',
          s.string(CODE_LENGTH_MAX),
        ),
      ),
    }),
  }),
  responses: { 200: json('The user is logged in.', loginSchema) },
  errors: ['unauthorized', 'second_factor_required', 'role_required'],
  handle: async (context) => {
    const { body, services, address, requestId } = context;
    const done = await services.logIn(body, services.operatorsLogIn, context);
    if (isRejection(done)) {
      services.reportSecurityEvent({ security: 'login_failed', network: networkOf(address), requestId });
      return done;
    }
    const { token, expiresInSeconds, user, account } = done;
    const { userId, name, email, role } = user;
    return {
      status: 200,
      body: {
        token,
        tokenType: 'Bearer' as const,
        expiresIn: expiresInSeconds,
        user: { id: USER.idPrefix + userId, name, email, role },
        account: account && { id: ACCOUNT.idPrefix + account.accountId, name: account.name },
      },
    };
  },
});

export const logOutRoute = route('POST', '/v1/auth/logout', {
  operationId: 'logOut',
  summary: 'Log out',
  description: 'Ends the session. Its token stops working immediately.',
  tag: DASHBOARD,
  principal: 'anySession',
  limit: 'logOut',
  responses: { 204: { kind: 'empty', description: 'The session has ended.' } },
  handle: async ({ caller, services }) => {
    await services.logOut(caller.sessionId);
    return { status: 204 };
  },
});

export const changePasswordRoute = route('POST', '/v1/auth/password', {
  operationId: 'changePassword',
  summary: 'Change the password of the current user',
  description:
    'Changes the password of the current user. Every other session of this user ends; the current session continues.',
  tag: DASHBOARD,
  principal: 'anySession',
  body: jsonBody({
    schema: s.accepting({
      current_password: s.string(TYPED_LENGTH_MAX),
      new_password: s.described(
        `${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters of any kind.`,
        s.string(TYPED_LENGTH_MAX),
      ),
    }),
  }),
  responses: { 204: { kind: 'empty', description: 'The password is changed. The current session continues.' } },
  errors: ['change_limit_reached'],
  handle: async (context) => {
    const { current_password: current, new_password: wanted } = context.body;
    const refused = await context.services.changePassword(
      context.caller,
      { current, wanted },
      actorOf(context),
      context,
    );
    return refused ?? { status: 204 };
  },
});

export const requestPasswordResetRoute = route('POST', '/v1/auth/password-reset', {
  operationId: 'requestPasswordReset',
  summary: 'Request a password reset link',
  description:
    'Sends the user an email with a link to set a new password. The response is the same for unknown addresses.',
  tag: DASHBOARD,
  principal: 'public',
  limit: 'login',
  body: jsonBody({ schema: s.accepting({ email: s.string(EMAIL_LENGTH_MAX) }) }),
  responses: {
    202: {
      kind: 'empty',
      description: 'If the address belongs to a user, a link was sent. It works once, within one hour.',
    },
  },
  handle: async ({ body, services }) => {
    await services.requestPasswordLink('reset', body.email);
    return { status: 202 };
  },
});
