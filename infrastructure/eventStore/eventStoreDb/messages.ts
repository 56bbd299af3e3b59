// The protocol of EventStoreDB, as the client package generates it, and what is asked and answered in it, as values of the port:
// positions, requests, answers to appends, recorded events. Nothing else in this folder builds or reads a message.
//
// The package's own commands (appendToStream, readStream, subscribeToAll) are not used. Most defects listed in README.md sit in
// them and not in the protocol: one table of pending appends for the whole process, no deadline, rejections nobody can catch, JSON
// parsed and rendered again. The package gets no more releases, so none of them will be mended.
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import timestamps from 'google-protobuf/google/protobuf/timestamp_pb.js';
import type { NewEvent, Position, RecordedEvent } from '../../../application/ports/eventStore.ts';
import type { StreamName } from '../../../domain/kernel/event.ts';
import type { CheckedAppend } from '../checkAppend.ts';
import { withCausality, withoutCausality } from './causality.ts';
import { StoreFailure } from './failures.ts';
import { readOriginalTimestamp } from './originalTimestamp.ts';

export const {
  AccessDenied,
  Empty,
  MaximumAppendSizeExceeded,
  StreamDeleted,
  StreamIdentifier,
  UUID,
  WrongExpectedVersion,
} = shared;
export const { BatchAppendReq, BatchAppendResp, ReadReq, ReadResp, TombstoneReq } = streams;
export const { StreamsClient } = streamsService;

export type StreamsStub = InstanceType<typeof streamsService.StreamsClient>;
export type BatchRequest = InstanceType<typeof streams.BatchAppendReq>;
export type BatchResponse = InstanceType<typeof streams.BatchAppendResp>;
export type ReadRequest = InstanceType<typeof streams.ReadReq>;
export type ReadResponse = InstanceType<typeof streams.ReadResp>;
type Uuid = InstanceType<typeof shared.UUID>;

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

// Positions of the EventStoreDB log: commit and prepare position of a record, as text whose order is log order.

interface LogPosition {
  readonly commit: bigint;
  readonly prepare: bigint;
}

/** As many digits as the largest unsigned 64-bit number has. */
const DIGITS = 20;
const FORM = /^(\d{20})\/(\d{20})$/;
/** Bytes into the log are signed on the server; beyond this it means "none" (-1) or "the end". */
const LIMIT = 2n ** 63n;

/** `<commit>/<prepare>`, 20 decimal digits each. null when the server gave no position. */
export const positionOf = (commit: string, prepare: string): Position | null => {
  if (commit === '' || prepare === '' || BigInt(commit) >= LIMIT || BigInt(commit) < 0n) return null;
  return `${commit.padStart(DIGITS, '0')}/${prepare.padStart(DIGITS, '0')}` as Position;
};

/** Throws RangeError on a text that is no position of this adapter. */
export const logPositionOf = (position: Position): LogPosition => {
  const [, commit, prepare] = FORM.exec(position) ?? [];
  if (commit === undefined || prepare === undefined)
    throw new RangeError(`not a position of this event store: ${position}`);
  return { commit: BigInt(commit), prepare: BigInt(prepare) };
};

/** The later of the two; null stands before the first event. */
export const later = (a: Position | null, b: Position | null): Position | null =>
  a === null || (b !== null && b > a) ? b : a;

// What is asked of the server, as messages.

/**
 * An absolute time that the server compares with its own clock (it then waits for its own, shorter time-out). So far ahead that only
 * clocks that differ by more than this make every append fail.
 */
export const DEADLINE_MS = 60_000;

const {
  AllOptions,
  FilterOptions,
  Position: AllPosition,
  StreamOptions,
  SubscriptionOptions,
  UUIDOption,
} = ReadReq.Options;
const { Expression } = FilterOptions;
const [FORWARDS, BACKWARDS] = [0, 1] as const;
/** A checkpoint after so many times 32 events that the filter has looked at: 1,024. */
const CHECKPOINT_INTERVAL = 32;

// Fresh arrays, not views of a shared buffer: the message is rendered later.
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

