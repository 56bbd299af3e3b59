import { isTimestamp, type Timestamp } from '../../domain/kernel/time.ts';

/** Throws RangeError if the text is not an instant in Quita's format. */
export const parseTimestamp = (text: string): Timestamp => {
  if (!isTimestamp(text)) throw new RangeError(`not a timestamp: ${text}`);
  return text;
};
