// The classic Append, one append per call. The client uses it when credentials are given per call.
import type { ServerReadableStream, sendUnaryData } from '@grpc/grpc-js';
import type { Outcome } from './appendDesk.ts';
import {
  CallError,
  invalidArgument,
  maximumAppendSizeExceeded,
  streamDeleted,
  timedOut,
  unknownError,
} from './errors.ts';
import { type AppendReq, type AppendResp, shared, streams } from './messages.ts';
import { type Node, requireLeader, requireReady } from './node.ts';
import { bytesOf, proposedEvent, target } from './proposals.ts';
import type { Expected, ProposedEvent } from './record.ts';
import { after } from './timers.ts';

type Call = ServerReadableStream<AppendReq, AppendResp>;

export const append = (node: Node) => (call: Call, callback: sendUnaryData<AppendResp>) => {
  let begun: { readonly stream: string; readonly expected: Expected } | undefined;
  const events: ProposedEvent[] = [];
  let failed = false;
  const attempt = (work: () => void): void => {
    if (failed) return;
    try {
      work();
    } catch (error) {
      failed = true;
      callback(error instanceof CallError ? error : invalidArgument((error as Error).message));
    }
  };
  call.on('data', (request: AppendReq) =>
    attempt(() => {
      const options = request.getOptions();
      const message = request.getProposedMessage();
      if (options !== undefined) begun = admitted(node, call, target(options, options.getRevision()));
      if (message !== undefined) events.push(proposedEvent(message));
      if (bytesOf(events) > node.faults.appendBytesMax) throw maximumAppendSizeExceeded(node.faults.appendBytesMax);
    }),
  );
  call.on('end', () =>
    attempt(() => {
      if (begun === undefined) throw invalidArgument('no options');
      const { stream } = begun;
      node.desk.take({ ...begun, events }, (outcome) => {
        const answer = response(stream, outcome);
        after(node.faults.delayMs, () => (answer instanceof CallError ? callback(answer) : callback(null, answer)));
      });
    }),
  );
};

const admitted = <T extends { readonly stream: string }>(node: Node, call: Call, begun: T): T => {
  requireLeader(node);
  requireReady(node);
  node.access.require(call.metadata, begun.stream);
  return begun;
};

const response = (stream: string, outcome: Outcome): AppendResp | CallError => {
  const answer = new streams.AppendResp();
  switch (outcome.kind) {
    case 'timedOut':
      return timedOut();
    case 'failed':
      return unknownError('Unknown');
    case 'streamDeleted':
      return streamDeleted(stream);
    case 'wrongExpectedVersion':
      answer.setWrongExpectedVersion(wrongVersion(outcome.expected, outcome.actual));
      return answer;
    case 'written':
    case 'repeated': {
      const success = new streams.AppendResp.Success();
      if (outcome.revision < 0n) success.setNoStream(new shared.Empty());
      else success.setCurrentRevision(String(outcome.revision));
      if (outcome.place === null) success.setNoPosition(new shared.Empty());
      else {
        const position = new streams.AppendResp.Position();
        position.setCommitPosition(String(outcome.place.commit));
        position.setPreparePosition(String(outcome.place.prepare));
        success.setPosition(position);
      }
      answer.setSuccess(success);
      return answer;
    }
  }
};

const wrongVersion = (expected: Expected, actual: bigint | null) => {
  const wrong = new streams.AppendResp.WrongExpectedVersion();
  if (actual === null) wrong.setCurrentNoStream(new shared.Empty());
  else wrong.setCurrentRevision(String(actual));
  if (expected === 'any') wrong.setExpectedAny(new shared.Empty());
  else if (expected === 'noStream') wrong.setExpectedNoStream(new shared.Empty());
  else if (expected === 'streamExists') wrong.setExpectedStreamExists(new shared.Empty());
  else wrong.setExpectedRevision(String(expected));
  return wrong;
};
