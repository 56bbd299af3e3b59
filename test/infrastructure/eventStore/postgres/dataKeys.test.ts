// Appends that store a new data key together with their events (ADR 0017): both or neither.
import { expect } from 'chai';
import type { EventStore, StoredKey } from '../../../../application/ports/eventStore.ts';
import { newEvent, newEvents, newStream } from '../../../conformance/eventStore/harness.ts';
import { createPostgresEventLog, type PostgresEventLog } from '../../../support/postgresEventLog.ts';

describe('an append with a new data key', () => {
  let log: PostgresEventLog;
  let store: EventStore;
  before(async () => {
    log = await createPostgresEventLog();
    store = await log.connect();
  });
  after(() => log.dispose());

  let owners = 0;
  const newKey = (owner = `owner${++owners}`): StoredKey => ({
    owner,
    secretId: 1,
    salt: `${owner} ${owners} \u0080\u00ff`,
  });
  const stored = async (owner: string) =>
    (
      await log.sql.query<{ key: string | null }>(
        `SELECT convert_from(salt, 'LATIN1') AS key FROM privacy.data_keys WHERE owner = $1`,
        [owner],
      )
    ).rows.map(({ key }) => key);
  const eventsIn = async (stream: Parameters<EventStore['readStream']>[0]) => {
    const ids: string[] = [];
    for await (const { id, ...event } of store.readStream(stream)) {
      expect(event).to.not.have.property('dataKey');
      ids.push(id);
    }
    return ids;
  };

  it('stores the key with the events, once even if it is repeated', async () => {
    const [stream, key, [first, second]] = [newStream(), newKey(), newEvents(2)];
    const events = [first!, { ...second!, dataKey: key }];
    expect((await store.append(stream, -1, events)).ok).to.equal(true);
    expect((await store.append(stream, -1, events)).ok).to.equal(true);
    expect(await stored(key.owner)).to.deep.equal([key.salt]);
    expect(await eventsIn(stream)).to.deep.equal(events.map(({ id }) => id));
  });

  it('stores no key if the events are rejected', async () => {
    const [stream, key] = [newStream(), newKey()];
    await store.append(stream, -1, newEvents(1));
    expect(await store.append(stream, -1, [{ ...newEvent(), dataKey: key }])).to.deep.equal({ ok: false, actual: 0 });
    expect(await stored(key.owner)).to.deep.equal([]);
  });

  it('stores no events if the owner already has a key or had one', async () => {
    const [used, destroyed] = [newKey(), newKey()];
    await store.append(newStream(), -1, [{ ...newEvent(), dataKey: used }]);
    await log.sql.query('INSERT INTO privacy.data_keys (owner, destroyed_at) VALUES ($1, now())', [destroyed.owner]);
    for (const { owner } of [used, destroyed]) {
      const stream = newStream();
      const before = await stored(owner);
      const refusal = await store.append(stream, -1, [{ ...newEvent(), dataKey: newKey(owner) }]);
      expect(refusal).to.deep.equal({ ok: false, actual: -1 });
      expect([await stored(owner), await eventsIn(stream)]).to.deep.equal([before, []]);
      expect((await store.append(stream, -1, newEvents(1))).ok).to.equal(true);
    }
  });

  it('rejects only those appends of a flush whose keys exist already', async () => {
    const taken = newKey();
    await store.append(newStream(), -1, [{ ...newEvent(), dataKey: taken }]);
    const keys = [newKey(), newKey(taken.owner), null, newKey()];
    const results = await Promise.all(
      keys.map((dataKey) => store.append(newStream(), -1, [{ ...newEvent(), ...(dataKey && { dataKey }) }])),
    );
    expect(results.map(({ ok }) => ok)).to.deep.equal([true, false, true, true]);
    const positions = results.flatMap((result) => (result.ok ? [Number(result.position)] : []));
    expect(positions.map((position) => position - positions[0]!)).to.deep.equal([0, 1, 2]);
  });
});
