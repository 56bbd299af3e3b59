// Transactions on dedicated and pooled connections, and what happens if the connection is cut meanwhile.
import { Socket } from 'node:net';
import { expect } from 'chai';
import { asTimestamp, type Sql } from '../../../application/ports/sql.ts';
import { connectionConfig, PgPool, PgSession } from '../../../infrastructure/postgres/session.ts';
import { emptyDatabase, type TestDatabase } from '../../world/postgres.ts';
import { type PostgresProxy, startPostgresProxy } from '../../world/tcpProxy.ts';
import { type Backends, watchBackends } from './backends.ts';

const NAME = 'under test';
/** The server’s message ReadyForQuery, with which a packet ends. */
const READY = 'Z'.charCodeAt(0);
const READY_BYTES = 6;
const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    (value) => `no error but ${JSON.stringify(value)}`,
    (error: Error) => error.message,
  );

describe('connections to Postgres', () => {
  let database: TestDatabase;
  let backends: Backends;
  beforeEach(async () => {
    database = await emptyDatabase();
    backends = await watchBackends(database.connectionString);
    await backends.sql.query('CREATE TABLE kept (n integer PRIMARY KEY, at timestamptz, sum bigint)');
  });
  afterEach(async () => {
    await backends.close();
    await database.drop();
  });
  const config = (connectionString = database.connectionString) => connectionConfig(connectionString, NAME);
  const kept = async (): Promise<number[]> =>
    (await backends.sql.query<{ n: number }>('SELECT n FROM kept ORDER BY n')).rows.map(({ n }) => n);
  const insert = (n: number) => `INSERT INTO kept (n) VALUES (${n})`;

  for (const [name, open] of [
    ['a session', async () => PgSession.open(config())],
    ['a pool', async () => new PgPool(config(), 2, () => undefined)],
  ] as const)
    describe(name, () => {
      let db: PgSession | PgPool;
      beforeEach(async () => {
        db = await open();
      });
      afterEach(() => db.close());

      it('returns the rows of all statements of a text, and the row count of the last', async () => {
        const text = `BEGIN; SELECT 1 AS n; SELECT n FROM kept; ${insert(7)}; SELECT n FROM kept UNION SELECT 8 ORDER BY n`;
        expect(await db.query(`${text}; COMMIT`)).to.deep.equal({ rows: [{ n: 1 }, { n: 7 }, { n: 8 }], rowCount: 0 });
        expect(await db.query(text.replace('BEGIN; ', '').replace(insert(7), insert(9)))).to.deep.equal({
          rows: [{ n: 1 }, { n: 7 }, { n: 7 }, { n: 8 }, { n: 9 }],
          rowCount: 3,
        });
        expect(await kept()).to.deep.equal([7, 9]);
      });

      it('commits when the work resolves, and returns its result', async () => {
        const result = await db.transaction(async (tx) => {
          await tx.query(insert(1));
          expect(await kept()).to.deep.equal([]);
          return 'done';
        });
        expect(result).to.equal('done');
        expect(await kept()).to.deep.equal([1]);
      });

      it('rolls back when the work rejects, passes the error on, and can be used again', async () => {
        const work = db.transaction(async (tx) => {
          await tx.query(insert(1));
          throw new Error('changed my mind');
        });
        expect(await messageOf(work)).to.equal('changed my mind');
        await db.transaction((tx) => tx.query(insert(2)));
        expect(await kept()).to.deep.equal([2]);
      });

      it('rolls back when a statement fails', async () => {
        await db.query(insert(1));
        const work = db.transaction(async (tx) => {
          await tx.query(insert(2));
          await tx.query(insert(1));
        });
        expect(await messageOf(work)).to.match(/duplicate key/);
        expect(await kept()).to.deep.equal([1]);
      });

      it('rejects a COMMIT that rolled back', async () => {
        const work = db.transaction(async (tx) => {
          await tx.query(insert(2));
          await tx.query('SELECT 1/0').catch(() => undefined);
          return 'done';
        });
        expect(await messageOf(work)).to.match(/rolled back/);
        expect(await kept()).to.deep.equal([]);
      });

      it('reports the end of the transaction once, when its changes are visible to others', async () => {
        const ends: unknown[] = [];
        const run = (work: (tx: Sql) => Promise<unknown>) =>
          db.transaction(async (tx) => {
            tx.onEnd((isCommitted) => ends.push(isCommitted));
            tx.onEnd((isCommitted) => ends.push(isCommitted ? kept() : []));
            await work(tx);
          });
        await run((tx) => tx.query(insert(1)));
        for (const work of [
          () => Promise.reject(new Error('no')),
          (tx: Sql) => tx.query('SELECT 1/0').catch(() => undefined),
          (tx: Sql) => tx.query('SELECT pg_terminate_backend(pg_backend_pid())'),
        ])
          expect(await messageOf(run(work))).not.to.equal('');
        expect(await Promise.all(ends)).to.deep.equal([true, [1], false, [], false, [], false, []]);
      });

      it('reads bigint as a number and formatted times as text in UTC, and counts rows', async () => {
        const at = '2026-11-21T12:00:00.987-03:00';
        await db.query({ text: 'INSERT INTO kept VALUES ($1, $2, $3)', values: [1, at, 2 ** 40] });
        expect(await db.query(`SELECT n, ${asTimestamp('at')} AS at, sum FROM kept WHERE n = $1`, [1])).to.deep.equal({
          rows: [{ n: 1, at: '2026-11-21T15:00:00.987Z', sum: 2 ** 40 }],
          rowCount: 1,
        });
        expect(await db.query('UPDATE kept SET sum = 1 WHERE n = 9')).to.deep.equal({ rows: [], rowCount: 0 });
      });

      it('has a statement timeout of 30 s', async () => {
        expect((await db.query('SHOW statement_timeout')).rows).to.deep.equal([{ statement_timeout: '30s' }]);
      });

      it('rejects the transaction in progress when the connection is cut', async () => {
        const work = db.transaction(async (tx) => {
          await tx.query(insert(1));
          await tx.query('SELECT pg_terminate_backend(pg_backend_pid())');
        });
        expect(await messageOf(work)).to.match(/terminat/i);
        expect(await kept()).to.deep.equal([]);
      });
    });

  describe('concurrent statements of a session', () => {
    let session: PgSession;
    beforeEach(async () => {
      session = await PgSession.open(config());
    });
    afterEach(() => session.close());

    it('are sent in one write, and answered in order', async () => {
      const { _writeGeneric: write } = Socket.prototype as unknown as { _writeGeneric: () => void };
      let writes = 0;
      const counting = {
        _writeGeneric(this: unknown, ...given: []) {
          writes++;
          return write.apply(this, given);
        },
      };
      Object.assign(Socket.prototype, counting);
      try {
        const answers = [1, 2, 3].map((n) => session.query<{ n: number }>(`SELECT ${n} AS n`));
        await new Promise<void>((resolve) => process.nextTick(() => process.nextTick(resolve)));
        expect(writes).to.equal(1);
        expect((await Promise.all(answers)).map(({ rows }) => rows[0]?.n)).to.deep.equal([1, 2, 3]);
      } finally {
        Object.assign(Socket.prototype, { _writeGeneric: write });
      }
    });

    it('fail after a failed statement with a different error code, and nothing is stored', async () => {
      const codes = await session
        .transaction(async (tx) => {
          const works = [insert(1), 'SELECT 1/0', insert(2)].map((text) => tx.query(text));
          const outcomes = await Promise.allSettled(works);
          const codeOf = (outcome: PromiseSettledResult<unknown>) =>
            outcome.status === 'rejected' ? (outcome.reason as { code: string }).code : null;
          throw Object.assign(new Error('failed'), { codes: outcomes.map(codeOf) });
        })
        .catch((error: { codes: unknown }) => error.codes);
      expect(codes).to.deep.equal([null, '22012', '25P02']);
      expect(await kept()).to.deep.equal([]);
      await session.query({ name: 'again', text: insert(3) });
      expect(await kept()).to.deep.equal([3]);
    });

    it('share a prepared statement, which is prepared again if that failed', async () => {
      const statement = (n: number) => ({ name: 'insert', text: 'INSERT INTO kept (n) VALUES ($1)', values: [n] });
      let codes: unknown[] = [];
      const first = session.transaction(async (tx) => {
        await tx.query('SELECT 1/0').catch(() => undefined);
        const outcomes = await Promise.allSettled([tx.query(statement(1)), tx.query(statement(2))]);
        codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : null));
      });
      expect(await messageOf(first)).to.match(/rolled back/);
      expect(codes).to.deep.equal(['25P02', '26000']);
      await session.transaction((tx) => Promise.all([tx.query(statement(3)), tx.query(statement(4))]));
      expect(await kept()).to.deep.equal([3, 4]);
    });
  });

  describe('a COMMIT whose connection is cut', () => {
    let proxy: PostgresProxy;
    beforeEach(async () => {
      proxy = await startPostgresProxy(database.connectionString);
    });
    afterEach(() => proxy.close());

    for (const [when, swallow, written] of [
      ['before it arrives writes nothing', () => proxy.swallowRequests(), []],
      ['before its answer arrives writes everything', () => proxy.swallowAnswers(), [1]],
    ] as const)
      it(`${when}, and the transaction rejects`, async () => {
        const pool = new PgPool(config(proxy.connectionString), 1, () => undefined);
        const committing = proxy.sees('COMMIT');
        const ends: boolean[] = [];
        const work = messageOf(
          pool.transaction(async (tx) => {
            tx.onEnd((isCommitted) => ends.push(isCommitted));
            await tx.query(insert(1));
            swallow();
          }),
        );
        await committing;
        if (written.length > 0) await backends.until(async () => (await kept()).length > 0);
        proxy.heal();
        expect(await work).to.match(/terminated|ECONNRESET|ended/i);
        expect(ends).to.deep.equal([false]);
        await backends.until(async () => (await backends.of(NAME)).length === 0);
        expect(await kept()).to.deep.equal(written);
        await pool.transaction((tx) => tx.query(insert(2)));
        expect(await kept()).to.deep.equal([...written, 2]);
        await pool.close();
      });
  });

  it('replaces pooled connections that were cut, idle or busy, and never exceeds the maximum', async () => {
    const errors: string[] = [];
    const pool = new PgPool(config(), 2, (error) => errors.push(error.message));
    const pid = 'SELECT pg_backend_pid() AS pid';
    for (let round = 0; round < 3; round++) {
      await Promise.all(Array.from({ length: 8 }, () => pool.query(pid)));
      expect(await backends.cut(NAME)).to.equal(2);
      await backends.until(async () => errors.length >= 2 * (round + 1));
    }
    const { rows } = await pool.query<{ pid: number }>(pid);
    expect(rows.map((row) => row.pid)).to.deep.equal(await backends.of(NAME));
    const broken = pool.transaction((tx) => tx.query('SELECT pg_terminate_backend(pg_backend_pid())'));
    expect(await messageOf(broken)).to.match(/terminat/i);
    expect((await pool.query('SELECT 1 AS one')).rows).to.deep.equal([{ one: 1 }]);
    await pool.close();
    await backends.until(async () => (await backends.of(NAME)).length === 0);
  });

  for (const [name, ask] of [
    ['a statement', (pool: PgPool) => pool.query('SELECT 1')],
    ['a transaction', (pool: PgPool) => pool.transaction((tx) => tx.query('SELECT 1'))],
  ] as const)
    it(`rejects ${name} on a new connection that the server ends in the same packet, and goes on`, async () => {
      let isHeld: () => void = () => undefined;
      const held = new Promise<void>((resolve) => {
        isHeld = resolve;
      });
      const proxy = await startPostgresProxy(database.connectionString, (pass) => {
        let kept: Buffer | null = null;
        return (bytes) => {
          if (kept === null && bytes.at(-READY_BYTES) === READY) {
            kept = bytes;
            return isHeld();
          }
          pass(kept === null ? bytes : Buffer.concat([kept, bytes]));
          if (kept !== null) kept = Buffer.alloc(0);
        };
      });
      const pool = new PgPool(config(proxy.connectionString), 2, () => undefined);
      const answer = messageOf(ask(pool));
      await held;
      await backends.cut(NAME);
      expect(await answer).to.match(/terminating connection|not queryable/);
      await pool.close();
      await proxy.close();
    });

  it('closes a pool only after the server has ended every connection, so that a server stop cuts none', async () => {
    for (let round = 0; round < 20; round++) {
      const pool = new PgPool(config(), 4, () => undefined);
      await Promise.all(Array.from({ length: 4 }, () => pool.query('SELECT 1')));
      await pool.close();
      expect(await backends.of(NAME)).to.deep.equal([]);
    }
  });

  it('reports a lost session to its holder, and rejects later statements', async () => {
    let lost: (error: Error) => void = () => undefined;
    const told = new Promise<Error>((resolve) => {
      lost = resolve;
    });
    const session = await PgSession.open(config(), lost);
    expect(await backends.cut(NAME)).to.equal(1);
    expect((await told).message).to.match(/terminat/i);
    expect(await messageOf(session.query('SELECT 1'))).to.match(/not queryable|connection error/i);
    await session.close();
  });
});
