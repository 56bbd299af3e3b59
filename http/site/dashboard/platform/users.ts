// Users on operators' pages: a table of them, and the form that adds one by an invitation, or with a password that is shown once.
import type { ListedUser } from '../../../../application/ports/readModels/views.ts';
import { isEmailAddress } from '../../../../domain/kernel/email.ts';
import type { AccountId } from '../../../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../../../domain/kernel/rejection.ts';
import { ACCOUNT_ROLES, type Role, USER } from '../../../../domain/user/user.ts';
import { html, type Markup } from '../../html.ts';
import { type Content, redirect } from '../page.ts';
import { inviteAgain, userBadge } from '../parts.ts';
import { type Acting, said, shownAgain } from './acting.ts';
import { type Operator, operatorOf, shownToOperator } from './page.ts';
import { choice, field, listOf, secretsPage } from './parts.ts';

/** The rejected input of the form. */
export interface TypedUser {
  readonly email?: string;
  readonly name?: string;
}

/** `path`: the target of the form that adds a user. */
export const usersTable = (users: readonly ListedUser[], total: number, path: string, operator: Operator): Markup => {
  const { texts, to } = operator;
  const { users: words } = texts.platform;
  const rows = users.map((user) => {
    const { userId, name, email, role, status, hasPassword } = user;
    const again = status === 'active' && !hasPassword ? inviteAgain(user, path, words.inviteAgain, operator) : null;
    return html`<tr><th scope="row" class="wide"><a href="${to(`/users/${USER.idPrefix}${userId}`)}">${name}</a><br><span class="muted small">${email}</span></th>
<td>${words.roles[role]}</td><td>${userBadge(user, operator)}${again}</td></tr>`;
  });
  const heads = [words.user, words.role, texts.payments.status];
  return listOf(words.title, heads, rows, words.empty, total, operator);
};

/** The form that adds a user. Operators have a single role, so the form has no field for it. */
export const addForm = (path: string, isOfAccount: boolean, typed: TypedUser, { texts, csrf }: Operator): Markup => {
  const { users: words, operators } = texts.platform;
  const roles = ACCOUNT_ROLES.map((role) => [role, words.roles[role]] as const);
  const ways = [
    ['invite', words.invite],
    ['password', words.withPassword],
  ] as const;
  const add = isOfAccount ? words.add : operators.add;
  return html`<details><summary>${add}</summary><form method="post" action="${path}" class="stack narrow">${csrf}${field('email', texts.signIn.email, typed.email ?? '', null)}
${field('name', words.name, typed.name ?? '', null)}${isOfAccount ? choice('role', words.role, roles, 'MEMBER') : null}${choice('how', words.how, ways, 'invite')}<p><button>${add}</button></p></form></details>`;
};

interface Adding {
  /** null: the user becomes an operator. */
  readonly accountId: AccountId | null;
  readonly section: string;
  /** The page with the form, below the platform. */
  readonly place: string;
  readonly page: (typed: TypedUser) => (operator: Operator) => Promise<Content | Rejection>;
}

/** Adds the user that the form describes. */
export const addedUser = async (context: Acting, { accountId, section, place, page }: Adding) => {
  const operator = operatorOf(context);
  const { platform, actor, texts, to } = operator;
  const { body } = context;
  const [email, name] = [body.text('email'), body.text('name')];
  const role: Role =
    accountId === null ? 'OPERATOR' : (ACCOUNT_ROLES.find((known) => known === body.text('role')) ?? 'VIEWER');
  const wish = { accountId, email, name: name === '' ? email : name, role };
  const again = (refusal: Rejection) => shownAgain(context, operator, page({ email, name }), refusal);
  if (!isEmailAddress(email)) return again(said(texts.platform.accounts.badEmail));
  if (body.text('how') !== 'password') {
    const invited = await platform.inviteUser(wish, actor);
    return isRejection(invited) ? again(invited) : redirect(to(place), 'userInvited');
  }
  const added = await platform.addUser({ ...wish, password: null }, actor);
  if (isRejection(added)) return again(added);
  const secrets = [
    [texts.signIn.email, email],
    [texts.signIn.password, added.password],
  ] as const;
  const title = accountId === null ? texts.platform.operators.added : texts.platform.users.added;
  return shownToOperator(200, context, operator, secretsPage(title, secrets, { section, place }, operator));
};
