// End-to-end ids of payments (`E…`) and returns (`D…`): 32 characters, unique network-wide, case-sensitive (pix.md, Ids).
import { fromMillis, isTimestamp, type Timestamp, toMillis } from '../kernel/time.ts';

export interface EndToEndParts {
  /** Participant that made the id: 8 of `[0-9A-Z]`. */
  readonly ispb: string;
  /** When it was made, UTC; the id keeps whole minutes. */
  readonly at: Timestamp;
  /** 11 of `[A-Za-z0-9]`. */
  readonly suffix: string;
}

const ISPB = /^[0-9A-Z]{8}$/;
const SUFFIX = /^[A-Za-z0-9]{11}$/;
const STRICT = /^([ED])([0-9A-Z]{8})([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([A-Za-z0-9]{11})$/;
const FROM_PROVIDER = /^[A-Za-z0-9]{32}$/;

/** Whether it names a minute that exists (Date reads 30 February as 2 March). */
const isExactTimestamp = (at: string): at is Timestamp => isTimestamp(at) && fromMillis(toMillis(at)) === at;

const make = (letter: 'E' | 'D', { ispb, at, suffix }: EndToEndParts): string => {
  if (!ISPB.test(ispb)) throw new RangeError(`not an ISPB: ${ispb}`);
  if (!isExactTimestamp(at)) throw new RangeError(`not a timestamp: ${at}`);
  if (!SUFFIX.test(suffix)) throw new RangeError(`not 11 letters and digits: ${suffix}`);
  return letter + ispb + at.slice(0, 16).replace(/[^0-9]/g, '') + suffix;
};

const parse = (letter: 'E' | 'D', text: string): EndToEndParts | null => {
  const [, found, ispb, year, month, day, hour, minute, suffix] = STRICT.exec(text) ?? [];
  const at = `${year}-${month}-${day}T${hour}:${minute}:00.000Z`;
  if (found !== letter || ispb === undefined || suffix === undefined || !isExactTimestamp(at)) return null;
  return { ispb, at, suffix };
};

/** `E` + ISPB + `yyyyMMddHHmm` in UTC + suffix. Throws RangeError when a part is not of its shape. */
export const makeEndToEndId = (parts: EndToEndParts): string => make('E', parts);
/** `D` + ISPB + `yyyyMMddHHmm` in UTC + suffix. Throws RangeError when a part is not of its shape. */
export const makeReturnId = (parts: EndToEndParts): string => make('D', parts);

/** The parts of a payment's id of the strict shape with a time that exists, at the whole minute; otherwise null. */
export const parseEndToEndId = (text: string): EndToEndParts | null => parse('E', text);
/** The parts of a return's id of the strict shape with a time that exists, at the whole minute; otherwise null. */
export const parseReturnId = (text: string): EndToEndParts | null => parse('D', text);

/** Strict, for ids that we make or accept from a merchant. */
export const isEndToEndId = (text: string): boolean => parseEndToEndId(text) !== null;
/** Strict, for return ids that we make. */
export const isReturnId = (text: string): boolean => parseReturnId(text) !== null;

/** Tolerant, for payment ids read from a provider: money that arrived is never turned away for the form of its id. */
export const isProviderEndToEndId = (text: string): boolean => FROM_PROVIDER.test(text);
/** Tolerant, for return ids (rtrId) read from a provider: the same rule. */
export const isProviderReturnId = (text: string): boolean => FROM_PROVIDER.test(text);
