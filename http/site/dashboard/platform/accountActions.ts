// Operators' actions on an account: suspend and reopen it, change its settings and logo, add users, issue, rotate and revoke keys.

import { NO_ACCOUNT } from '../../../../domain/account/account.ts';
import type { AccountId } from '../../../../domain/kernel/ids.ts';
import { isRejection, SECRET_MADE_BEFORE } from '../../../../domain/kernel/rejection.ts';
import { keyParam } from '../../../api/access/apiKeys.ts';
import { accountParam } from '../../../api/accounts/operatorAccounts.ts';
import { PLATFORM_PAGES } from '../../../kernel/callers.ts';
import { route } from '../../../kernel/route.ts';
import { unlessReplaced } from '../developers/keys.ts';
import { keyIn } from '../edit.ts';
import { PAGE, REDIRECT } from '../page.ts';
import { FORM_WITH_LOGO, imageOf } from '../settings/logo.ts';
import { onePage, placeOf } from './account.ts';
import type { TypedKey } from './accountKeys.ts';
import { settingChangeOf } from './accountSettings.ts';
import { ACCOUNTS } from './accounts.ts';
import { type Acting, acted, acting, answering, shownAgain } from './acting.ts';
import { type Operator, operatorOf, shownToOperator } from './page.ts';
import { secretsPage } from './parts.ts';
import { addedUser } from './users.ts';

const AT = `${PLATFORM_PAGES}${ACCOUNTS}/{id}`;
const one = { params: accountParam } as const;
const oneKey = { params: { ...accountParam, keyId: keyParam.id } } as const;

const suspendRoute = route('POST', `${AT}/suspend`, {
  ...acting,
  ...one,
  operationId: 'suspendAccountFromPage',
  summary: 'Suspend an account',
  handle: (context) => {
    const { id } = context.params;
    const act = ({ platform, actor }: Operator) => platform.suspendAccount(id, actor);
    return acted(context, { act, done: 'accountSuspended', place: placeOf(id), page: onePage(id) });
  },
});

const reopenRoute = route('POST', `${AT}/reopen`, {
  ...acting,
  ...one,
  operationId: 'reopenAccountFromPage',
  summary: 'Reopen a suspended account',
  handle: (context) => {
    const { id } = context.params;
    const act = ({ platform, actor }: Operator) => platform.reopenAccount(id, actor);
    return acted(context, { act, done: 'accountReopened', place: placeOf(id), page: onePage(id) });
  },
});

const settingsRoute = route('POST', `${AT}/settings`, {
  ...acting,
  ...one,
  operationId: 'changeSettingsOfAccountFromPage',
  summary: 'Change a setting of an account',
  handle: (context) => {
    const { id } = context.params;
    const [option, value] = [context.body.text('option'), context.body.text('value')];
    const act = async (operator: Operator): Promise<unknown> => {
      if ((await operator.platform.findAccount(id)) === null) return NO_ACCOUNT;
      const change = settingChangeOf(option, value, operator);
      return isRejection(change) ? change : operator.services.changeAccountSettings(id, change, operator.actor);
    };
    return acted(context, { act, done: 'settingsChanged', place: placeOf(id), page: onePage(id, { option, value }) });
  },
});

/** Changes the logo, or removes it (null). */
const logoChanged = (context: Acting, id: AccountId, image: Buffer | null) =>
  acted(context, {
    act: ({ services, actor }) => services.changeLogo(id, image, actor),
    done: image === null ? 'logoRemoved' : 'logoChanged',
    place: placeOf(id),
    page: onePage(id),
  });

const sendLogoRoute = route('POST', `${AT}/logo`, {
  ...acting,
  ...one,
  operationId: 'sendLogoOfAccountFromPage',
  summary: 'Send the logo of an account',
  body: FORM_WITH_LOGO,
  handle: async (context) => logoChanged(context, context.params.id, await imageOf(context.body)),
});

const removeLogoRoute = route('POST', `${AT}/logo/remove`, {
  ...acting,
  ...one,
  operationId: 'removeLogoOfAccountFromPage',
  summary: 'Remove the logo of an account',
  handle: (context) => logoChanged(context, context.params.id, null),
});

const addUserRoute = route('POST', `${AT}/users`, {
  ...acting,
  ...one,
  operationId: 'addUserFromPage',
  summary: 'Add a user to an account: by an invitation, or with a password that is shown once',
  responses: { 200: PAGE, 303: REDIRECT, 422: PAGE },
  handle: (context) => {
    const { id } = context.params;
    const [section, place] = [ACCOUNTS, placeOf(id)];
    return addedUser(context, { accountId: id, section, place, page: (typed) => onePage(id, typed) });
  },
});

/** Shows a new key once, or the account's page with the problem. */
const newKey = async (
  context: Acting,
  id: AccountId,
  { label = '', key = null }: TypedKey,
  make: (operator: Operator) => ReturnType<Operator['services']['issueApiKey']>,
) => {
  const operator = operatorOf(context);
  const { developers: words } = operator.texts;
  const made = await make(operator);
  if (isRejection(made)) {
    const typed = { label, key: made === SECRET_MADE_BEFORE ? null : key };
    return shownAgain(context, operator, onePage(id, typed), made);
  }
  const secrets = [[words.key, made.cleartext]] as const;
  const page = secretsPage(words.newKey, secrets, { section: ACCOUNTS, place: placeOf(id) }, operator);
  return shownToOperator(200, context, operator, page);
};

const issueKeyRoute = route('POST', `${AT}/keys`, {
  ...answering,
  ...one,
  operationId: 'issueKeyOfAccountFromPage',
  summary: 'Issue an API key for an account and show it once',
  handle: (context) => {
    const { body, params } = context;
    const typed = { label: body.text('label'), key: keyIn(body) };
    const wish = { mode: body.text('mode') === 'live' ? 'live' : 'test', label: typed.label || null } as const;
    const issue = ({ services, actor }: Operator) => services.issueApiKey(params.id, wish, actor, typed.key);
    return newKey(context, params.id, typed, issue);
  },
});

const rotateKeyRoute = route('POST', `${AT}/keys/{keyId}/rotate`, {
  ...answering,
  ...oneKey,
  operationId: 'rotateKeyOfAccountFromPage',
  summary: 'Replace an API key of an account and show the new one once',
  handle: (context) => {
    const { id, keyId } = context.params;
    return newKey(context, id, {}, async ({ services, actor }) => {
      const made = await services.rotateApiKey(id, keyId, undefined, actor);
      return isRejection(made) ? unlessReplaced(made, context.body) : made;
    });
  },
});

const revokeKeyRoute = route('POST', `${AT}/keys/{keyId}/revoke`, {
  ...acting,
  ...oneKey,
  operationId: 'revokeKeyOfAccountFromPage',
  summary: 'Revoke an API key of an account',
  handle: (context) => {
    const { id, keyId } = context.params;
    const act = ({ services, actor }: Operator) => services.revokeApiKey(id, keyId, actor);
    return acted(context, { act, done: 'keyRevoked', place: placeOf(id), page: onePage(id) });
  },
});

export const ACCOUNT_ACTIONS = [
  suspendRoute,
  reopenRoute,
  settingsRoute,
  sendLogoRoute,
  removeLogoRoute,
  addUserRoute,
  issueKeyRoute,
  rotateKeyRoute,
  revokeKeyRoute,
];
