// What is asked of the server, as messages.
import timestamps from 'google-protobuf/google/protobuf/timestamp_pb.js';
import type { NewEvent, Position } from '../../../application/ports/eventStore.ts';
import type { CheckedAppend } from '../checkAppend.ts';
import { logPositionOf } from './position.ts';
import {
  BatchAppendReq,
  type BatchRequest,
  Empty,
  ReadReq,
  type ReadRequest,
  streamIdentifier,
  uuidOf,
} from './protocol.ts';

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

/** The texts go as they are, byte for byte, marked as JSON. */
const proposed = ({ id, type, data, metadata }: NewEvent): InstanceType<typeof BatchAppendReq.ProposedMessage> => {
  const message = new BatchAppendReq.ProposedMessage();
  message.setId(uuidOf(id));
  message.getMetadataMap().set('type', type).set('content-type', 'application/json');
  message.setData(bytes(data));
  message.setCustomMetadata(bytes(metadata));
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
  request.setProposedMessagesList(events.map(proposed));
  request.setIsFinal(true);
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

/** The newest event of the streams whose names begin so. */
export const newestRequest = (prefixes: readonly string[]): ReadRequest =>
  readRequest((options) => {
    const all = new AllOptions();
    all.setEnd(new Empty());
    options.setAll(all);
    options.setReadDirection(BACKWARDS);
    options.setCount('1');
    options.setFilter(byPrefix(prefixes));
  });

/**
 * Everything behind `after` in the streams whose names begin so, then whatever comes. `after` itself may come again: the server refuses
 * positions that are no record (a checkpoint may be none) unless their prepare position is 0, and that lies before the record.
 */
export const subscriptionRequest = (after: Position | null, prefixes: readonly string[]): ReadRequest =>
  readRequest((options) => {
    const all = new AllOptions();
    if (after === null) all.setStart(new Empty());
    else {
      const position = new AllPosition();
      position.setCommitPosition(String(logPositionOf(after).commit));
      position.setPreparePosition('0');
      all.setPosition(position);
    }
    options.setAll(all);
    options.setSubscription(new SubscriptionOptions());
    options.setFilter(byPrefix(prefixes));
  });
