// Parses ids of payments and returns.
import { isTimestamp, type Timestamp } from '../../../domain/kernel/time.ts';

const STRICT = /^([ED])([0-9A-Z]{8})([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([A-Za-z0-9]{11})$/;

interface Parts {
  readonly ispb: string;
  /** The whole minute. */
  readonly at: Timestamp;
  readonly suffix: string;
}

const parse = (letter: 'E' | 'D', text: string): Parts | null => {
  const [, found, ispb, year, month, day, hour, minute, suffix] = STRICT.exec(text) ?? [];
  const at = `${year}-${month}-${day}T${hour}:${minute}:00.000Z`;
  if (found !== letter || ispb === undefined || suffix === undefined || !isTimestamp(at)) return null;
  return { ispb, at, suffix };
};

/** Returns the parts of a payment's id, or null if its shape is invalid. */
export const parseEndToEndId = (text: string): Parts | null => parse('E', text);
/** Returns the parts of a return's id, or null if its shape is invalid. */
export const parseReturnId = (text: string): Parts | null => parse('D', text);
export const isReturnId = (text: string): boolean => parseReturnId(text) !== null;
