import { isTimestamp, type Timestamp } from '../../domain/kernel/time.ts';

/** Throws RangeError when the text is not an instant as Quita writes it. */
export const parseTimestamp = (text: string): Timestamp => {
  if (!isTimestamp(text)) throw new RangeError(`not a timestamp: ${text}`);
  return text;
};
