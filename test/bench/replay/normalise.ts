// Two runs of the same day differ in ids, secrets and times. This module replaces ids by names that depend on their context, and times by
// distances.
import { createHash } from 'node:crypto';

/** Raw ids, UUIDs, end-to-end ids, references and codes of instruments, fingerprints and secrets. */
const TOKEN = new RegExp(
  [
    /(?<="idSeed":")[^"]+/,
    /(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])/,
    /\b[ED]\d{20}[A-Za-z0-9]{11}\b/,
    /(?<![0-9a-zA-Z])(?:[0-9a-f]{64}|[0-9a-f]{32,40})(?![0-9a-zA-Z])/,
    /(?<=\/pix\/)[0-9a-f]{32}/,
    /(?<=key:)[0-9a-f]{16}/,
    /(?<!\d)(?:\d{47}|\d{44})(?!\d)/,
    /(?<="mbReference":")\d+/,
    /\bT[1-9A-HJ-NP-Za-km-z]{33}\b/,
    /(?<![0-9a-z])[0-7][0-9a-hjkmnp-tv-z]{25}(?![0-9a-z])/,
    /(?<![\w-])[\w-]{43}(?![\w-])/,
    /(?<=ak_(?:test|live)_)[\w-]{4}/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const DAY = /(?<![\d-])\d{4}-\d\d-\d\d(?![\dT-])/g;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Brasília has had no daylight saving time since 2019. */
const BRASILIA_MS = -3 * HOUR_MS;
const civilDay = (ms: number): number => Math.floor((ms + BRASILIA_MS) / DAY_MS);
/** Values that depend on the machine’s speed or on chance, such as the random spread of retries. */
const VAGUE: readonly (readonly [RegExp, string])[] = [
  [/"(nextAttemptAt|nextRetryAt)":"[^"]+"/g, '"$1":"<later>"'],
  [/"(durationMs|duration_ms|response_time_ms|latencyMs)":\d+/g, '"$1":0'],
  [/"expiracao":\d{6,}/g, '"expiracao":0'], // until the end of a civil day, which an event’s time also shows
  [/data:image\/png;base64,[^"]+/g, '<png>'], // image of a code, which is also compared as text
  [/6304[0-9A-F]{4}(?=")/g, '6304<crc>'],
  [/"sealed":"[^"]+"/g, '"sealed":"<sealed>"'], // personal values, which the answers show
];

const HAPPENED = /(?<="at":")[^"]+/;
const CREATED = /(?<="(?:createdAt|created_at)":")[^"]+/;
/** Returns when an event happened or an object was created, or else the first time in the line. Returns NaN if there is none. */
export const timeOf = (line: string): number => {
  const [best, second] = isEvent(line) ? [HAPPENED, CREATED] : [CREATED, HAPPENED];
  return Date.parse((best.exec(line) ?? second.exec(line) ?? line.match(TIME))?.[0] ?? '');
};
/** Lines of events are indented. */
const isEvent = (line: string): boolean => line.startsWith('  ');

/**
 * Replaces a line’s times by distances from its own time, and days by distances from its day in Brasília. Times in an event follow from its
 * own, so they are exact to the minute. Other times include real time that the run took, so they are exact to the hour.
 */
const withoutTimes = (line: string): string => {
  const baseMs = timeOf(line);
  if (Number.isNaN(baseMs)) return line;
  const today = civilDay(baseMs);
  const [grainMs, unit, earlierMs] = isEvent(line) ? [60_000, 'min', 30_000] : [HOUR_MS, 'h', 20 * 60_000];
  const distance = (time: string): string => {
    const ms = Date.parse(time);
    // A full hour, or the instant before it, is the end of a civil day in some time zone.
    const isCivil = [0, 1, 1_000].some((before) => (ms + before) % HOUR_MS === 0);
    return isCivil
      ? `<day ${civilDay(ms) - today} ${time.slice('2026-11-23'.length)}>`
      : `<${Math.floor((ms - baseMs + earlierMs) / grainMs)} ${unit}>`;
  };
  return line
    .replaceAll(TIME, distance)
    .replaceAll(DAY, (day) => `<day ${Math.round((Date.parse(day) - today * DAY_MS) / DAY_MS)}>`);
};

export class Names {
  readonly #names = new Map<string, string>();
  /** Number of texts with the same surroundings. */
  readonly #units = new Map<string, number>();
  readonly #fixed: readonly (readonly [string, string])[];

  /** `fixed`: texts that differ in every run as a whole, such as an address, with their replacements. */
  constructor(fixed: readonly (readonly [string, string])[]) {
    this.#fixed = fixed;
  }

  /** Replaces all values that always differ. Ids without a name become `?`. */
  masked(text: string): string {
    return this.#replaced(text, () => '?');
  }

  /**
   * Like `masked`, but gives names to ids that have none. A name depends on the text around the id’s first appearance, so that differences
   * elsewhere don’t change it. A stream’s name says little, so it counts as part of its first event.
   */
  named(text: string): string {
    const [first = '', second, ...rest] = text.split('\n');
    const units = second === undefined ? [first] : [`${first}\n${second}`, ...rest];
    return units.map((unit) => this.#namedUnit(unit)).join('\n');
  }

  #namedUnit(unit: string): string {
    const around = createHash('sha256').update(this.masked(unit)).digest('hex').slice(0, 8);
    const alike = (this.#units.get(around) ?? 0) + 1;
    this.#units.set(around, alike);
    let n = 0;
    return this.#replaced(unit, (id) => {
      n++;
      const name = `<${around}${alike > 1 ? `/${alike}` : ''}.${n}>`;
      this.#names.set(id, name);
      return name;
    });
  }

  #replaced(text: string, otherwise: (id: string) => string): string {
    const plain = [...this.#fixed, ...VAGUE].reduce((all, [what, by]) => all.replaceAll(what, by), text);
    return plain
      .split('\n')
      .map(withoutTimes)
      .join('\n')
      .replaceAll(TOKEN, (id) => this.#names.get(id) ?? otherwise(id));
  }

  /**
   * Returns the texts, with named ids, in an order that does not depend on ids. Texts that differ only in unnamed ids come later, when
   * other texts have given these ids names.
   */
  inOrder(texts: readonly string[]): readonly string[] {
    const done: string[] = [];
    for (let left = [...texts]; left.length > 0; ) {
      const alike = Map.groupBy(left, (text) => this.masked(text));
      const keys = [...alike.keys()].sort();
      const single = keys.filter((key) => alike.get(key)?.length === 1);
      const next = single.length > 0 ? single : keys.slice(0, 1);
      const taken = next.map((key) => alike.get(key)?.[0] as string);
      for (const text of taken) done.push(this.named(text));
      const gone = new Set(taken.map((text) => left.indexOf(text)));
      left = left.filter((_, n) => !gone.has(n));
    }
    return done;
  }
}
