// One-dimensional arrays in PostgreSQL's binary format (src/backend/utils/adt/arrayfuncs.c, array_recv). pg sends a Buffer as a
// binary parameter. It would render a plain array as text and escape every quote of the JSON again, and the server would parse that.
// Measured in flushes of 64 appends of two events of 700 bytes: per event, 11 µs in Node and 22 in PostgreSQL, against 17 and 28 as text.

const BYTEA_OID = 17;
const INT8_OID = 20;
const TEXT_OID = 25;
const UUID_OID = 2950;
/** Dimensions, has-null flag, element type, length, lower bound: four bytes each. */
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
/** Room for one more character, so that an announced size that is too small is detected instead of cutting the last text. */
const SLACK_BYTES = 4;

const arrayBuffer = (elementOid: number, count: number, payloadBytes: number): Buffer => {
  if (count === 0) throw new RangeError('the binary format does not support empty arrays');
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + count * LENGTH_BYTES + payloadBytes);
  buffer.writeInt32BE(1, 0);
  buffer.writeInt32BE(0, 4);
  buffer.writeInt32BE(elementOid, 8);
  buffer.writeInt32BE(count, 12);
  buffer.writeInt32BE(1, 16);
  return buffer;
};

const utf8Bytes = (values: readonly string[]): number => {
  let bytes = 0;
  for (const value of values) bytes += Buffer.byteLength(value);
  return bytes;
};

/** Returns a `text[]`. `payloadBytes` is the exact sum of the values' UTF-8 lengths; computed if omitted. */
export const textArray = (values: readonly string[], payloadBytes: number = utf8Bytes(values)): Buffer => {
  const buffer = arrayBuffer(TEXT_OID, values.length, payloadBytes + SLACK_BYTES);
  const size = buffer.length - SLACK_BYTES;
  let at = HEADER_BYTES;
  for (const value of values) {
    const bytes = buffer.write(value, at + LENGTH_BYTES);
    buffer.writeInt32BE(bytes, at);
    at += LENGTH_BYTES + bytes;
    if (at > size) throw new RangeError('text[] holds more bytes than announced');
  }
  if (at !== size) throw new RangeError('text[] holds fewer bytes than announced');
  return buffer.subarray(0, size);
};

const NULL_LENGTH = -1;

/** Returns a `text[]` that may be empty and may hold nulls. */
export const nullableTextArray = (values: readonly (string | null)[]): Buffer | string => {
  if (values.length === 0) return '{}'; // as text, because the binary header above needs a dimension
  let bytes = 0;
  for (const value of values) if (value !== null) bytes += Buffer.byteLength(value);
  const buffer = arrayBuffer(TEXT_OID, values.length, bytes);
  buffer.writeInt32BE(1, 4);
  let at = HEADER_BYTES;
  for (const value of values) {
    const length = value === null ? NULL_LENGTH : buffer.write(value, at + LENGTH_BYTES);
    buffer.writeInt32BE(length, at);
    at += LENGTH_BYTES + Math.max(length, 0);
  }
  return buffer;
};

/** Returns a `bytea[]` of bytes given as `latin1`. */
export const byteaArray = (values: readonly string[]): Buffer => {
  const buffer = arrayBuffer(
    BYTEA_OID,
    values.length,
    values.reduce((bytes, { length }) => bytes + length, 0),
  );
  let at = HEADER_BYTES;
  for (const value of values) {
    buffer.writeInt32BE(value.length, at);
    at += LENGTH_BYTES + buffer.write(value, at + LENGTH_BYTES, 'latin1');
  }
  return buffer;
};

/** Returns an `int8[]` of safe integers. */
export const int8Array = (values: readonly number[]): Buffer => {
  const buffer = arrayBuffer(INT8_OID, values.length, values.length * 8);
  let at = HEADER_BYTES;
  for (const value of values) {
    buffer.writeInt32BE(8, at);
    buffer.writeInt32BE(Math.floor(value / 2 ** 32), at + 4);
    buffer.writeUInt32BE(value >>> 0, at + 8);
    at += 12;
  }
  return buffer;
};

/** Returns a `uuid[]` of texts like 123e4567-e89b-12d3-a456-426614174000, which the caller has validated. */
export const uuidArray = (values: readonly string[]): Buffer => {
  const buffer = arrayBuffer(UUID_OID, values.length, values.length * 16);
  let at = HEADER_BYTES;
  for (const value of values) {
    buffer.writeInt32BE(16, at);
    buffer.write(value.replaceAll('-', ''), at + LENGTH_BYTES, 16, 'hex');
    at += 20;
  }
  return buffer;
};
