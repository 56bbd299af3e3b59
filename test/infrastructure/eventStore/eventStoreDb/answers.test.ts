// Translation of the server's answers to appends. Details that no test server produces are built manually.

import shared from '@eventstore/db-client/generated/shared_pb.js';
import status from '@eventstore/db-client/generated/status_pb.js';
import { expect } from 'chai';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import type { StoreFailure } from '../../../../infrastructure/eventStore/eventStoreDb/failures.ts';
import {
  answerOf,
  BatchAppendResp,
  type BatchResponse,
} from '../../../../infrastructure/eventStore/eventStoreDb/messages.ts';

const refused = (name: string, details: Uint8Array = new Uint8Array(), message = ''): BatchResponse => {
  const packed = new any.Any();
  packed.pack(details, `event_store.client.${name}`);
  const error = new status.Status();
  error.setDetails(packed);
  error.setMessage(message);
  const response = new BatchAppendResp();
  response.setError(error);
  return response;
};

const failure = (response: BatchResponse, afterMs = 2_500): { kind: string; message: string } => {
  try {
    return { kind: JSON.stringify(answerOf(response, afterMs)), message: '' };
  } catch (error) {
    const { kind, message } = error as StoreFailure;
    return { kind, message };
  }
};

describe('answers of EventStoreDB to an append', () => {
  it('a conflict reports the revision of the stream', () => {
    const at = new shared.WrongExpectedVersion();
    at.setCurrentStreamRevision('7');
    const empty = new shared.WrongExpectedVersion();
    const answers = [at, empty].map((each) => answerOf(refused('WrongExpectedVersion', each.serializeBinary()), 1));
    expect(answers).to.deep.equal([
      { kind: 'conflict', actual: 7 },
      { kind: 'conflict', actual: -1 },
    ]);
  });

  it('permanent failures are distinguished from unknown outcomes', () => {
    const kinds = [
      'StreamDeleted',
      'MaximumAppendSizeExceeded',
      'MaximumAppendEventSizeExceeded',
      'BadRequest',
      'AccessDenied',
      'Timeout',
      'Unknown',
      'Unheard',
    ];
    expect(kinds.map((name) => failure(refused(name)).kind)).to.deep.equal([
      'streamDeleted',
      'invalid',
      'invalid',
      'invalid',
      'refused',
      'outcomeUnknown',
      'outcomeUnknown',
      'outcomeUnknown',
    ]);
  });

  it('B10: a deadline that ends at once is reported as a clock difference', () => {
    expect(failure(refused('Timeout'), 3).message).to.include("its clock and this machine's differ");
    expect(failure(refused('Timeout'), 2_500).message).to.equal('the server did not finish the append in time');
  });

  it('an invalid position is omitted', () => {
    const success = new BatchAppendResp.Success();
    success.setCurrentRevision('4');
    const position = new shared.AllStreamPosition();
    position.setCommitPosition('18446744073709551615');
    position.setPreparePosition('18446744073709551615');
    success.setPosition(position);
    const response = new BatchAppendResp();
    response.setSuccess(success);
    expect(answerOf(response, 1)).to.deep.equal({ kind: 'written', revision: 4, position: null });
  });
});
