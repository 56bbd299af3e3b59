// The records in the log of the test server.

/** Revision of a tombstone, the greatest possible one. */
export const TOMBSTONE_REVISION = 9_223_372_036_854_775_807n;

export interface ProposedEvent {
  /** UUID, lower case. */
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** A place in the log. Places have gaps, like byte offsets. Commit and prepare of a record are equal, as in servers since 20.6. */
export interface Place {
  readonly commit: bigint;
  readonly prepare: bigint;
}

export interface LogRecord extends ProposedEvent, Place {
  readonly stream: string;
  readonly revision: bigint;
  /** Milliseconds since 1970. */
  readonly createdMs: number;
}

/** The numbers of these values in the real server’s error trailers. */
const EXPECTED_NUMBER = { noStream: -1n, any: -2n, streamExists: -4n } as const;
export type Expected = 'any' | 'noStream' | 'streamExists' | bigint;

export const expectedNumber = (expected: Expected): bigint =>
  typeof expected === 'bigint' ? expected : EXPECTED_NUMBER[expected];

export const isSystem = (name: string): boolean => name.startsWith('$');
export const metadataStream = (stream: string): string => `$$${stream}`;
