import { expect } from 'chai';
import type { PasswordId, SecondFactorId, UserId } from '../../../domain/kernel/ids.ts';
import { passwordProblem } from '../../../domain/user/password.ts';
import {
  type AccountRole,
  addUser,
  changePassword,
  changeRole,
  disableUser,
  enableUser,
  enrolSecondFactor,
  type Role,
  resetSecondFactor,
  type UserAdded,
  type UserEvent,
  user,
} from '../../../domain/user/user.ts';
import { given } from '../../support/given.ts';
import { ACCOUNT_ID, at } from '../../support/samples.ts';

const FIRST = '00000000000000000000000011' as PasswordId;
const SECOND = '00000000000000000000000012' as PasswordId;
const THIRD = '00000000000000000000000013' as PasswordId;
const ANA: UserAdded['data'] = {
  userId: '00000000000000000000000001' as UserId,
  accountId: ACCOUNT_ID,
  email: 'ana@example.com',
  name: 'Ana',
  role: 'OWNER',
  passwordId: FIRST,
  at: at('12:00:00'),
};
const added = (over: Partial<UserAdded['data']> = {}): UserEvent => ({ type: 'UserAdded', data: { ...ANA, ...over } });
const changed = (passwordId: PasswordId): UserEvent => ({
  type: 'UserPasswordChanged',
  data: { passwordId, at: at('13:00:00') },
});
const factor = (n: number) => String(n).padStart(26, '0') as SecondFactorId;
const disabled: UserEvent = { type: 'UserDisabled', data: { at: at('14:00:00') } };
const enabled: UserEvent = { type: 'UserEnabled', data: { at: at('15:00:00') } };

describe('addUser', () => {
  it('adds a user and is idempotent', () => {
    given(user).when(addUser(ANA)).then(added(), 'added').again('already_there');
  });
  it('keeps the original user when repeated with other content', () => {
    given(user, added())
      .when(addUser({ ...ANA, role: 'VIEWER', name: 'Bia', passwordId: SECOND, at: at('13:00:00') }))
      .then('already_there');
  });
  it('requires an account for every role except OPERATOR, which must have none', () => {
    given(user)
      .when(addUser({ ...ANA, role: 'OPERATOR' }))
      .rejected('invalid_request', 'role');
    given(user)
      .when(addUser({ ...ANA, accountId: null }))
      .rejected('invalid_request', 'role');
    const operator = { ...ANA, accountId: null, role: 'OPERATOR' } as const;
    given(user).when(addUser(operator)).then({ type: 'UserAdded', data: operator }, 'added');
  });
  it('limits a name to 200 characters, unless it is the email address', () => {
    const longest = { ...ANA, name: 'n'.repeat(200) };
    given(user).when(addUser(longest)).then({ type: 'UserAdded', data: longest }, 'added');
    given(user)
      .when(addUser({ ...ANA, name: 'n'.repeat(201) }))
      .rejected('invalid_request', 'name');
    const email = `${'a'.repeat(201)}@example.com`;
    given(user)
      .when(addUser({ ...ANA, email, name: email }))
      .then({ type: 'UserAdded', data: { ...ANA, email, name: email } }, 'added');
  });
});

describe('changePassword', () => {
  const change = (passwordId: PasswordId, replaces: PasswordId | null) =>
    changePassword({ passwordId, replaces }, at('13:00:00'));

  it('changes the password and is idempotent', () => {
    given(user, added()).when(change(SECOND, FIRST)).then(changed(SECOND), 'changed').again('changed');
  });
  it('sets the first password of an invited user', () => {
    given(user, added({ passwordId: null }))
      .when(change(SECOND, null))
      .then(changed(SECOND), 'changed');
  });
  it('rejects a change if the password was replaced in the meantime', () => {
    given(user, added(), changed(SECOND)).when(change(THIRD, FIRST)).rejected('unauthorized');
    given(user, added()).when(change(SECOND, null)).rejected('unauthorized');
  });
  it('rejects a disabled and an unknown user', () => {
    given(user, added(), disabled).when(change(SECOND, FIRST)).rejected('unauthorized');
    given(user).when(change(SECOND, FIRST)).rejected('not_found');
  });
});

describe('disableUser and enableUser', () => {
  it('disable and enable a user and are idempotent', () => {
    given(user, added())
      .when(disableUser(at('14:00:00')))
      .then(disabled, 'disabled')
      .again('disabled')
      .and()
      .when(enableUser(at('15:00:00')))
      .then(enabled, 'enabled')
      .again('enabled');
  });
  it('reject an unknown user with not_found', () => {
    given(user)
      .when(disableUser(at('14:00:00')))
      .rejected('not_found');
    given(user)
      .when(enableUser(at('14:00:00')))
      .rejected('not_found');
  });
  it('keep all other fields, and ignore events of a user that was never added', () => {
    const { at: addedAt, ...rest } = ANA;
    expect(given(user, added(), disabled, enabled).state).to.deep.equal({
      status: 'active',
      ...rest,
      secondFactorId: null,
      addedAt,
    });
    expect(given(user, disabled, changed(SECOND)).state).to.deep.equal({ status: 'absent' });
  });
});

