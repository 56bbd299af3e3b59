// A user has at most 1,000 events (rule E10). At the limit, access can still be removed, and a mailed link still sets a password.
import { expect } from 'chai';
import { metadataForChange } from '../../../../application/core/eventMetadata.ts';
import { isRejection } from '../../../../domain/kernel/rejection.ts';
import { USER } from '../../../../domain/user/user.ts';
import { beginEnrolment, codeOf } from '../../../support/totp.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady } from '../../../world/http.ts';

const BY = { actor: 'operator:test', requestId: null };
const NEXT = 'outra senha de teste';

describe('a user at the event limit', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const rows = async (table: string, userId: string): Promise<number> => {
    const text = `SELECT count(*) FROM operations.${table} WHERE user_id = $1`;
    return (await gateway.storage.operations.query<{ count: number }>(text, [userId])).rows[0]?.count ?? -1;
  };

  it('rejects further changes, except those that end or restore access', async () => {
    const { commands, accounts, links } = gateway.gateway.needs;
    const owner = await gateway.logIn('OWNER');
    const user = await gateway.addUser('MEMBER');
    const headers = await gateway.logIn('MEMBER', user);
    const { userId } = user;
    const { accountId } = gateway.tenant;
    const at = accounts.realNow();
    const changes = Array.from({ length: 998 }, () => ({ type: 'UserSecondFactorReset' as const, data: { at } }));
    const decide = () => ({ events: changes, reply: null });
    await commands.record(USER, USER.stream(userId), decide, metadataForChange(BY, accountId, userId));
    const as = (who: typeof headers, path: string, body?: unknown) =>
      gateway.call('POST', path, { key: null, headers: who, ...(body !== undefined && { body }) });
    const of = (verb: string, body?: unknown) => as(owner, `/v1/users/usr_${userId}/${verb}`, body);

    expect((await of('role', { role: 'VIEWER' })).status).to.equal(200); // its 1,000th event
    expectError(await of('role', { role: 'MEMBER' }), 400, 'change_limit_reached');
    expect((await of('role', { role: 'VIEWER' })).status).to.equal(200); // changes nothing

    const password = { current_password: user.password, new_password: NEXT };
    for (let n = 0; n < 2; n++)
      expectError(await as(headers, '/v1/auth/password', password), 400, 'change_limit_reached');
    const secret = await beginEnrolment(gateway, headers);
    expectError(await as(headers, '/v1/auth/totp/confirm', { code: codeOf(secret) }), 400, 'change_limit_reached');
    // The rejected changes left nothing behind.
    expect([await rows('passwords', userId), await rows('second_factors', userId)]).to.deep.equal([1, 0]);

    expect((await of('disable')).status).to.equal(200);
    expectError(await of('enable'), 400, 'change_limit_reached');
    const enabled = await gateway.gateway.services.platform.enableUser(userId, BY); // on the command line
    expect(isRejection(enabled) ? enabled.code : enabled.status).to.equal('active');

    const { state } = await commands.load(USER, USER.stream(userId));
    const token = links.tokenOf('0'.repeat(26));
    await links.open(token, { userId, replaces: state.status === 'absent' ? null : state.passwordId });
    expect((await gateway.post('/account/password', { token, password: NEXT }, { key: null })).status).to.equal(204);
    await gateway.logIn('VIEWER', { ...user, password: NEXT });
  });
});
