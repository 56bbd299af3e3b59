// After `privacy erase` and `privacy scrub`, a byte search finds no trace of the person in the files of a running program or in
// EventStoreDB (rule L5). For a log in PostgreSQL under kill -9 see test/faults/erasureKill9.test.ts.
import { expect } from 'chai';
import { EventStoreDbServer } from '../support/eventStoreDb/server.ts';
import { ScrubbedProgram } from '../support/scrubbedProgram.ts';
import { TRACES } from '../world/personDesk.ts';

describe('privacy erase and scrub', () => {
  it('leave no trace of the person in any file or in the log, with the log in EventStoreDB', async () => {
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
