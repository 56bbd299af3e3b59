// Rebuilds read models, verifies them against the log, and builds them as they were, on behalf of operators.
import type { EventLog } from '../../application/ports/eventCodec.ts';
import type { EventStore, Position } from '../../application/ports/eventStore.ts';
import {
  AsOfRefused,
  type Moment,
  type ReadModelWork,
  type WorkProgress,
} from '../../application/ports/readModelWork.ts';
import type { OpenLeaderSession } from '../../application/ports/sql.ts';
import { buildAsOf, dropAsOf, lastRecordedBy } from '../../projections/engine/asOf.ts';
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
    return rebuild(wanted, log, openSession, { signal, onTaken });
  },
  verify: async (signal, onProgress) => {
    const head = await log.store.head();
    return verify(projections, log, openSession, signal, (at) => {
      const share = at.position === null ? 0 : shareOf(at.position, head);
      onProgress({ share: (at.step + share) / at.steps, what: `${at.projection}: ${WORK[at.work](at.count)}` });
    });
  },
  asOf: async ({ moment, schema, names }, signal, onProgress) => {
    const asOf = await positionOf(log.store, moment, signal, onProgress);
    const onTaken = (position: Position, events: number) =>
      onProgress({ share: shareOf(position, asOf), what: `${events} events` });
    const chosen = projections.filter(({ name }) => names.includes(name));
    const readModels = await buildAsOf(chosen, { ...log, openSession, schema, asOf, signal, onTaken });
    return { position: asOf, readModels };
  },
  dropAsOf: (schema) => dropAsOf(schema, openSession),
});

/** Returns the position of a moment. Throws AsOfRefused if the log has no such position. */
const positionOf = async (
  store: EventStore,
  moment: Moment,
  signal: AbortSignal,
  onProgress: (progress: WorkProgress) => void,
): Promise<Position> => {
  const head = await store.head();
  if ('time' in moment) {
    const onRead = (position: Position) =>
      onProgress({ share: shareOf(position, head), what: `looking for the last event at ${moment.time}` });
    const found = await lastRecordedBy(store, moment.time, signal, onRead);
    if (found === null) throw new AsOfRefused(`no event was recorded at or before ${moment.time}`);
    return found;
  }
  const position = moment.position as Position;
  const shapeOf = (text: string) => text.replaceAll(/\d/g, '0');
  if (head === null || shapeOf(position) !== shapeOf(head) || position > head)
    throw new AsOfRefused(`${position} is no position of this log, which ends at ${head ?? 'nothing'}`);
  return position;
};
