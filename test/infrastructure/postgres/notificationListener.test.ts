// LISTEN on one connection. After a reconnect, every listener is called once, because notices may have been missed.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import pg from 'pg';
import { NotificationListener } from '../../../infrastructure/postgres/notificationListener.ts';
import { connectionConfig, type PgSession } from '../../../infrastructure/postgres/session.ts';
import { emptyDatabase, type TestDatabase } from '../../world/postgres.ts';
import { startPostgresProxy } from '../../world/tcpProxy.ts';
import { type Backends, watchBackends } from './backends.ts';

const NAME = 'notices under test';

/** Sent during a reconnect, so it may or may not arrive. */
const MISSED = 'missed';

/** Collects all other payloads that a listener receives, and can wait for them. */
class Heard {
  readonly all: string[] = [];
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  readonly listener = (payload: string): void => {
    if (payload === MISSED) return;
    this.all.push(payload);
    for (const { resolve } of this.#waiting.filter(({ count }) => this.all.length >= count)) resolve();
    this.#waiting = this.#waiting.filter(({ count }) => this.all.length < count);
  };
  count(count: number): Promise<void> {
    if (this.all.length >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }
}

describe('notices', () => {
  let database: TestDatabase;
  let backends: Backends;
  let notices: NotificationListener;
  beforeEach(async () => {
    database = await emptyDatabase();
    backends = await watchBackends(database.connectionString);
    notices = new NotificationListener(connectionConfig(database.connectionString, NAME));
  });
  afterEach(async () => {
    await notices.close();
    await backends.until(async () => (await backends.of(NAME)).length === 0);
    await backends.close();
    await database.drop();
  });
  const notify = (channel: string, payload: string) =>
    backends.sql.query('SELECT pg_notify($1, $2)', [channel, payload]);

  it('reach every listener of their channel, and no other, whether it was added before or after opening', async () => {
    const [early, late, other] = [new Heard(), new Heard(), new Heard()];
    await notices.on('a', early.listener);
    await notices.open();
    await notices.on('a', late.listener);
    await notices.on('b', other.listener);
    await notify('a', 'one');
    await notify('b', 'two');
    await other.count(1);
    expect([early.all, late.all, other.all]).to.deep.equal([['', 'one'], ['one'], ['two']]);
  });

  it('only wake a listener that can’t parse the payload of another role, and later ones arrive', async () => {
    await notices.open();
    const [reader, next] = [new Heard(), new Heard()];
    await notices.on('a', (payload) => reader.listener(payload === '' ? '' : JSON.parse(payload)));
    await notices.on('a', next.listener);
    await notify('a', 'no JSON');
    await notify('a', '"one"');
    await next.count(2);
    expect([reader.all, next.all]).to.deep.equal([
      ['', 'one'],
      ['no JSON', '"one"'],
    ]);
  });

  it('of roles that can’t act as the program’s only wake listeners, whatever their payload', async () => {
    const name = `forger_${randomBytes(4).toString('hex')}`;
    await backends.sql.query(`CREATE ROLE ${name} LOGIN PASSWORD 'a password'`);
    const url = new URL(database.connectionString);
    [url.username, url.password] = [name, 'a password'];
    const forger = new pg.Client({ connectionString: url.href });
    await forger.connect();
    try {
      await notices.open();
      const heard = new Heard();
      await notices.on('a', heard.listener);
      for (const payload of ['first', 'second']) {
        await forger.query('SELECT pg_notify($1, $2)', ['a', payload]);
        await notify('a', payload);
      }
      await heard.count(4);
      expect(heard.all.toSorted()).to.deep.equal(['', '', 'first', 'second']);
    } finally {
      await forger.end();
      await backends.sql.query(`DROP ROLE ${name}`);
    }
  });

  it('are read again after a check of their sender failed', async () => {
    await notices.open();
    const heard = new Heard();
    await notices.on('a', heard.listener);
    const session = notices.session as PgSession;
    const { query } = session;
    session.query = () => Promise.reject(new Error('the check failed'));
    await notify('a', 'one');
    await heard.count(1);
    session.query = query;
    await notify('a', 'two');
    await heard.count(2);
    expect(heard.all).to.deep.equal(['', 'two']);
  });

  it('are read after a new check of their sender when the session was lost', async () => {
    await notices.open();
    const heard = new Heard();
    await notices.on('a', heard.listener);
    await notify('a', 'one');
    await heard.count(1);
    await backends.cut(NAME);
    await heard.count(2);
    const session = notices.session as PgSession;
    session.query = () => Promise.resolve({ rows: [{ ours: false }], rowCount: 1 } as never); // now another role has its number
    await notify('a', 'two');
    await heard.count(3);
    expect(heard.all).to.deep.equal(['one', '', '']);
  });

  it('don’t reach a removed listener, but still reach the others', async () => {
    await notices.open();
    const [gone, stays] = [new Heard(), new Heard()];
    const undo = await notices.on('a', gone.listener);
    await notices.on('a', stays.listener);
    undo();
    undo();
    await notify('a', 'one');
    await stays.count(1);
    expect([gone.all, stays.all]).to.deep.equal([[], ['one']]);
  });

  it('arrive once each after every reconnect, which uses one connection and calls every listener', async () => {
    await notices.open();
    const heard = new Heard();
    await notices.on('a', heard.listener);
    const expected: string[] = [];
    for (const cut of ['first', 'second', 'third']) {
      expect(await backends.cut(NAME), cut).to.equal(1);
      await notify('a', MISSED);
      expected.push('');
      await heard.count(expected.length);
      await notify('a', cut);
      expected.push(cut);
      await heard.count(expected.length);
    }
    await notify('a', 'last');
    await heard.count(expected.length + 1);
    expect(heard.all).to.deep.equal([...expected, 'last']);
  });

  it('arrive again after failed attempts to reconnect', async () => {
    const name = new URL(database.connectionString).pathname.slice(1);
    const proxy = await startPostgresProxy(database.connectionString);
    notices = new NotificationListener(connectionConfig(proxy.connectionString, NAME));
    const heard = new Heard();
    await notices.on('a', heard.listener);
    await notices.open();
    const admin = await watchBackends(new URL('/postgres', database.connectionString).href);
    await admin.sql.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await backends.cut(NAME);
    await backends.until(async () => proxy.accepted >= 3); // the first connection and two rejected ones
    await admin.sql.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await admin.close();
    await heard.count(2);
    await notify('a', 'back');
    await heard.count(3);
    expect(heard.all).to.deep.equal(['', '', 'back']);
    expect(await backends.of(NAME)).to.have.length(1);
    await notices.close();
    await proxy.close();
  });

  it('of the listener’s own session are ignored', async () => {
    const heard = new Heard();
    await notices.on('a', heard.listener);
    await notices.open();
    await notices.session?.query("SELECT pg_notify('a', 'own')");
    await notify('a', 'of another session');
    await heard.count(2);
    expect(heard.all).to.deep.equal(['', 'of another session']);
  });

  it('use no connection that fails a check, and the failure is reported', async () => {
    const heard = new Heard();
    const lost: string[] = [];
    let checks = 0;
    notices.beforeUse(async (client) => {
      const { rows } = await client.query<{ n: number }>('SELECT 1 AS n');
      expect([rows, notices.session]).to.deep.equal([[{ n: 1 }], null]);
      if (++checks < 3) throw new Error(`check ${checks}`);
    });
    notices.onLost(({ message }) => lost.push(message));
    await notices.on('a', heard.listener);
    notices.start();
    await heard.count(1);
    expect([checks, lost, heard.all]).to.deep.equal([3, ['check 1', 'check 2'], ['']]);
    await backends.cut(NAME);
    await heard.count(2);
    expect([checks, lost.length]).to.deep.equal([4, 3]);
    expect(await backends.of(NAME)).to.have.length(1);
  });

  it('stay closed after a lost connection and a repeated close', async () => {
    await notices.open();
    await backends.cut(NAME);
    await notices.close();
    await notices.close();
    await backends.until(async () => (await backends.of(NAME)).length === 0);
  });

  it('leave no connection if they are closed during a reconnect', async () => {
    const heard = new Heard();
    await notices.on('a', heard.listener);
    await notices.open();
    await backends.cut(NAME);
    // The new connection exists but is not in use yet: the critical moment to close.
    await backends.until(async () => (await backends.of(NAME)).length === 1);
    await notices.close();
    await backends.until(async () => (await backends.of(NAME)).length === 0);
  });
});