/** `data` goes as it is, byte for byte, marked as JSON; the metadata gets the ids that the server's tools index. */
const proposed = (
  { id, type, data, metadata }: NewEvent,
  stream: string,
): InstanceType<typeof BatchAppendReq.ProposedMessage> => {
  const message = new BatchAppendReq.ProposedMessage();
  message.setId(uuidOf(id));
  message.getMetadataMap().set('type', type).set('content-type', 'application/json');
  message.setData(bytes(data));
  message.setCustomMetadata(bytes(withCausality(metadata, stream)));
  return message;
};

/** The expected revision is always exact: a repeat with the same ids can never write twice. */
export const appendRequest = ({ stream, expected, events }: CheckedAppend, correlationId: string): BatchRequest => {
  const options = new BatchAppendReq.Options();
  options.setStreamIdentifier(streamIdentifier(stream));
  if (expected === -1) options.setNoStream(new Empty());
  else options.setStreamPosition(String(expected));
  const deadline = new timestamps.Timestamp();
  deadline.fromDate(new Date(Date.now() + DEADLINE_MS));
  options.setDeadline(deadline);
  const request = new BatchAppendReq();
  request.setCorrelationId(uuidOf(correlationId));
  request.setOptions(options);
  request.setProposedMessagesList(events.map((event) => proposed(event, stream)));
  request.setIsFinal(true);
  return request;
};

/** Deletes the stream for good while its last event is the one of that revision. */
export const tombstoneRequest = (stream: string, revision: number): InstanceType<typeof TombstoneReq> => {
  const options = new TombstoneReq.Options();
  options.setStreamIdentifier(streamIdentifier(stream));
  options.setRevision(String(revision));
  const request = new TombstoneReq();
  request.setOptions(options);
  return request;
};

const readRequest = (fill: (options: InstanceType<typeof ReadReq.Options>) => void): ReadRequest => {
  const options = new ReadReq.Options();
  const uuids = new UUIDOption();
  uuids.setString(new Empty());
  options.setUuidOption(uuids);
  options.setResolveLinks(false);
  fill(options);
  const request = new ReadReq();
  request.setOptions(options);
  return request;
};

/** The events `from`, `from + 1`, … at most `count`. */
export const streamPageRequest = (stream: string, from: number, count: number): ReadRequest =>
  readRequest((options) => {
    const which = new StreamOptions();
    which.setStreamIdentifier(streamIdentifier(stream));
    which.setRevision(String(from));
    options.setStream(which);
    options.setReadDirection(FORWARDS);
    options.setCount(String(count));
    options.setNoFilter(new Empty());
  });

const byPrefix = (prefixes: readonly string[]): InstanceType<typeof FilterOptions> => {
  const expression = new Expression();
  expression.setPrefixList([...prefixes]);
  const filter = new FilterOptions();
  filter.setStreamIdentifier(expression);
  filter.setCount(new Empty());
  filter.setCheckpointintervalmultiplier(CHECKPOINT_INTERVAL);
  return filter;
};

/** The newest record, tombstones included, of the streams whose names begin so. */
export const newestRequest = (prefixes: readonly string[]): ReadRequest =>
  readRequest((options) => {
    const all = new AllOptions();
    all.setEnd(new Empty());
    options.setAll(all);
    options.setReadDirection(BACKWARDS);
    options.setCount('1');
    options.setFilter(byPrefix(prefixes));
  });

/** A position before the record at that one and behind all others: the server refuses positions that are no record, unless prepare is 0. */
const justBefore = (position: Position): InstanceType<typeof AllPosition> => {
  const place = new AllPosition();
  place.setCommitPosition(String(logPositionOf(position).commit));
  place.setPreparePosition('0');
  return place;
};

/** The record at that position, or the next one that can be read. */
export const recordRequest = (position: Position): ReadRequest =>
  readRequest((options) => {
    const all = new AllOptions();
    all.setPosition(justBefore(position));
    options.setAll(all);
    options.setReadDirection(FORWARDS);
    options.setCount('1');
    options.setNoFilter(new Empty());
  });

