// Rebuilds read models and verifies them against the log, on behalf of operators.
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { Position } from '../../application/ports/eventStore.ts';
import type { ReadModelWork } from '../../application/ports/readModelWork.ts';
import type { OpenLeaderSession } from '../../application/ports/sql.ts';
import type { Projection } from '../../projections/engine/projection.ts';
import { rebuild } from '../../projections/engine/rebuild.ts';
import { type VerifyProgress, verify } from '../../projections/engine/verify.ts';
import { shareOf } from '../eventStore/share.ts';

const WORK: { readonly [W in VerifyProgress['work']]: (count: number) => string } = {
  replay: (count) => `${count} events replayed`,
  compare: (count) => `${count} rows compared`,
  fold: (count) => `${count} rows compared with their streams`,
};

export const readModelWork = (
  projections: readonly Projection[],
  log: EventLog,
  openSession: OpenLeaderSession,
): ReadModelWork => ({
  names: projections.map(({ name }) => name),
  rebuild: async (name, signal, onProgress) => {
    const head = await log.store.head();
    const onTaken = (position: Position, events: number) =>
      onProgress({ share: shareOf(position, head), what: `${name}: ${events} events` });
    const wanted = projections.filter((one) => name === 'all' || one.name === name);
    return rebuild(wanted, log, openSession, signal, onTaken);
  },
  verify: async (signal, onProgress) => {
    const head = await log.store.head();
    return verify(projections, log, openSession, signal, (at) => {
      const share = at.position === null ? 0 : shareOf(at.position, head);
      onProgress({ share: (at.step + share) / at.steps, what: `${at.projection}: ${WORK[at.work](at.count)}` });
    });
  },
});
