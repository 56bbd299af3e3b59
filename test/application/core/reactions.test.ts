// The reactions of a process must cover every event type of the groups that it reads.
import { expect } from 'chai';
import { following, nothing, processManager, reacting } from '../../../application/core/reactions.ts';
import { partition, reading } from '../../../domain/kernel/eventGroups.ts';
import type { UserEvent } from '../../../domain/user/user.ts';

const GROUPS = partition<UserEvent>()({
  access: { life: ['UserAdded', 'UserDisabled'], back: ['UserEnabled'] },
  role: ['UserRoleChanged'],
  credentials: ['UserPasswordChanged', 'UserSecondFactorEnrolled', 'UserSecondFactorReset'],
});
const cleared = [{ kind: 'clearTimer', timer: { kind: 'a', key: 'b' } }] as const;
const clear = () => cleared;

describe('the reactions of a process', () => {
  it('cover exactly the types of the groups that it reads, checked at compile time', () => {
    reacting(GROUPS, { reads: { UserRoleChanged: clear }, ignores: ['access', 'credentials'] });
    reacting(GROUPS, { reads: { UserRoleChanged: clear, UserEnabled: nothing }, ignores: ['life', 'credentials'] });
    // @ts-expect-error: a type of a part that is read has no reaction
    reacting(GROUPS, { reads: { UserRoleChanged: clear }, ignores: ['life', 'credentials'] });
    // @ts-expect-error: a group is neither read nor ignored
    reacting(GROUPS, { reads: { UserRoleChanged: clear }, ignores: ['access'] });
    // @ts-expect-error: a type of a group that is ignored has a reaction
    reacting(GROUPS, { reads: { UserRoleChanged: clear, UserEnabled: clear }, ignores: ['access', 'credentials'] });
    // @ts-expect-error: there is no such group
    reacting(GROUPS, { reads: { UserRoleChanged: clear }, ignores: ['access', 'credentials', 'others'] });
    // @ts-expect-error: one function for all types proves nothing
    processManager({ name: 'a', movesMoney: false, from: 'now', reactions: { user: clear } });
    const ofUsers = reacting(GROUPS, { reads: { UserRoleChanged: clear }, ignores: ['access', 'credentials'] });
    // @ts-expect-error: these are reactions to the events of another aggregate
    processManager({ name: 'a', movesMoney: false, from: 'now', reactions: { account: ofUsers } });
  });

  it('can follow a rule of the domain that reads the same groups', () => {
    const rule = reading(GROUPS, { reads: ['access', 'role'], nothing: ['UserDisabled'], ignores: ['credentials'] });
    // @ts-expect-error: the rule does not read the credentials
    reacting(GROUPS, { reads: following(rule, clear), ignores: [] });
    const react = reacting(GROUPS, { reads: following(rule, clear), ignores: ['credentials'] });
    const reactionsTo = (type: UserEvent['type']) =>
      react({ event: { type } } as unknown as Parameters<typeof react>[0]);
    expect(reactionsTo('UserEnabled')).to.equal(cleared);
    expect(reactionsTo('UserDisabled')).to.deep.equal([]);
    expect(reactionsTo('UserPasswordChanged')).to.deep.equal([]);
  });
});