/** Everything behind `after` in the streams whose names begin so, then whatever comes. `after` itself may come again. */
export const subscriptionRequest = (after: Position | null, prefixes: readonly string[]): ReadRequest =>
  readRequest((options) => {
    const all = new AllOptions();
    if (after === null) all.setStart(new Empty());
    else all.setPosition(justBefore(after));
    options.setAll(all);
    options.setSubscription(new SubscriptionOptions());
    options.setFilter(byPrefix(prefixes));
  });

// What the server says to one append of a batch stream.

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
      throw new StoreFailure(
        'streamDeleted',
        'the stream was deleted from EventStoreDB; event streams must never be deleted',
      );
    case `${PACKAGE}MaximumAppendSizeExceeded`: {
      const most = details?.unpack(MaximumAppendSizeExceeded.deserializeBinary, name)?.getMaxappendsize();
      throw new StoreFailure('invalid', `the append exceeds ${most ?? '?'} bytes, the server's --max-append-size`);
    }
    case `${PACKAGE}MaximumAppendEventSizeExceeded`: // of servers from 24.10 on; the client package does not know it
      throw new StoreFailure('invalid', "an event of the append exceeds the server's --max-append-event-size");
    case `${PACKAGE}BadRequest`:
      throw new StoreFailure('invalid', `EventStoreDB refused the append: ${text}`);
    case `${PACKAGE}AccessDenied`:
      throw new StoreFailure(
        'refused',
        'EventStoreDB denied the append: check the user and password in the connection string',
      );
    case `${PACKAGE}Timeout`:
      throw new StoreFailure(
        'outcomeUnknown',
        afterMs < AT_ONCE_MS
          ? "the server rejected the deadline as already over: its clock and this machine's differ by more than a minute"
          : 'the server did not finish the append in time',
      );
    default:
      throw new StoreFailure('outcomeUnknown', `EventStoreDB did not report the outcome of the append: ${text}`);
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

// What the server answers, as events of the port.

const TICKS_PER_MS = 10_000n;

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

/** `created` counts 100 ns since 1970. */
const timeOf = (ticks: string | undefined): string =>
  new Date(Number(BigInt(ticks ?? '0') / TICKS_PER_MS)).toISOString();

const TOMBSTONE = '$streamDeleted';

/** Where the record stands that says that its stream was deleted; null: the answer is something else. */
export const tombstoneOf = (response: ReadResponse): Position | null => {
  const record = response.getEvent()?.getEvent();
  if (record?.getMetadataMap().get('type') !== TOMBSTONE) return null;
  return positionOf(record.getCommitPosition(), record.getPreparePosition());
};

/** Where a record of any kind stands, and its id; null: the answer is something else. */
export const recordOf = (
  response: ReadResponse,
): { readonly position: Position | null; readonly id: string } | null => {
  const record = response.getEvent()?.getEvent();
  if (record === undefined) return null;
  return {
    position: positionOf(record.getCommitPosition(), record.getPreparePosition()),
    id: uuidText(record.getId()),
  };
};

/** null: no event in it, or one that the server wrote by itself (a tombstone). */
export const eventOf = (response: ReadResponse): RecordedEvent | null => {
  const record = response.getEvent()?.getEvent();
  if (record === undefined) return null;
  const properties = record.getMetadataMap();
  const type = properties.get('type') ?? '';
  if (type.startsWith('$')) return null;
  const position = positionOf(record.getCommitPosition(), record.getPreparePosition());
  if (position === null) {
    throw new StoreFailure(
      'refused',
      'this server returns no positions in stream reads: EventStoreDB 22.10 or newer is required',
    );
  }
  const { metadata, recordedAt } = readOriginalTimestamp(withoutCausality(textOf(record.getCustomMetadata_asU8())));
  return {
    id: uuidText(record.getId()),
    type,
    data: textOf(record.getData_asU8()),
    metadata,
    stream: textOf(record.getStreamIdentifier()?.getStreamName_asU8() ?? new Uint8Array()) as StreamName,
    revision: Number(record.getStreamRevision()),
    position,
    recordedAt: recordedAt ?? timeOf(properties.get('created')),
  };
};

export const checkpointOf = (response: ReadResponse): Position | null => {
  const checkpoint = response.getCheckpoint();
  return checkpoint === undefined ? null : positionOf(checkpoint.getCommitPosition(), checkpoint.getPreparePosition());
};
