// What the server says to one append of a batch stream.
import type { Position } from '../../../application/ports/eventStore.ts';
import { StoreFailure } from './failures.ts';
import { positionOf } from './position.ts';
import { type BatchResponse, MaximumAppendSizeExceeded, WrongExpectedVersion } from './protocol.ts';

export type AppendAnswer =
  | { readonly kind: 'written'; readonly revision: number; readonly position: Position | null }
  /** The stream's last revision, -1 when it is empty. */
  | { readonly kind: 'conflict'; readonly actual: number };

const PACKAGE = 'event_store.client.';
/** A deadline that fails so soon was not waited for: the server's clock is ahead of ours. */
const AT_ONCE_MS = 1_000;

type Status = NonNullable<ReturnType<BatchResponse['getError']>>;

const refusal = (status: Status, afterMs: number): AppendAnswer => {
  const details = status.getDetails();
  const name = details?.getTypeName() ?? '';
  const text = status.getMessage() === '' ? name : status.getMessage();
  switch (name) {
    case `${PACKAGE}WrongExpectedVersion`: {
      const conflict = details?.unpack(WrongExpectedVersion.deserializeBinary, name);
      return {
        kind: 'conflict',
        actual: conflict?.hasCurrentStreamRevision() ? Number(conflict.getCurrentStreamRevision()) : -1,
      };
    }
    case `${PACKAGE}StreamDeleted`:
      throw new StoreFailure('invalid', 'the stream was deleted from EventStoreDB: streams of facts must never be');
    case `${PACKAGE}MaximumAppendSizeExceeded`: {
      const most = details?.unpack(MaximumAppendSizeExceeded.deserializeBinary, name)?.getMaxappendsize();
      throw new StoreFailure('invalid', `the append is above ${most ?? '?'} bytes, the server's --max-append-size`);
    }
    case `${PACKAGE}MaximumAppendEventSizeExceeded`: // of servers from 24.10 on; the client package does not know it
      throw new StoreFailure('invalid', "an event of the append is above the server's --max-append-event-size");
    case `${PACKAGE}BadRequest`:
      throw new StoreFailure('invalid', `EventStoreDB refused the append: ${text}`);
    case `${PACKAGE}AccessDenied`:
      throw new StoreFailure(
        'refused',
        'EventStoreDB denied the append: user and password stand in the connection string',
      );
    case `${PACKAGE}Timeout`:
      throw new StoreFailure(
        'outcomeUnknown',
        afterMs < AT_ONCE_MS
          ? 'the server held the deadline to be over at once: its clock and ours differ by more than a minute'
          : 'the server did not finish the append in time',
      );
    default:
      throw new StoreFailure('outcomeUnknown', `EventStoreDB did not say what became of the append: ${text}`);
  }
};

/** Throws StoreFailure. `afterMs`: how long the answer took. */
export const answerOf = (response: BatchResponse, afterMs: number): AppendAnswer => {
  const error = response.getError();
  if (error !== undefined) return refusal(error, afterMs);
  const success = response.getSuccess();
  const position = success?.getPosition();
  return {
    kind: 'written',
    revision: Number(success?.getCurrentRevision()),
    position: position === undefined ? null : positionOf(position.getCommitPosition(), position.getPreparePosition()),
  };
};