describe('enrolSecondFactor and resetSecondFactor', () => {
  const [ONE, TWO] = [factor(1), factor(2)];
  const enrolled = (secondFactorId: SecondFactorId): UserEvent => ({
    type: 'UserSecondFactorEnrolled',
    data: { secondFactorId, at: at('17:00:00') },
  });
  const reset: UserEvent = { type: 'UserSecondFactorReset', data: { at: at('18:00:00') } };
  const enrol = (secondFactorId: SecondFactorId, replaces: SecondFactorId | null) =>
    enrolSecondFactor({ secondFactorId, replaces }, at('17:00:00'));
  const toReset = resetSecondFactor(at('18:00:00'));

  it('enroll and reset a second factor and are idempotent', () => {
    given(user, added())
      .when(enrol(ONE, null))
      .then(enrolled(ONE), 'enrolled')
      .again('enrolled')
      .and()
      .when(toReset)
      .then(reset, 'reset')
      .again('already_so');
  });
  it('replace a second factor only if it is the current one', () => {
    given(user, added(), enrolled(ONE)).when(enrol(TWO, ONE)).then(enrolled(TWO), 'enrolled');
    for (const stale of [null, factor(3)])
      given(user, added(), enrolled(ONE)).when(enrol(TWO, stale)).rejected('unauthorized');
    given(user, added(), enrolled(ONE), reset).when(enrol(TWO, ONE)).rejected('unauthorized');
  });
  it('reject an enrollment of a disabled user, but allow a reset', () => {
    given(user, added(), disabled).when(enrol(ONE, null)).rejected('unauthorized');
    given(user, added(), enrolled(ONE), disabled).when(toReset).then(reset, 'reset');
  });
  it('reject an unknown user with not_found', () => {
    given(user).when(enrol(ONE, null)).rejected('not_found');
    given(user).when(toReset).rejected('not_found');
  });
  it('keep the second factor when the password changes', () => {
    expect(given(user, added(), enrolled(ONE), changed(SECOND)).state).to.include({ secondFactorId: ONE });
  });
});

describe('passwordProblem', () => {
  const WRONG = 'must have 12 to 128 characters';
  const cases: readonly (readonly [string, string | null])[] = [
    ['', WRONG],
    ['x'.repeat(11), WRONG],
    ['x'.repeat(12), null],
    [' '.repeat(12), null],
    ['x'.repeat(128), null],
    ['x'.repeat(129), WRONG],
    // The limit counts characters, not bytes or UTF-16 units.
    ['💳'.repeat(11), WRONG],
    ['💳'.repeat(128), null],
    // A letter with a combining accent counts as one character.
    ['e\u0301'.repeat(11), WRONG],
    ['e\u0301'.repeat(128), null],
  ];
  for (const [password, problem] of cases)
    it(`returns ${problem ?? 'null'} for ${JSON.stringify(password.slice(0, 8))} × ${password.length}`, () =>
      expect(passwordProblem(password)).to.equal(problem));
});

describe('changeRole', () => {
  const roleChanged = (role: AccountRole): UserEvent => ({
    type: 'UserRoleChanged',
    data: { role, at: at('16:00:00') },
  });
  const change = (role: Role, isLastOwner = false) => changeRole(role, isLastOwner, at('16:00:00'));

  it('changes the role and is idempotent', () => {
    given(user, added()).when(change('VIEWER')).then(roleChanged('VIEWER'), 'changed').again('already_so');
    given(user, added(), disabled).when(change('ADMIN')).then(roleChanged('ADMIN'), 'changed');
    given(user, added(), roleChanged('VIEWER')).when(change('OWNER')).then(roleChanged('OWNER'), 'changed');
  });
  it('rejects another role for the last OWNER of an account', () => {
    given(user, added()).when(change('ADMIN', true)).rejected('invalid_request', 'role');
    given(user, added()).when(change('OWNER', true)).then('already_so');
    given(user, added({ role: 'ADMIN' }))
      .when(change('VIEWER', true))
      .then(roleChanged('VIEWER'), 'changed');
  });
  it('rejects changes to and from OPERATOR', () => {
    given(user, added()).when(change('OPERATOR')).rejected('invalid_request', 'role');
    const operator = added({ role: 'OPERATOR', accountId: null });
    given(user, operator).when(change('OWNER')).rejected('invalid_request', 'role');
    given(user, operator).when(change('OPERATOR')).then('already_so');
  });
  it('rejects an unknown user with not_found', () => given(user).when(change('ADMIN')).rejected('not_found'));
});
