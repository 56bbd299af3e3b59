// The protocol of EventStoreDB, as the client package generates it: messages and the stub of the Streams service.
//
// The package's own commands (appendToStream, readStream, subscribeToAll) are not used. Most defects listed in README.md sit in
// them and not in the protocol: one table of pending appends for the whole process, no deadline, rejections nobody can catch, JSON
// parsed and rendered again. The package gets no more releases, so none of them will be mended.
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';

export const {
  AccessDenied,
  Empty,
  MaximumAppendSizeExceeded,
  StreamDeleted,
  StreamIdentifier,
  UUID,
  WrongExpectedVersion,
} = shared;
export const { BatchAppendReq, BatchAppendResp, ReadReq, ReadResp } = streams;
export const { StreamsClient } = streamsService;

export type StreamsStub = InstanceType<typeof streamsService.StreamsClient>;
export type BatchRequest = InstanceType<typeof streams.BatchAppendReq>;
export type BatchResponse = InstanceType<typeof streams.BatchAppendResp>;
export type ReadRequest = InstanceType<typeof streams.ReadReq>;
export type ReadResponse = InstanceType<typeof streams.ReadResp>;
export type Uuid = InstanceType<typeof shared.UUID>;

/** Calls that only the leader may answer: what it says is the newest there is. */
export const REQUIRES_LEADER = 'requires-leader';

export const streamIdentifier = (stream: string): InstanceType<typeof shared.StreamIdentifier> => {
  const identifier = new StreamIdentifier();
  identifier.setStreamName(new Uint8Array(Buffer.from(stream)));
  return identifier;
};

/** The server answers with text or with two signed 64-bit halves, as it likes. */
export const uuidText = (uuid: Uuid | undefined): string => {
  const structured = uuid?.getStructured();
  if (structured === undefined) return uuid?.getString().toLowerCase() ?? '';
  const half = (bits: string): string => BigInt.asUintN(64, BigInt(bits)).toString(16).padStart(16, '0');
  const hex = half(structured.getMostSignificantBits()) + half(structured.getLeastSignificantBits());
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
};

export const uuidOf = (text: string): Uuid => {
  const uuid = new UUID();
  uuid.setString(text);
  return uuid;
};
