// What a process remembers of the log, tested against servers that answer like a restored, a promoted or a different server.
import { expect } from 'chai';
import pg from 'pg';
import type { Position, RecordedEvent } from '../../../../application/ports/eventStore.ts';
import type { StreamName } from '../../../../domain/kernel/ids.ts';
import { LogMemory } from '../../../../infrastructure/eventStore/postgres/logMemory.ts';
import { ProvenPosition } from '../../../../infrastructure/eventStore/postgres/provenPosition.ts';
import { failureOf } from '../../../conformance/eventStore/harness.ts';

/** Event IDs by position, from 1. */
interface Server {
  ids: readonly string[];
  identity: string | null;
}

const asking = (server: Server) => async (query: { readonly values?: unknown[] }) => {
  const [place] = query.values as [number];
  const head = server.ids.length;
  const row = [
    head === 0 ? null : String(head),
    server.ids.at(-1) ?? null,
    server.ids[place - 1] ?? null,
    server.identity,
  ];
  return { rows: [row] as never };
};

const event = (place: number, id: string): RecordedEvent => ({
  id,
  type: 'SomethingHappened',
  data: '{}',
  metadata: '{}',
  stream: 'payment-1' as StreamName,
  revision: place - 1,
  position: String(place).padStart(19, '0') as Position,
  recordedAt: new Date().toISOString(),
});

describe('the memory of the log', () => {
  let server: Server;
  let memory: LogMemory;
  let told: number[];
  const check = () => memory.check(asking(server) as never);
  const wrote = (ids: readonly string[]) =>
    memory.wrote(
      1,
      ids.map((id, n) => event(n + 1, id)),
    );
  const remembers = () => memory.recent.after(0, 10)?.map(({ id }) => id) ?? null;
  beforeEach(async () => {
    server = { ids: ['a', 'b', 'c'], identity: '7 00000001' };
    told = [];
    memory = new LogMemory(() => undefined);
    memory.recent.keepFor({ at: 0 });
    memory.onRestored((head) => told.push(head));
    await check();
    wrote(server.ids);
  });

  const cases: readonly [string, Partial<Server>, boolean][] = [
    ['the same log', {}, false],
    ['a log with appends of another process', { ids: ['a', 'b', 'c', 'd'] }, false],
    ['a log whose newest known event was deleted', { ids: ['a', 'b', null as never, 'd'] }, false],
    ['a server that no longer reports its identity', { identity: null }, false],
    ['a shorter log', { ids: ['a', 'b'] }, true],
    ['an empty log', { ids: [] }, true],
    ['a log that grew back to the same position', { ids: ['a', 'b', 'x'] }, true],
    ['a log that grew back beyond that position', { ids: ['a', 'x', 'y', 'z'] }, true],
    ['the same log on another timeline', { identity: '7 00000002' }, true],
    ['the same log on another server', { identity: '8 00000001' }, true],
  ];
  for (const [name, change, isDropped] of cases)
    it(`${isDropped ? 'is dropped' : 'is kept'} for ${name}, once`, async () => {
      server = { ...server, ...change };
      await check();
      await check();
      expect(remembers()).to.deep.equal(isDropped ? null : ['a', 'b', 'c']);
      expect(told).to.deep.equal(isDropped ? [server.ids.length] : []);
      expect(memory.head.known).to.equal(Math.max(server.ids.length, isDropped ? 0 : 3));
      expect(memory.connections).to.equal(3);
    });

  it('counts a log as restored only if events are missing', async () => {
    server.identity = '7 00000002';
    await check();
    expect(memory.restores).to.equal(0);
    server.ids = ['a'];
    await check();
    expect(memory.restores).to.equal(1);
  });

  it('is dropped once by two connections that detect the restore at the same time', async () => {
    server.ids = ['a'];
    await Promise.all([check(), check()]);
    expect([told, memory.restores]).to.deep.equal([[1], 1]);
  });

  it('accepts events written to the restored log', async () => {
    server.ids = ['a'];
    await check();
    memory.wrote(2, [event(2, 'x')]);
    expect(memory.recent.after(1, 10)?.map(({ id }) => id)).to.deep.equal(['x']);
    expect(memory.head.known).to.equal(2);
    server.ids = ['a', 'y', 'z'];
    await check();
    expect(told).to.deep.equal([1, 3]);
  });

  it('works without the server’s identity if the role may not read it, and doesn’t ask again', async () => {
    const asked: string[] = [];
    const refusal = Object.assign(new pg.DatabaseError('permission denied', 0, 'error'), { code: '42501' });
    const refusing = async (query: { readonly text: string; readonly values?: unknown[] }) => {
      asked.push(query.text);
      if (query.text.includes('pg_control_system')) throw refusal;
      return asking(server)(query);
    };
    for (let twice = 0; twice < 2; twice++) await memory.check(refusing as never);
    expect(asked.map((text) => text.includes('pg_control_system'))).to.deep.equal([true, false, false]);
    expect(told).to.deep.equal([]);
  });

  it('passes on errors of a connection', async () => {
    const failing = () => Promise.reject(new Error('gone'));
    expect(await failureOf(() => memory.check(failing))).to.equal('Error');
    expect(memory.connections).to.equal(1);
  });

  describe('the position of a subscription', () => {
    const looking = {
      lookAt: async (place: number) => ({ head: server.ids.length, id: server.ids[place - 1] ?? null }),
    };
    const outcome = async (position: ProvenPosition) =>
      position.prove().then(
        () => 'proved',
        ({ name }: Error) => name,
      );

    it('is verified once for each new connection', async () => {
      const position = new ProvenPosition({ reader: looking, memory }, 3);
      expect(position.isProved).to.equal(false);
      expect(await outcome(position)).to.equal('proved');
      expect(position.isProved).to.equal(true);
      await check();
      expect(position.isProved).to.equal(false);
    });

    it('is verified again if the verification itself needed a new connection', async () => {
      const reader = {
        lookAt: async (place: number) => {
          await check();
          return looking.lookAt(place);
        },
      };
      const position = new ProvenPosition({ reader, memory }, 3);
      expect(await outcome(position)).to.equal('proved');
      expect(position.isProved).to.equal(false);
    });

    it('is unknown if its last event differs or the log ends earlier', async () => {
      for (const ids of [['a', 'b', 'x'], ['a', 'b', 'x', 'y'], ['a'], []]) {
        server.ids = ['a', 'b', 'c'];
        const position = new ProvenPosition({ reader: looking, memory }, 2);
        await position.prove();
        position.move({ events: [event(3, 'c')], upTo: 3, atHead: true });
        server.ids = ids;
        expect(await outcome(position), ids.join()).to.equal('UnknownPosition');
      }
    });

    it('after events skipped by a filter is unknown only in a restored log', async () => {
      for (const isRestored of [false, true]) {
        server.ids = ['a', 'b', 'c'];
        await check();
        const position = new ProvenPosition({ reader: looking, memory }, 1);
        await position.prove();
        position.move({ events: [], upTo: 3, atHead: true });
        if (isRestored) {
          wrote(server.ids);
          server.ids = ['a', 'x', 'y', 'z'];
        }
        await check();
        expect(await outcome(position)).to.equal(isRestored ? 'UnknownPosition' : 'proved');
      }
    });
  });
});
