// Two runs of the same day differ in ids, secrets and times. Here ids become names by what they belong to, and times become distances.

/** Raw ids, UUIDs, end-to-end ids, fingerprints, and hex of transactions, references and secrets. */
const TOKEN = new RegExp(
  [
    /(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])/,
    /\b[ED]\d{20}[A-Za-z0-9]{11}\b/,
    /(?<![0-9a-zA-Z])(?:[0-9a-f]{64}|[0-9a-f]{32,40})(?![0-9a-zA-Z])/,
    /(?<=key:)[0-9a-f]{16}/,
    /(?<![0-9a-z])[0-7][0-9a-hjkmnp-tv-z]{25}(?![0-9a-z])/,
    /(?<![\w-])[\w-]{43}(?![\w-])/,
    /(?<="idSeed":")[^"]+/,
    /(?<=ak_(?:test|live)_)[\w-]{4}/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const DAY = /(?<![\d-])\d{4}-\d\d-\d\d(?![\dT-])/g;
const DAY_MS = 86_400_000;
/** Brasília has had no summer time since 2019. */
const BRASILIA_MS = -3 * 3_600_000;
const civilDay = (ms: number): number => Math.floor((ms + BRASILIA_MS) / DAY_MS);
/** Of two times that belong together one may be this much earlier, or the rest of a minute later, in another run. */
const EARLIER_MS = 10_000;

/** Values that depend on how fast the machine is, or are sums over what is random. */
const VAGUE: readonly (readonly [RegExp, string])[] = [
  [/"(durationMs|duration_ms|response_time_ms|latencyMs)":\d+/g, '"$1":0'],
  [/6304[0-9A-F]{4}(?=")/g, '6304<crc>'],
];

/** When what a text tells of happened, if it says so; else the first time in it. NaN: there is none. */
export const timeOf = (text: string): number =>
  Date.parse((/(?<="(?:at|createdAt|created_at)":")[^"]+/.exec(text) ?? text.match(TIME))?.[0] ?? '');

/** Writes the times of a line as distances from its own, and days as distances from its day in Brasília. */
const withoutTimes = (text: string): string => {
  const baseMs = timeOf(text);
  if (Number.isNaN(baseMs)) return text;
  const today = civilDay(baseMs);
  const distance = (time: string): string => {
    const ms = Date.parse(time);
    const isMidnight = (ms + BRASILIA_MS) % DAY_MS === 0;
    return isMidnight
      ? `<midnight ${civilDay(ms) - today}>`
      : `<${Math.floor((ms - baseMs + EARLIER_MS) / 60_000)} min>`;
  };
  return text
    .replaceAll(TIME, distance)
    .replaceAll(DAY, (day) => `<day ${Math.round((Date.parse(day) - today * DAY_MS) / DAY_MS)}>`);
};

export class Names {
  readonly #names = new Map<string, string>();
  readonly #fixed: readonly (readonly [string, string])[];

  /** `fixed`: texts that differ from run to run as a whole, such as an address, and what stands for them. */
  constructor(fixed: readonly (readonly [string, string])[]) {
    this.#fixed = fixed;
  }

  /** Replaces all that differs by nature; ids that have no name yet become `?`. */
  masked(text: string): string {
    return this.#replaced(text, () => '?');
  }

  /** The same, but gives names to ids that have none. */
  named(text: string): string {
    return this.#replaced(text, (id) => {
      const name = `<id ${this.#names.size + 1}>`;
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
