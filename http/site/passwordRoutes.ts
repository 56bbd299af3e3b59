// /account/password: the page behind a mailed password link (architecture §2).

import { reject } from '../../domain/kernel/rejection.ts';
import { PASSWORD_LENGTH } from '../../domain/user/password.ts';
import { DASHBOARD } from '../api/access/tags.ts';
import * as s from '../kernel/jsonSchema.ts';
import { jsonBody, pathParam, type Route, route } from '../kernel/route.ts';
import { NOT_MODIFIED } from '../kernel/send.ts';
import { checkoutContentSecurityPolicy } from './checkout/contentSecurityPolicy.ts';
import { PASSWORD_PAGE, passwordAsset } from './password/page.ts';

const FOR_EVER = 'public, max-age=31536000, immutable';

const assetRoute = route('GET', '/account/assets/{name}', {
  operationId: 'getAccountAsset',
  summary: 'Get a file of the password page',
  tag: DASHBOARD,
  principal: 'public',
  params: {
    name: pathParam(
      'The name of the file.',
      (text) => passwordAsset(text) ?? reject('not_found', 'There is no such file.'),
    ),
  },
  responses: {
    200: {
      kind: 'bytes',
      description: 'The file. Its URL in the page changes with its content.',
      contentTypes: ['text/css', 'text/javascript', 'image/svg+xml'],
    },
    304: NOT_MODIFIED,
  },
  handle: async ({ params: { name: asset } }) => {
    const headers = { 'Cache-Control': FOR_EVER, ETag: `"${asset.version}"` };
    return { status: 200, headers, contentType: asset.contentType, bytes: asset.body };
  },
});

const pageRoute = route('GET', '/account/password', {
  operationId: 'showPasswordPage',
  summary: 'Show the page where a user with a mailed link sets a password',
  tag: DASHBOARD,
  principal: 'public',
  responses: { 200: { kind: 'page', description: 'The page, the same for every link.' } },
  handle: async () => ({
    status: 200,
    headers: { 'Content-Security-Policy': checkoutContentSecurityPolicy },
    page: PASSWORD_PAGE,
  }),
});

const setPasswordRoute = route('POST', '/account/password', {
  operationId: 'setPassword',
  summary: 'Set a password with a link’s secret; ends the user’s sessions',
  tag: DASHBOARD,
  principal: 'public',
  limit: 'login',
  body: jsonBody({
    schema: s.accepting({
      token: s.described('The secret after the `#` of the link.', s.string(128)),
      password: s.described(
        `${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters of any kind.`,
        s.string(1_024),
      ),
    }),
  }),
  responses: { 204: { kind: 'empty', description: 'The password is set, and the link is used up.' } },
  handle: async (context) =>
    (await context.services.setPassword(context.body, context.requestId, context)) ?? { status: 204 },
});

export const PASSWORD_ROUTES: readonly Route[] = [assetRoute, pageRoute, setPasswordRoute];
