// The sealer beside the append benchmark, in one process: how far it falls behind, and the size of its tables. `mocha --no-config --exit
// test/soak/sealing.soak.ts`; SECONDS changes how long the writers write.
import { expect } from 'chai';
import { repeating } from '../../application/ports/repeating.ts';
import { openPostgresEventStore } from '../../infrastructure/eventStore/postgres/store.ts';
import { appendRound, appendTo } from '../bench/append.ts';
import { AuditWorld } from '../infrastructure/audit/auditWorld.ts';

const SECONDS = Number(process.env['SECONDS'] ?? 60);
const LAG_MS_MAX = 10_000;
const BYTES_MAX = 60;

describe(`sealing beside ${SECONDS} s of appends`, function suite() {
  this.timeout(3_600_000);

  it('catches up within 10 s after the appends, and uses less than 60 bytes per event', async () => {
    const world = await AuditWorld.open();
    const { connectionString } = world.moving.database;
    const store = await openPostgresEventStore({ connectionString });
    const { sealer } = world.sealer(store);
    await sealer.seal();
    const sealing = repeating(2_000, () => sealer.seal());
    const perSecond = await appendRound(appendTo(store), SECONDS * 1_000);
    const endedAtMs = performance.now();
    const { rows } = await world.pool.query<{ count: number }>('SELECT count(*) AS count FROM event_store.events');
    const events = rows[0]!.count;
    const behind = events - (await world.size());
    while ((await world.size()) < events) await sealing.now();
    const lagMs = performance.now() - endedAtMs;
    await sealing.stop();
    const bytes = (await world.bytes()) / events;
    console.log(
      `${events} events, ${Math.round(perSecond)}/s; at the end ${behind} behind, sealed after ${Math.round(lagMs)} ms; ` +
        `${bytes.toFixed(1)} bytes per event`,
    );
    expect(lagMs).to.be.lessThan(LAG_MS_MAX);
    expect(bytes).to.be.lessThan(BYTES_MAX);
    sealer.forget();
    await store.close();
    await world.close();
  });
});
