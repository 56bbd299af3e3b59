// Two runs of the same day differ in ids, secrets and times. Here ids become names by what they belong to, and times become distances.
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
/** Brasília has had no summer time since 2019. */
const BRASILIA_MS = -3 * HOUR_MS;
const civilDay = (ms: number): number => Math.floor((ms + BRASILIA_MS) / DAY_MS);
/** Values that depend on how fast the machine is or on dice: retries are spread. */
const VAGUE: readonly (readonly [RegExp, string])[] = [
  [/"(nextAttemptAt|nextRetryAt)":"[^"]+"/g, '"$1":"<later>"'],
  [/"(durationMs|duration_ms|response_time_ms|latencyMs)":\d+/g, '"$1":0'],
  [/"expiracao":\d{6,}/g, '"expiracao":0'], // until the end of a civil day: the time of an event says it, too
  [/data:image\/png;base64,[^"]+/g, '<png>'], // of a code that is compared as a text
  [/6304[0-9A-F]{4}(?=")/g, '6304<crc>'],
];

const HAPPENED = /(?<="at":")[^"]+/;
const CREATED = /(?<="(?:createdAt|created_at)":")[^"]+/;
/** Returns when an event happened or an object was created; else the first time in the line. NaN: there is none. */
export const timeOf = (line: string): number => {
  const [best, second] = isEvent(line) ? [HAPPENED, CREATED] : [CREATED, HAPPENED];
  return Date.parse((best.exec(line) ?? second.exec(line) ?? line.match(TIME))?.[0] ?? '');
};
/** Lines of events are indented. */
const isEvent = (line: string): boolean => line.startsWith('  ');

/**
 * Writes the times of a line as distances from its own, and days as distances from its day in Brasília. What an event says follows from its
 * time, to the minute; between other times lies the real time that the day took, so that hours are told.
 */
const withoutTimes = (line: string): string => {
  const baseMs = timeOf(line);
  if (Number.isNaN(baseMs)) return line;
  const today = civilDay(baseMs);
  const [grainMs, unit, earlierMs] = isEvent(line) ? [60_000, 'min', 30_000] : [HOUR_MS, 'h', 20 * 60_000];
  const distance = (time: string): string => {
    const ms = Date.parse(time);
    // A full hour, or the last instant before it, is where a civil day ends somewhere.
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
  /** How many texts had the same surroundings. */
  readonly #units = new Map<string, number>();
  readonly #fixed: readonly (readonly [string, string])[];

  /** `fixed`: texts that differ from run to run as a whole, such as an address, and what stands for them. */
  constructor(fixed: readonly (readonly [string, string])[]) {
    this.#fixed = fixed;
  }

  /** Replaces all that differs by nature; ids that have no name yet become `?`. */
  masked(text: string): string {
    return this.#replaced(text, () => '?');
  }

  /**
   * The same, but gives names to ids that have none: by the text around their first appearance, so that a difference elsewhere leaves
   * them as they are. The name of a stream, which says little, counts as a part of its first event.
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
   * Returns texts in an order that does not depend on ids, with names for these. Texts that differ in nothing but ids without a name wait
   * until others have given the names that tell them apart.
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
