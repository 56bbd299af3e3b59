// The one call that writes: a flush as nine binary arrays, and its answer, one row a member.
import type pg from 'pg';
import type { CheckedAppend } from '../checkAppend.ts';
import { int8Array, textArray, uuidArray } from './binaryArrays.ts';
import { withQueryTimeout } from './session.ts';

/** What became of one append. `place` and `revision` are those of its last event; of a conflict, `revision` is the stream's head. */
export interface MemberOutcome {
  readonly outcome: 'written' | 'repeated' | 'conflict';
  readonly revision: number;
  readonly place: number;
  readonly recordedAtMs: number;
}

/** Above the session's statement_timeout, so that a living server answers first and its answer says that nothing was written. */
const ANSWER_MS_MAX = 5_500;

const CALL = {
  name: 'append',
  text: 'SELECT * FROM event_store.append($1, $2, $3, $4, $5, $6, $7, $8, $9)',
  rowMode: 'array',
} as const;

/** Writer's settings: what a flush may hold up, and for how long. A stronger synchronous_commit than `on` is left as it is. */
export const WRITER_SETTINGS = [
  `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') <> 'remote_apply'`,
  `SET default_transaction_isolation = 'read committed'`,
  `SET lock_timeout = '2s'`,
  `SET statement_timeout = '5s'`,
  `SET idle_session_timeout = 0`,
].join('; ');

const parameters = (members: readonly CheckedAppend[]): Buffer[] => {
  const owners: number[] = [];
  const offsets: number[] = [];
  const ids: string[] = [];
  const types: string[] = [];
  const datas: string[] = [];
  const metadatas: string[] = [];
  let dataBytes = 0;
  let metadataBytes = 0;
  members.forEach((member, index) => {
    dataBytes += member.dataBytes;
    metadataBytes += member.metadataBytes;
    member.events.forEach((event, offset) => {
      owners.push(index + 1);
      offsets.push(offset);
      ids.push(event.id);
      types.push(event.type);
      datas.push(event.data);
      metadatas.push(event.metadata);
    });
  });
  return [
    textArray(members.map((member) => member.stream)),
    int8Array(members.map((member) => member.expected)),
    int8Array(members.map((member) => member.events.length)),
    int8Array(owners),
    int8Array(offsets),
    uuidArray(ids),
    textArray(types),
    textArray(datas, dataBytes),
    textArray(metadatas, metadataBytes),
  ];
};

type Row = [outcome: MemberOutcome['outcome'], revision: string, place: string | null, recordedAtMs: string];

/** One round trip, one transaction. One outcome a member, in order. Rejects with pg's error, or after 5.5 s of silence. */
export const callAppend = async (client: pg.Client, members: readonly CheckedAppend[]): Promise<MemberOutcome[]> => {
  const values = parameters(members);
  const { rows } = await withQueryTimeout(client, client.query<Row>({ ...CALL, values }), ANSWER_MS_MAX);
  if (rows.length !== members.length) throw new Error(`${rows.length} answers to ${members.length} appends`);
  return rows.map(([outcome, revision, place, recordedAtMs]) => ({
    outcome,
    revision: Number(revision),
    place: Number(place),
    recordedAtMs: Number(recordedAtMs),
  }));
};
