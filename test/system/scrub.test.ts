// After `privacy erase` and `privacy scrub`, a byte search of all files of a running program finds nothing of the person, nor does one of
// EventStoreDB (rule L5). With the log in PostgreSQL, under kill -9: test/faults/erasureKill9.test.ts.
import { expect } from 'chai';
import { EventStoreDbServer } from '../support/eventStoreDb/server.ts';
import { ScrubbedProgram } from '../support/scrubbedProgram.ts';
import { TRACES } from '../world/personDesk.ts';

describe('erased and scrubbed', () => {
  it('no file of the program has a trace of the person with the log in EventStoreDB, nor does the log itself', async () => {
    const server = await EventStoreDbServer.start();
    const program = await ScrubbedProgram.open({ EVENTSTORE_URL: server.connectionString });
    try {
      await program.expectScrubbedAfter(async () => {
        expect(await program.erase()).to.deep.equal(['erased', 'erased']);
      });
      const stored = server.events.map(({ data, metadata }) => data + metadata);
      expect(stored.filter((text) => TRACES.some((trace) => text.includes(trace)))).to.deep.equal([]);
    } finally {
      await program.close();
      await server.stop();
    }
  });
});
