// BatchAppend: many appends on one stream of messages, each answered under its correlation id.
import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { AppendRequest, Outcome } from './appendDesk.ts';
import {
  APPEND_BYTES_MAX,
  type CallError,
  type PackedStatus,
  packedAccessDenied,
  packedBadRequest,
  packedMaximumAppendSizeExceeded,
  packedRefusal,
  packedTimeout,
  packedUnavailable,
  packedUnknown,
} from './errors.ts';
import {
  type BatchAppendReq,
  type BatchAppendResp,
  Empty,
  shared,
  streamIdentifier,
  streams,
  uuid,
  uuidText,
} from './messages.ts';
import { type Node, requireLeader } from './node.ts';
import { bytesOf, proposedEvent, target } from './proposals.ts';
import type { ProposedEvent } from './record.ts';
import { after } from './timers.ts';

type Call = ServerDuplexStream<BatchAppendReq, BatchAppendResp>;
type Result =
  | { readonly error: PackedStatus }
  | { readonly success: InstanceType<typeof streams.BatchAppendResp.Success> };
type Pending = Omit<AppendRequest, 'events'> & { readonly events: ProposedEvent[] };

export const batchAppend = (node: Node) => (call: Call) => {
  const pending = new Map<string, Pending>();
  call.on('data', (request: BatchAppendReq) => {
    try {
      requireLeader(node);
      take(node, call, pending, request);
    } catch (error) {
      call.emit('error', error as CallError);
    }
  });
  call.on('end', () => call.end());
};

const take = (node: Node, call: Call, pending: Map<string, Pending>, request: BatchAppendReq): void => {
  const correlation = uuidText(request.getCorrelationId());
  const refuse = (stream: string, error: PackedStatus): void => {
    pending.delete(correlation);
    reply(node, call, correlation, stream, { error });
  };
  const options = request.getOptions();
  if (options !== undefined) {
    const begun = { ...target(options, options.getStreamPosition()), events: [] };
    const deadline = options.getDeadline()?.toDate().getTime() ?? Number.POSITIVE_INFINITY;
    if (!node.access.allows(call.metadata, begun.stream)) return refuse(begun.stream, packedAccessDenied());
    if (deadline <= Date.now()) return refuse(begun.stream, packedTimeout());
    pending.set(correlation, begun);
  }
  const append = pending.get(correlation);
  if (append === undefined) return;
  const { stream, events } = append;
  try {
    for (const message of request.getProposedMessagesList()) events.push(proposedEvent(message));
  } catch (error) {
    // The real server does say it twice (eventstore.md, seen 4).
    refuse(stream, packedBadRequest((error as Error).message));
    return refuse(stream, packedBadRequest((error as Error).message));
  }
  if (bytesOf(events) > APPEND_BYTES_MAX) return refuse(stream, packedMaximumAppendSizeExceeded());
  if (!request.getIsFinal()) return;
  pending.delete(correlation);
  if (node.faults.busy !== null) return refuse(stream, packedUnavailable(node.faults.busy));
  node.desk.take(append, (outcome) => reply(node, call, correlation, stream, result(stream, outcome)));
};

const reply = ({ faults }: Node, call: Call, correlation: string, stream: string, result: Result): void => {
  const answer = new streams.BatchAppendResp();
  answer.setCorrelationId(uuid(correlation));
  answer.setStreamIdentifier(streamIdentifier(stream));
  if ('error' in result) answer.setError(result.error);
  else answer.setSuccess(result.success);
  const times = faults.take('answersToDouble') ? 2 : 1;
  after(faults.delayMs, () => {
    for (let n = 0; n < times; n++) call.write(answer);
  });
};

const result = (stream: string, outcome: Outcome): Result => {
  switch (outcome.kind) {
    case 'timedOut':
      return { error: packedTimeout() };
    case 'failed':
      return { error: packedUnknown() };
    case 'wrongExpectedVersion':
    case 'streamDeleted':
      return { error: packedRefusal(stream, outcome) };
    case 'written':
    case 'repeated': {
      const success = new streams.BatchAppendResp.Success();
      if (outcome.revision < 0n) success.setNoStream(new Empty());
      else success.setCurrentRevision(String(outcome.revision));
      if (outcome.place === null) success.setNoPosition(new Empty());
      else {
        const position = new shared.AllStreamPosition();
        position.setCommitPosition(String(outcome.place.commit));
        position.setPreparePosition(String(outcome.place.prepare));
        success.setPosition(position);
      }
      return { success };
    }
  }
};
