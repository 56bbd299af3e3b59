// The calls Delete (soft) and Tombstone (permanent).
import type { handleUnaryCall, ServerUnaryCall } from '@grpc/grpc-js';
import { CallError, streamDeleted, unknownError, wrongExpectedVersion } from './errors.ts';
import type { Verdict } from './log.ts';
import { type DeleteReq, type DeleteResp, streams, type TombstoneReq, type TombstoneResp } from './messages.ts';
import { type Node, requireLeader, requireReady } from './node.ts';
import { target } from './proposals.ts';
import type { Expected, Place } from './record.ts';
import { after } from './timers.ts';

export const softDelete =
  (node: Node): handleUnaryCall<DeleteReq, DeleteResp> =>
  (call, callback) => {
    const done = removed(node, call, (stream, expected) => node.log.delete(stream, expected));
    if (done instanceof CallError) return callback(done);
    const answer = new streams.DeleteResp();
    answer.setPosition(positioned(new streams.DeleteResp.Position(), done));
    after(node.faults.delayMs, () => callback(null, answer));
  };

export const tombstone =
  (node: Node): handleUnaryCall<TombstoneReq, TombstoneResp> =>
  (call, callback) => {
    const done = removed(node, call, (stream, expected) => node.log.tombstone(stream, expected));
    if (done instanceof CallError) return callback(done);
    const answer = new streams.TombstoneResp();
    answer.setPosition(positioned(new streams.TombstoneResp.Position(), done));
    after(node.faults.delayMs, () => callback(null, answer));
  };

type Removal = (stream: string, expected: Expected) => Verdict;

const removed = (
  node: Node,
  call: ServerUnaryCall<DeleteReq, DeleteResp> | ServerUnaryCall<TombstoneReq, TombstoneResp>,
  remove: Removal,
): Place | CallError => {
  try {
    const options = call.request.getOptions()!;
    const { stream, expected } = target(options, options.getRevision());
    requireLeader(node);
    requireReady(node);
    node.access.require(call.metadata, stream);
    const verdict = remove(stream, expected);
    if (verdict.kind === 'streamDeleted') return streamDeleted(stream);
    if (verdict.kind === 'wrongExpectedVersion') return wrongExpectedVersion(stream, expected, verdict.actual);
    if (verdict.kind === 'repeated') throw unknownError('a removal has an id of its own: it never repeats one');
    return verdict.place;
  } catch (error) {
    return error as CallError;
  }
};

const positioned = <P extends { setCommitPosition(value: string): P; setPreparePosition(value: string): P }>(
  position: P,
  { commit, prepare }: Place,
): P => position.setCommitPosition(String(commit)).setPreparePosition(String(prepare));
