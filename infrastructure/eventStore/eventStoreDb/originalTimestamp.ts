// EventStoreDB stamps each event with the time at which it was written there. An event copied from another log keeps its original time in
// its metadata, under the adapter's own key. The key is always the last one, so that removing it restores the original text byte for
// byte. No other key has this name, and inside a JSON string its quotes would be escaped.

const KEY = 'quita_recordedAt';
const KEPT = new RegExp(`,?"${KEY}":"(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z)"\\}$`);
/** The end of a text that may contain the key. */
const END = 'Z"}';
/** No longer than `,"quita_recordedAt":"2026-11-21T12:00:00.000Z"}`. */
const LENGTH_MAX = KEY.length + 31;

/** `metadata`: the JSON text of an object; `recordedAt`: ISO 8601 with milliseconds, UTC. */
export const withOriginalTimestamp = (metadata: string, recordedAt: string): string => {
  const open = metadata.slice(0, -1);
  return `${open}${open.trim() === '{' ? '' : ','}"${KEY}":"${recordedAt}"}`;
};

interface OriginalTimestamp {
  /** The original metadata, without the added time. */
  readonly metadata: string;
  /** null: the event was first written here. */
  readonly recordedAt: string | null;
}

export const readOriginalTimestamp = (metadata: string): OriginalTimestamp => {
  if (!metadata.endsWith(END)) return { metadata, recordedAt: null };
  const found = KEPT.exec(metadata.slice(-LENGTH_MAX));
  const [kept, recordedAt] = found ?? [];
  if (kept === undefined || recordedAt === undefined) return { metadata, recordedAt: null };
  return { metadata: `${metadata.slice(0, -kept.length)}}`, recordedAt };
};
