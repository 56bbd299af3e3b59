// The server's errors: gRPC statuses with the trailers that the client parses, and the packed errors of batch append.
import { Metadata, type StatusObject, status } from '@grpc/grpc-js';
import { BinaryWriter } from 'google-protobuf';
import type { Verdict } from './log.ts';
import { Any, Empty, Status, shared, streamIdentifier } from './messages.ts';
import { type Expected, expectedNumber } from './record.ts';

/** Maximum size of data and metadata of one append in bytes, inclusive. */
export const APPEND_BYTES_MAX = 1_048_576;

export type Refusal = Extract<Verdict, { kind: 'wrongExpectedVersion' | 'streamDeleted' }>;

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Ends a call when it is thrown or emitted in it. */
export class CallError extends Error implements StatusObject {
  override name = 'CallError';
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;

  constructor(code: status, details: string, trailers: Readonly<Record<string, string>> = {}) {
    super(details);
    this.code = code;
    this.details = details;
    this.metadata = Metadata.fromHttp2Headers(trailers);
  }
}

export const accessDenied = () =>
  new CallError(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });
export const badCredentials = () => new CallError(status.UNAUTHENTICATED, 'Bad credentials.');
export const notLeader = ({ host, port }: Endpoint) =>
  new CallError(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': host,
    'leader-endpoint-port': String(port),
  });
export const unavailable = (reason: string) => new CallError(status.UNAVAILABLE, reason);
export const timedOut = () => new CallError(status.ABORTED, 'Operation timed out');
export const consumerTooSlow = () => new CallError(status.ABORTED, 'Operation timed out: Consumer too slow');
export const unknownError = (details: string) => new CallError(status.UNKNOWN, details);
export const invalidArgument = (details: string) => new CallError(status.INVALID_ARGUMENT, details);
export const streamDeleted = (stream: string) =>
  new CallError(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  });
export const maximumAppendSizeExceeded = (bytesMax: number) =>
  new CallError(status.INVALID_ARGUMENT, `Maximum Append Size of ${bytesMax} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(bytesMax),
  });
/** The error for a read from an invalid position, as in servers from 24.10 on. */
export const invalidPosition = () => invalidArgument('Trying to read from an invalid position.');
/** A wrong expected version as reported by delete and tombstone. Append and batch append use a message instead. */
export const wrongExpectedVersion = (stream: string, expected: Expected, actual: bigint | null) =>
  new CallError(status.FAILED_PRECONDITION, `Append failed due to WrongExpectedVersion. Stream: ${stream}`, {
    exception: 'wrong-expected-version',
    'stream-name': stream,
    'expected-version': String(expectedNumber(expected)),
    ...(actual === null ? {} : { 'actual-version': String(actual) }),
  });

export type PackedStatus = InstanceType<typeof Status>;
type Packable = { serializeBinary(): Uint8Array };

const packed = (code: status, message: string, details: Packable, type: string): PackedStatus => {
  const any = new Any();
  any.pack(details.serializeBinary(), type);
  const error = new Status();
  // Both enums have gRPC's numbers.
  error.setCode(code as number as Parameters<typeof error.setCode>[0]);
  error.setMessage(message);
  error.setDetails(any);
  return error;
};

const ours = (name: string): string => `event_store.client.${name}`;

export const packedAccessDenied = () =>
  packed(status.PERMISSION_DENIED, 'Access Denied', new shared.AccessDenied(), ours('AccessDenied'));
export const packedTimeout = () =>
  packed(status.DEADLINE_EXCEEDED, 'Operation timed out', new shared.Timeout(), ours('Timeout'));
export const packedUnknown = () => packed(status.UNKNOWN, 'Unknown', new shared.Unknown(), ours('Unknown'));
/** An error that the client doesn’t know. It reports "Could not recognize <message>". */
export const packedUnavailable = (reason: string) =>
  packed(status.UNAVAILABLE, reason, new Empty(), 'google.protobuf.Empty');
export const packedBadRequest = (message: string) => {
  const details = new shared.BadRequest();
  details.setMessage(message);
  return packed(status.INVALID_ARGUMENT, message, details, ours('BadRequest'));
};
export const packedMaximumAppendSizeExceeded = (bytesMax: number) => {
  const details = new shared.MaximumAppendSizeExceeded();
  details.setMaxappendsize(bytesMax);
  return packed(status.INVALID_ARGUMENT, 'Maximum Append Size Exceeded', details, ours('MaximumAppendSizeExceeded'));
};

/** A message that the client package lacks, encoded here: id of the event (1), its size (2), the maximum (3). */
export const packedMaximumAppendEventSizeExceeded = (eventId: string, bytes: number, bytesMax: number) => {
  const writer = new BinaryWriter();
  writer.writeString(1, eventId);
  writer.writeUint32(2, bytes);
  writer.writeUint32(3, bytesMax);
  const details = { serializeBinary: () => writer.getResultBuffer() };
  const name = 'MaximumAppendEventSizeExceeded';
  return packed(status.INVALID_ARGUMENT, name, details, ours(name));
};

export const packedRefusal = (stream: string, refusal: Refusal): PackedStatus => {
  if (refusal.kind === 'streamDeleted') {
    const details = new shared.StreamDeleted();
    details.setStreamIdentifier(streamIdentifier(stream));
    return packed(status.FAILED_PRECONDITION, 'Stream is deleted', details, ours('StreamDeleted'));
  }
  const { expected, actual } = refusal;
  const details = new shared.WrongExpectedVersion();
  if (actual === null) details.setCurrentNoStream(new Empty());
  else details.setCurrentStreamRevision(String(actual));
  if (expected === 'any') details.setExpectedAny(new Empty());
  else if (expected === 'noStream') details.setExpectedNoStream(new Empty());
  else if (expected === 'streamExists') details.setExpectedStreamExists(new Empty());
  else details.setExpectedStreamPosition(String(expected));
  return packed(status.FAILED_PRECONDITION, 'Wrong expected version', details, ours('WrongExpectedVersion'));
};
