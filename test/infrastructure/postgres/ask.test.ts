// Statements leave nothing in V8's old generation: whatever a function there names stays until the next full collection.
import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { expect } from 'chai';
import pg from 'pg';
import type { StreamName } from '../../../domain/kernel/ids.ts';
import { openPostgresEventStore } from '../../../infrastructure/eventStore/postgres/store.ts';
import { ask } from '../../../infrastructure/postgres/ask.ts';
import { connectionConfig, PgPool, PgSession } from '../../../infrastructure/postgres/session.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';

setFlagsFromString('--allow-natives-syntax');
const isYoung = new Function('value', 'return %InYoungGeneration(value)') as (value: unknown) => boolean;

interface Submitted {
  readonly text: string;
  readonly callback: unknown;
}
const { submit } = pg.Query.prototype;

describe('a statement', () => {
  let database: TestDatabase;
  let old: string[];
  let count: number;
  before(async () => {
    database = await migratedDatabase();
    pg.Query.prototype.submit = function (this: pg.Query & Submitted, connection) {
      count += 1;
      if (!isYoung(this.callback)) old.push(this.text);
      return submit.call(this, connection);
    };
  });
  beforeEach(() => {
    [old, count] = [[], 0];
  });
  after(async () => {
    pg.Query.prototype.submit = submit;
    await database.drop();
  });

  /** Without it, the other tests could not fail. The code is new in each run, because compiled code creates such a function young. */
  it('would be kept there by a function that is assigned to a property, as pg’s promise does', () => {
    const [assigned, argument] = new Function('const a = {}; a.callback = () => a; return [a.callback, () => a]')();
    expect([assigned, argument].map(isYoung)).to.deep.equal([false, true]);
  });

  for (const [name, open] of [
    ['a session', () => PgSession.open(connectionConfig(database.connectionString, 'under test'))],
    ['a pool', async () => new PgPool(connectionConfig(database.connectionString, 'under test'), 1, () => undefined)],
  ] as const)
    it(`is not kept there by ${name}`, async () => {
      const sql = await open();
      await sql.query({ text: 'SELECT $1::int', values: [1] });
      await sql.transaction((tx) => tx.query('SELECT 2'));
      const failed = await sql.transaction((tx) => tx.query('SELECT 1 / 0')).catch((error: Error) => error.message);
      await sql.close();
      expect({ failed, old }).to.deep.equal({ failed: 'division by zero', old: [] });
      expect(count).to.be.at.least(7);
    });

  it('is not kept there by the event store', async () => {
    const store = await openPostgresEventStore({ connectionString: database.connectionString });
    const appendAndRead = async (): Promise<number> => {
      const stream = `payment-${randomUUID()}` as StreamName;
      await store.append(stream, -1, [{ id: randomUUID(), type: 'ChargeCreated', data: '{}', metadata: '{}' }]);
      let read = 0;
      for await (const _ of store.readStream(stream)) read += 1;
      return read;
    };
    await appendAndRead(); // opens the connections
    [old, count] = [[], 0];
    const events = await appendAndRead();
    await store.close();
    expect({ events, old }).to.deep.equal({ events: 1, old: [] });
    expect(count).to.be.at.least(2);
  });

  it('fails with the error of pg and a trace that leads back to its caller', async () => {
    const client = new pg.Client(database.connectionString);
    await client.connect();
    const theCaller = async () => {
      await ask(client, { text: 'SELECT 1 / 0' });
    };
    const error = (await theCaller().catch((one: unknown) => one)) as pg.DatabaseError;
    await client.end();
    expect(error).to.be.instanceOf(pg.DatabaseError);
    expect({ code: error.code, message: error.message }).to.deep.equal({ code: '22012', message: 'division by zero' });
    expect(error.stack).to.include('theCaller');
  });
});
