// One call of event_store.append: a whole flush to the database, and its answer.
import type pg from 'pg';
import type { RecordedEvent } from '../../../application/ports/eventStore.ts';
import type { StreamName } from '../../../domain/kernel/event.ts';
import { int8Array, textArray, uuidArray } from '../../postgres/binaryArrays.ts';
import type { CheckedAppend } from '../checkAppend.ts';
import { positionOf } from './position.ts';
import { withQueryTimeout } from './session.ts';

/** Above the session's statement_timeout, so that a living server answers first and its answer says that nothing was written. */
const ANSWER_MS_MAX = 5_500;

const CALL = {
  name: 'append',
  text: 'SELECT * FROM event_store.append($1, $2, $3, $4, $5, $6, $7, $8, $9)',
  rowMode: 'array',
} as const;

/** What became of one append. `place` and `revision` are those of its last event; of a conflict, `revision` is the stream's head. */
export interface Outcome {
  readonly kind: 'written' | 'repeated' | 'conflict';
  readonly revision: number;
  readonly place: number;
  readonly recordedAtMs: number;
}
type Row = [kind: Outcome['kind'], revision: string, place: string | null, recordedAtMs: string];

/** One round trip, one transaction, one outcome a member, in order. Rejects with pg's error, or after 5.5 s of silence. */
export const callAppend = async (client: pg.Client, members: readonly CheckedAppend[]): Promise<Outcome[]> => {
  const values = parameters(members);
  const { rows } = await withQueryTimeout(client, client.query<Row>({ ...CALL, values }), ANSWER_MS_MAX);
  if (rows.length !== members.length) throw new Error(`${rows.length} answers to ${members.length} appends`);
  return rows.map(([kind, revision, place, recordedAtMs]) => ({
    kind,
    revision: Number(revision),
    place: Number(place),
    recordedAtMs: Number(recordedAtMs),
  }));
};

/** The parameters of event_store.append: of each member its stream, expected revision and size; of each event its member and offset. */
const parameters = (members: readonly CheckedAppend[]): Buffer[] => {
  const events = members.flatMap((member) => member.events);
  const sum = (bytesOf: (member: CheckedAppend) => number) => members.reduce((bytes, one) => bytes + bytesOf(one), 0);
  return [
    textArray(members.map((member) => member.stream)),
    int8Array(members.map((member) => member.expected)),
    int8Array(members.map((member) => member.events.length)),
    int8Array(members.flatMap((member, index) => member.events.map(() => index + 1))),
    int8Array(members.flatMap((member) => member.events.map((_, offset) => offset))),
    uuidArray(events.map((event) => event.id)),
    textArray(events.map((event) => event.type)),
    textArray(
      events.map((event) => event.data),
      sum((member) => member.dataBytes),
    ),
    textArray(
      events.map((event) => event.metadata),
      sum((member) => member.metadataBytes),
    ),
  ];
};

export const recordedEvents = (append: CheckedAppend, { revision, place, recordedAtMs }: Outcome): RecordedEvent[] => {
  const recordedAt = new Date(recordedAtMs).toISOString();
  const before = append.events.length - 1;
  return append.events.map((event, index) => ({
    ...event,
    stream: append.stream as StreamName,
    revision: revision - before + index,
    position: positionOf(place - before + index),
    recordedAt,
  }));
};
