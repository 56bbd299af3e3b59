// Operators list and resolve callbacks over HTTP and on the command line; old callbacks are deleted.

import { expect } from 'chai';
import { runWords } from '../../../support/cli.ts';
import { CallbackDesk, type Connected } from '../../../world/callbackDesk.ts';
import { expectError } from '../../../world/http.ts';
import { migratedDatabase, type TestDatabase } from '../../../world/postgres.ts';
import { NO_SCHEDULES } from '../../../world/withoutWorld.ts';

const DAY_MS = 86_400_000;
interface Listed {
  readonly data: readonly Record<string, unknown>[];
  readonly total: number;
}

describe('callbacks that need an operator', () => {
  let database: TestDatabase;
  let desk: CallbackDesk;
  let operator: { readonly headers: { readonly authorization: string } };
  before(async () => {
    database = await migratedDatabase();
    desk = await CallbackDesk.open([{}, {}], { database, startSchedule: NO_SCHEDULES });
    operator = { headers: await desk.gateway.logIn('OPERATOR') };
  });
  after(async () => {
    await desk.close();
    await database.drop();
  });
  beforeEach(async () => {
    await desk.gateway.storage.operations.query('DELETE FROM operations.provider_callbacks');
  });
  const pathOf = (connection = desk.first) => `/ops/v1/providers/pc_${connection.id}/callbacks`;
  const list = async (query = '', connection?: Connected) => {
    const reply = await desk.gateway.get<Listed>(pathOf(connection) + query, operator);
    expect(reply.status, reply.text).to.equal(200);
    return reply.body;
  };
  const kept = async (body = 'não é JSON'): Promise<string> => {
    expect((await desk.call(body)).status).to.equal(200);
    await desk.untilHandled();
    return (await desk.ids()).at(-1) ?? '';
  };

  /** Returns the total size of stored bodies and their keys. */
  const bodyBytes = async (): Promise<number> => {
    const { rows } = await desk.gateway.storage.operations.query<{ bytes: number }>(
      'SELECT coalesce(sum(length(raw) + coalesce(length(sealed), 0)), 0)::int AS bytes FROM operations.provider_callbacks',
    );
    return rows[0]?.bytes ?? 0;
  };

  it('are listed by connection and outcome, and resolved once with a reason', async () => {
    const id = await kept();
    await kept('{}');
    const { data, total } = await list();
    expect([total, data]).to.deep.equal([
      1,
      [
        {
          id,
          connectionId: `pc_${desk.first.id}`,
          receivedAt: data[0]?.['receivedAt'],
          lastReceivedAt: data[0]?.['lastReceivedAt'],
          times: 1,
          outcome: 'notUnderstood',
          findings: [],
          resolvedAt: null,
          resolvedBy: null,
          resolvedReason: null,
        },
      ],
    ]);
    expect((await list('?outcome=testCall')).total).to.equal(1);
    expect((await list('', desk.others[0])).total).to.equal(0);
    const reason = { reason: 'A test of the bank.' };
    const at = (path: string, body: object = reason) => desk.gateway.post(path, body, operator);
    expectError(await at(`${pathOf(desk.others[0])}/${id}/resolve`), 404, 'not_found');
    expectError(await at(`${pathOf()}/${id}/resolve`, { reason: ' ' }), 400, 'invalid_request', 'reason');
    const resolved = await at(`${pathOf()}/${id}/resolve`);
    expect([resolved.status, resolved.body['resolvedReason'], resolved.body['outcome']]).to.deep.equal([
      200,
      'A test of the bank.',
      'notUnderstood',
    ]);
    expect(resolved.body['resolvedBy']).to.match(/^user:usr_/);
    expectError(await at(`${pathOf()}/${id}/resolve`), 404, 'not_found');
    expect([(await list()).total, (await list('?outcome=notUnderstood')).total]).to.deep.equal([0, 1]);
    expect(await desk.needs.callbackReads.countOpen()).to.equal(0);
  });

  it('are listed and resolved on the command line', async () => {
    const id = await kept();
    const run = <T>(...words: string[]) => runWords<T>(database.connectionString, 'provider', ...words);
    const { json, err } = await run<{ callbacks: { id: string; outcome: string }[]; total: number }>(
      'callbacks',
      '--connection',
      `pc_${desk.first.id}`,
      '--json',
    );
    expect([json?.total, json?.callbacks.map((one) => [one.id, one.outcome])], err).to.deep.equal([
      1,
      [[id, 'notUnderstood']],
    ]);
    expect((await run('callbacks', '--connection', 'none')).code).to.equal(2);
    expect((await run('callbacks', '--outcome', 'other')).code).to.equal(2);
    expect((await run('callbacks', '--outcome', 'handled')).out).to.equal('no such callback\n');
    expect((await run('resolve-callback', id, '--reason', ' ')).code).to.equal(2);
    expect((await run('resolve-callback', 'x', '--reason', 'seen')).code).to.equal(2);
    const { code, out } = await run('resolve-callback', id, '--reason', 'seen');
    expect([code, out]).to.deep.equal([0, out]);
    expect(out).to.include('notUnderstood (resolved)');
    expect((await run('resolve-callback', id, '--reason', 'seen')).code).to.equal(2);
    expect((await run('callbacks')).out).to.equal('no such callback\n');
  });

  it('are kept until they are resolved; others are deleted after 90 days', async () => {
    const waiting = await kept();
    const resolved = await kept('also not');
    await kept('{}');
    await desk.needs.callbackReads.resolve(null, resolved, 'operator:test', 'seen');
    const { providerCallbacks } = desk.needs;
    await desk.age(89 * DAY_MS);
    await providerCallbacks.forget(90 * DAY_MS);
    expect((await desk.ids()).length).to.equal(3);
    expect(await bodyBytes()).to.be.greaterThan(0);
    await desk.age(2 * DAY_MS);
    await providerCallbacks.forget(90 * DAY_MS);
    expect(await desk.ids()).to.deep.equal([waiting]);
    expect(await bodyBytes()).to.equal(0);
    expect(await kept()).to.equal(waiting); // the same body, sealed with a new key and handled again
    expect(await bodyBytes()).to.be.greaterThan(0);
    expect((await list()).data.map(({ times, outcome }) => [times, outcome])).to.deep.equal([[2, 'notUnderstood']]);
  });
});
