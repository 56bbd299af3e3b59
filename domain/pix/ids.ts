// Pix ids: txids, which the receiver chooses (Pix API 2.9.0, rule I3), and end-to-end ids of payments (`E…`) and returns (`D…`), which are
// unique in the whole network (pix.md, Ids). All are case-sensitive.
import { fromMillis, isTimestamp, type Timestamp, toMillis } from '../kernel/time.ts';

const COB_TXID = /^[a-zA-Z0-9]{26,35}$/;

/** Returns whether an immediate charge (cob) may have this txid: 26 to 35 ASCII letters and digits. */
export const isTxid = (text: string): boolean => COB_TXID.test(text);

interface EndToEndParts {
  /** Participant that made the id: 8 of `[0-9A-Z]`. */
  readonly ispb: string;
  /** UTC time of creation; the id holds whole minutes. */
  readonly at: Timestamp;
  /** 11 of `[A-Za-z0-9]`. */
  readonly suffix: string;
}

const ISPB = /^[0-9A-Z]{8}$/;
const SUFFIX = /^[A-Za-z0-9]{11}$/;
const STRICT = /^E[0-9A-Z]{8}([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})[A-Za-z0-9]{11}$/;

/** Returns whether the minute exists. Date alone accepts 30 February as 2 March. */
const isExactTimestamp = (at: string): at is Timestamp => isTimestamp(at) && fromMillis(toMillis(at)) === at;

const make = (letter: 'E' | 'D', { ispb, at, suffix }: EndToEndParts): string => {
  if (!ISPB.test(ispb)) throw new RangeError(`not an ISPB: ${ispb}`);
  if (!isExactTimestamp(at)) throw new RangeError(`not a timestamp: ${at}`);
  if (!SUFFIX.test(suffix)) throw new RangeError(`not 11 letters and digits: ${suffix}`);
  return letter + ispb + at.slice(0, 16).replace(/[^0-9]/g, '') + suffix;
};

/** Returns `E` + ISPB + `yyyyMMddHHmm` in UTC + suffix. Throws RangeError for malformed parts. */
export const makeEndToEndId = (parts: EndToEndParts): string => make('E', parts);
/** Returns `D` + ISPB + `yyyyMMddHHmm` in UTC + suffix. Throws RangeError for malformed parts. */
export const makeReturnId = (parts: EndToEndParts): string => make('D', parts);

/** Strict check, for ids that Quita makes or accepts from a merchant. */
export const isEndToEndId = (text: string): boolean => {
  const [, year, month, day, hour, minute] = STRICT.exec(text) ?? [];
  return isExactTimestamp(`${year}-${month}-${day}T${hour}:${minute}:00.000Z`);
};
