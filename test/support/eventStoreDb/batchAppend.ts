// BatchAppend: many appends on one message stream, each answered by its correlation id.
import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { AppendRequest, Outcome } from './appendDesk.ts';
import {
  type CallError,
  type PackedStatus,
  packedAccessDenied,
  packedBadRequest,
  packedMaximumAppendEventSizeExceeded,
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

/** Several messages can form one append: the first has the options, and the last is final. After a rejection, the rest is ignored. */
const take = (node: Node, call: Call, pending: Map<string, Pending>, request: BatchAppendReq): void => {
  const correlation = uuidText(request.getCorrelationId());
  const begun = request.getOptions();
  if (begun !== undefined) pending.set(correlation, { ...target(begun, begun.getStreamPosition()), events: [] });
  const append = pending.get(correlation);
  if (append === undefined) return;
  const { stream } = append;
  const refusals = refusalsOf(node, call, append, request);
  if (refusals.length > 0 || request.getIsFinal()) pending.delete(correlation);
  if (refusals.length > 0) node.desk.received += 1;
  for (const error of refusals) reply(node, call, correlation, stream, { error });
  if (refusals.length > 0 || !request.getIsFinal()) return;
  node.desk.take(append, (outcome) => {
    if (!node.faults.take('streamsToEnd')) reply(node, call, correlation, stream, result(stream, outcome));
    else if (node.faults.streamEnd === null) call.end();
    else call.emit('error', node.faults.streamEnd);
  });
};

/** Adds the message's events to the append. Returns the errors that reject it, or an empty list. */
const refusalsOf = (node: Node, call: Call, append: Pending, request: BatchAppendReq): readonly PackedStatus[] => {
  const { stream, events } = append;
  if (!node.access.allows(call.metadata, stream)) return [packedAccessDenied()];
  const deadlineMs = request.getOptions()?.getDeadline()?.toDate().getTime() ?? Number.POSITIVE_INFINITY;
  if (deadlineMs <= node.faults.now()) return [packedTimeout()];
  try {
    for (const message of request.getProposedMessagesList()) events.push(proposedEvent(message));
  } catch (error) {
    // The real server sends it twice (eventStoreDb/README.md, seen 4).
    const { message } = error as Error;
    return [packedBadRequest(message), packedBadRequest(message)];
  }
  if (bytesOf(events) > node.faults.appendBytesMax)
    return [packedMaximumAppendSizeExceeded(node.faults.appendBytesMax)];
  const largest = events.toSorted((a, b) => bytesOf([b]) - bytesOf([a]))[0];
  if (largest !== undefined && node.faults.eventBytesMax !== null && bytesOf([largest]) > node.faults.eventBytesMax)
    return [packedMaximumAppendEventSizeExceeded(largest.id, bytesOf([largest]), node.faults.eventBytesMax)];
  return node.faults.busy === null ? [] : [packedUnavailable(node.faults.busy)];
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
