// Partitions of a consumer: each takes the events of some accounts and has a checkpoint of its own, so that several processes can share the
// work of one consumer (ADR 0021). The partition of an account is part of all ids that belong to the account (ADR 0012).
import type { Position } from '../../application/ports/eventStore.ts';
import { partitionOf, type RawId, type StreamName } from '../../domain/kernel/ids.ts';

/** One of `of` equal parts of the accounts. `of` is a power of two. */
export interface Part {
  readonly index: number;
  readonly of: number;
}
const ALL: Part = { index: 0, of: 1 };

/** Partitions that an id can tell apart. */
const ID_PARTITIONS = 1_024;

/** Returns which of `of` parts the stream's account belongs to. A name without an id belongs to one of them, too. */
const indexOf = (stream: string, of: number): number => {
  const begin = stream.indexOf('-') + 1;
  const partition = partitionOf(stream.slice(begin, begin + 3) as RawId) & (ID_PARTITIONS - 1);
  return Math.floor((partition * of) / ID_PARTITIONS);
};

export const isOfPart = ({ index, of }: Part, stream: string): boolean => of === 1 || indexOf(stream, of) === index;

// --- Names of checkpoints ---

/** A checkpoint's name, read. */
export interface Named {
  readonly consumer: string;
  readonly part: Part;
  /** Whether it is a mark: a fixed position that a part had reached when its consumer was divided again. */
  readonly isMark: boolean;
}

export const partitionName = (consumer: string, { index, of }: Part): string => `${consumer}#${index}/${of}`;
export const markName = (consumer: string, part: Part): string => `${partitionName(consumer, part)} passed`;

const OF_PART = /^(.+)#(\d+)\/(\d+)( passed)?$/;

/** Any other name is that of a consumer, which is one part. */
export const readName = (name: string): Named => {
  const [, consumer = name, index, of, mark] = OF_PART.exec(name) ?? [];
  if (index === undefined) return { consumer, part: ALL, isMark: false };
  return { consumer, part: { index: Number(index), of: Number(of) }, isMark: mark !== undefined };
};

export const partsOf = (count: number): readonly Part[] =>
  Array.from({ length: count }, (_, index) => ({ index, of: count }));

// --- The progress of a consumer, part by part ---

/** For each of `length` equal parts of the accounts, the position up to which all events were processed; null: none. */
export type Front = readonly (Position | null)[];

/** null is before all positions. */
export const later = (a: Position | null, b: Position | null): Position | null =>
  a === null || (b !== null && b > a) ? b : a;
export const earlier = (a: Position | null, b: Position | null): Position | null =>
  a === null || b === null ? null : b < a ? b : a;

export const furthestOf = (front: Front): Position | null => front.reduce(later);
export const leastOf = (front: Front): Position | null => front.reduce(earlier);

/** Returns the front with an element for each of `length` parts, if it has fewer. */
const split = (front: Front, length: number): Front =>
  front.length >= length
    ? front
    : Array.from({ length }, (_, index) => front[Math.floor((index * front.length) / length)] as Position | null);

/** Returns the front after a part has reached a position. It never goes back. */
export const advanced = (front: Front, { index, of }: Part, position: Position | null): Front => {
  const fine = split(front, of);
  return fine.map((at, n) => (Math.floor((n * of) / fine.length) === index ? later(at, position) : at));
};

const NOTHING: Front = [null];

/** Returns the front of a consumer with these checkpoints, one or one of each partition, and marks. */
export const frontOf = (checkpoints: readonly { readonly name: string; readonly position: Position | null }[]): Front =>
  checkpoints.reduce((front, { name, position }) => advanced(front, readName(name).part, position), NOTHING);

/** Whether the first front is at or before the second in every part. */
export const isAtMost = (one: Front, other: Front): boolean => {
  const [fine, most] = [split(one, other.length), split(other, one.length)];
  return fine.every((position, n) => later(position, most[n] as Position | null) === most[n]);
};

/** Returns the position up to which the consumer has processed the events of the stream's account. */
export const reachedIn = (front: Front, stream: StreamName): Position | null =>
  front[front.length === 1 ? 0 : indexOf(stream, front.length)] as Position | null;

/** Returns where a consumer of this front continues in `count` partitions, and marks of parts that are ahead of their new partition. */
export const dividedInto = (
  front: Front,
  count: number,
): { readonly partitions: Front; readonly marks: readonly { readonly part: Part; readonly position: Position }[] } => {
  const fine = split(front, count);
  const width = fine.length / count;
  const partitions = partsOf(count).map(({ index }) => leastOf(fine.slice(index * width, (index + 1) * width)));
  const marks = fine.flatMap((position, index) =>
    position === null || position === partitions[Math.floor(index / width)]
      ? []
      : [{ part: { index, of: fine.length }, position }],
  );
  return { partitions, marks };
};
