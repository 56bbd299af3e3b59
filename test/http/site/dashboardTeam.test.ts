// An account’s users, managed by its OWNERs and ADMINs through the API and the dashboard.
import { expect } from 'chai';
import { MEMBERS_MAX } from '../../../application/accounts/members.ts';
import { metadataForChange } from '../../../application/core/eventMetadata.ts';
import type { UserId } from '../../../domain/kernel/ids.ts';
import { type AccountRole, changePassword, USER } from '../../../domain/user/user.ts';
import { EN } from '../../../http/site/dashboard/texts/en.ts';
import { cookieOf, ownForm } from '../../world/browser.ts';
import type { TestGateway, TestTenant, TestUser } from '../../world/gateway.ts';
import { openReady } from '../../world/http.ts';

const HTML = { accept: 'text/html', 'accept-language': 'en' };
const AT = '/dashboard/test/settings/team';
interface Member {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly status: string;
}

describe('the team', () => {
  let gateway: TestGateway;
  let tenant: TestTenant;
  let owner: TestUser;
  before(async () => {
    gateway = await openReady();
  });
  beforeEach(async () => {
    tenant = await gateway.newTenant();
    owner = await gateway.addUser('OWNER', { tenant });
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const add = (role: AccountRole) => gateway.addUser(role, { tenant });
  const idOf = ({ userId }: TestUser) => `usr_${userId}`;
  const as = async (user: TestUser) => {
    const headers = await gateway.logIn('OWNER', user);
    return {
      api: <T = Member>(method: string, path: string, body?: unknown) =>
        gateway.call<T>(method, path, { key: null, headers, ...(body !== undefined && { body }) }),
      show: (path = AT) =>
        gateway.call<unknown>('GET', path, { key: null, headers: { ...HTML, ...cookieOf(headers) } }),
      send: (path: string, fields: Readonly<Record<string, string>> = {}) =>
        gateway.call<unknown>('POST', AT + path, {
          key: null,
          ...ownForm(headers, fields),
          headers: { ...HTML, ...cookieOf(headers) },
        }),
    };
  };
  const rolesOf = async () =>
    Object.fromEntries(
      (await (await as(owner)).api<{ data: readonly Member[] }>('GET', '/v1/users?limit=100')).body.data.map(
        ({ id, role, status }) => [id, `${role} ${status}`],
      ),
    );

  it('is listed by pages, for managers of the account only', async () => {
    const [admin, member] = [await add('ADMIN'), await add('MEMBER')];
    const first = await (await as(admin)).api<{ data: Member[]; nextCursor: string }>('GET', '/v1/users?limit=2');
    expect(first.body.data.map(({ id }) => id)).to.deep.equal([idOf(owner), idOf(admin)]);
    const next = await (await as(admin)).api<{ data: Member[] }>(
      'GET',
      `/v1/users?startingAfter=${first.body.nextCursor}`,
    );
    expect(next.body.data.map(({ id }) => id)).to.deep.equal([idOf(member)]);
    expect((await (await as(member)).api('GET', '/v1/users')).status).to.equal(403);
    const stranger = await gateway.addUser('OWNER', { tenant: await gateway.newTenant() });
    expect((await (await as(stranger)).api('GET', `/v1/users?startingAfter=${idOf(member)}`)).status).to.equal(400);
    expect((await (await as(stranger)).api('POST', `/v1/users/${idOf(member)}/disable`)).status).to.equal(404);
  });
  it('invites a user once, and again while there is no password', async () => {
    const { send, show, api } = await as(owner);
    const wish = { email: 'bia@example.com', name: '<b>Bia</b>\u202e', role: 'ADMIN' };
    for (let n = 0; n < 2; n++) expect((await send('', wish)).headers.get('location')).to.equal(`${AT}?done=invited`);
    expect((await show(`${AT}?done=invited`)).text).to.include('unless 3 links were sent in the last 15 minutes');
    const { text } = await show();
    expect(text).to.include('&lt;b&gt;Bia').and.not.include('<b>Bia');
    expect(Object.values(await rolesOf())).to.deep.equal(['OWNER active', 'ADMIN active']);
    const other = await send('', { ...wish, role: 'VIEWER' });
    expect([other.status, other.text.includes('already exists')]).to.deep.equal([422, true]);
    expect(other.text).to.include('value="bia@example.com"');
    const nonsense = await send('', { ...wish, email: 'no address' });
    expect([nonsense.status, nonsense.text.includes(EN.team.badEmail)]).to.deep.equal([422, true]);
    expect((await api('POST', '/v1/users/invite', { email: 'x', role: 'KING' })).status).to.equal(400);
  });
  it('shows invited users as such until they have a password, and repeats the invitation from their row', async () => {
    const { send, show } = await as(owner);
    const wish = { email: 'caio@example.com', name: 'Caio', role: 'VIEWER' };
    await send('', wish);
    const { text } = await show();
    expect(text).to.include(EN.userStatuses.invited).and.include(`>${EN.team.inviteAgain}<`);
    const row = { email: wish.email, role: wish.role };
    expect((await send('', row)).headers.get('location')).to.equal(`${AT}?done=invited`);
    const id = Object.keys(await rolesOf())
      .at(-1)
      ?.slice(USER.idPrefix.length) as UserId;
    const { needs } = gateway.gateway;
    const decide = changePassword({ passwordId: 'p'.repeat(26) as never, replaces: null }, needs.accounts.realNow());
    const by = { actor: 'operator:test', requestId: null };
    await needs.commands.execute(USER, USER.stream(id), decide, metadataForChange(by, tenant.accountId, id));
    await gateway.untilProjected('users');
    const after = (await show()).text;
    expect(after).to.include('caio@example.com').and.not.include(EN.userStatuses.invited);
    expect(after).to.not.include(`>${EN.team.inviteAgain}<`);
  });
  it('changes roles, effective at once in open sessions', async () => {
    const member = await add('MEMBER');
    const theirs = await as(member);
    const { send } = await as(owner);
    expect((await send(`/${idOf(member)}/role`, { role: 'ADMIN' })).headers.get('location')).to.equal(
      `${AT}?done=roleChanged`,
    );
    expect((await theirs.show()).status).to.equal(200);
    await send(`/${idOf(member)}/role`, { role: 'VIEWER' });
    expect((await theirs.show()).status).to.equal(403);
    const wrong = await send(`/${idOf(member)}/role`, { role: 'OPERATOR' });
    expect([wrong.status, wrong.text.includes(EN.team.badRole)]).to.deep.equal([422, true]);
  });
  it('disables a user, whose sessions end, and enables the user again', async () => {
    const member = await add('ADMIN');
    const theirs = await as(member);
    const { send, show } = await as(owner);
    expect((await send(`/${idOf(member)}/disable`)).headers.get('location')).to.equal(`${AT}?done=userDisabled`);
    expect((await theirs.show()).status).to.equal(303);
    expect((await show()).text).to.include(EN.team.enable);
    expect((await send(`/${idOf(member)}/enable`)).headers.get('location')).to.equal(`${AT}?done=userEnabled`);
    expect((await (await as(member)).show()).status).to.equal(200);
  });
  it('lets nobody change their own role or access, and no ADMIN change or create an OWNER', async () => {
    const admin = await add('ADMIN');
    const member = await add('MEMBER');
    const before = await rolesOf();
    const { send, show } = await as(admin);
    const refused = [
      await send(`/${idOf(admin)}/role`, { role: 'OWNER' }),
      await send(`/${idOf(admin)}/disable`),
      await send(`/${idOf(owner)}/role`, { role: 'VIEWER' }),
      await send(`/${idOf(owner)}/disable`),
      await send(`/${idOf(member)}/role`, { role: 'OWNER' }),
      await send('', { email: 'another-owner@example.com', role: 'OWNER' }),
    ];
    expect(refused.map(({ status }) => status)).to.deep.equal(Array(6).fill(422));
    expect(refused.every(({ text }) => /role="alert">(?:You can’t change|Only an OWNER can)/.test(text))).to.equal(
      true,
    );
    expect(await rolesOf()).to.deep.equal(before);
    expect((await show()).text).to.not.include('value="OWNER"');
    const own = await (await as(owner)).api('POST', `/v1/users/${idOf(owner)}/disable`);
    expect([own.status, own.text.includes('role_required')]).to.deep.equal([403, true]);
  });
  it('keeps one OWNER when two disable or demote each other concurrently', async () => {
    for (const way of ['disable', 'role'] as const) {
      const pair = [await add('OWNER'), await add('OWNER')] as const;
      const [one, other] = [await as(pair[0]), await as(pair[1])];
      await (await as(owner)).api('GET', '/v1/users');
      const body = way === 'role' ? { role: 'VIEWER' } : undefined;
      const replies = await Promise.all([
        one.api('POST', `/v1/users/${idOf(pair[1])}/${way}`, body),
        other.api('POST', `/v1/users/${idOf(pair[0])}/${way}`, body),
      ]);
      expect(replies.map(({ status }) => status).toSorted()[0]).to.equal(200);
      expect(replies.filter(({ status }) => status === 200)).to.have.lengthOf(1);
      const roles = await rolesOf();
      expect(pair.filter((user) => roles[idOf(user)] === 'OWNER active')).to.have.lengthOf(1);
    }
  });
  it('has a maximum number of users', async () => {
    const invited = await gateway.addUser('VIEWER', { tenant, password: null });
    for (let n = 2; n < MEMBERS_MAX; n++) await gateway.addUser('VIEWER', { tenant, password: null });
    const invite = async (email: string) =>
      (await as(owner)).api('POST', '/v1/users/invite', { email, role: 'VIEWER' });
    const full = await invite('one-more@example.com');
    expect([full.status, full.text.includes('change_limit_reached')]).to.deep.equal([400, true]);
    // Repeating an invitation adds no user.
    for (const email of [invited.email, invited.email.toUpperCase()])
      expect((await invite(email)).status).to.equal(202);
  }).timeout(20_000);
});
