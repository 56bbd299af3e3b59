// The responses of Read, for reads and subscriptions.
import type { ServerWritableStream } from '@grpc/grpc-js';
import { type ReadReq, type ReadResp, streamIdentifier, streams, uuid } from './messages.ts';
import type { LogRecord, Place } from './record.ts';

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>;

/** A .NET tick is 100 ns. */
const TICKS_PER_MS = 10_000n;

export const eventResponse = (record: LogRecord): ReadResp => {
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent();
  recorded.setId(uuid(record.id));
  recorded.setStreamIdentifier(streamIdentifier(record.stream));
  recorded.setStreamRevision(String(record.revision));
  recorded.setCommitPosition(String(record.commit));
  recorded.setPreparePosition(String(record.prepare));
  recorded.setData(record.data);
  recorded.setCustomMetadata(record.metadata);
  recorded
    .getMetadataMap()
    .set('type', record.type)
    .set('content-type', record.contentType)
    .set('created', String(BigInt(record.createdMs) * TICKS_PER_MS));
  const event = new streams.ReadResp.ReadEvent();
  event.setEvent(recorded);
  event.setCommitPosition(String(record.commit));
  const response = new streams.ReadResp();
  response.setEvent(event);
  return response;
};

export const streamNotFoundResponse = (stream: string): ReadResp => {
  const notFound = new streams.ReadResp.StreamNotFound();
  notFound.setStreamIdentifier(streamIdentifier(stream));
  const response = new streams.ReadResp();
  response.setStreamNotFound(notFound);
  return response;
};

export const confirmationResponse = (subscriptionId: string): ReadResp => {
  const confirmation = new streams.ReadResp.SubscriptionConfirmation();
  confirmation.setSubscriptionId(subscriptionId);
  const response = new streams.ReadResp();
  response.setConfirmation(confirmation);
  return response;
};

export const checkpointResponse = ({ commit, prepare }: Place): ReadResp => {
  const checkpoint = new streams.ReadResp.Checkpoint();
  checkpoint.setCommitPosition(String(commit));
  checkpoint.setPreparePosition(String(prepare));
  const response = new streams.ReadResp();
  response.setCheckpoint(checkpoint);
  return response;
};

export const caughtUpResponse = (): ReadResp => {
  const response = new streams.ReadResp();
  response.setCaughtUp(new streams.ReadResp.CaughtUp());
  return response;
};
