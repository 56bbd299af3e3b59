// Damages JSON as institutions do by accident and attackers on purpose: missing parts, other types, odd values, truncation.
import * as fc from 'fast-check';

type Step = string | number;

/** Times at the limits of a clock, numbers in unusual notation, and texts that break naive readers. */
const ODD = [
  null,
  '',
  0,
  -1,
  1e308,
  3600.5,
  true,
  [],
  {},
  [[]],
  { valor: null },
  '9999-12-31T23:59:59.999-12:00',
  '0000-01-01T00:00:00+14:00',
  '2026-02-30T25:61:61Z',
  '99999999999.99',
  '-1.00',
  '1,00',
  '1e3',
  '２.００',
  2_147_483_647,
  '2147483647',
  Number.MAX_VALUE,
  '\ud800',
  '\u0000',
  'x'.repeat(10_000),
  '__proto__',
  'constructor',
  'A'.repeat(32),
] as const;

export interface Mutation {
  readonly kind: 'drop' | 'replace' | 'repeat' | 'cut';
  /** Index of the JSON’s part, modulo their number. */
  readonly part: number;
  readonly odd: number;
}

export const mutations: fc.Arbitrary<readonly Mutation[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('drop', 'replace', 'replace', 'repeat', 'cut'),
    part: fc.nat(10_000),
    odd: fc.nat(ODD.length - 1),
  }),
  { minLength: 1, maxLength: 3 },
);

const partsOf = (value: unknown, path: readonly Step[] = []): readonly (readonly Step[])[] => {
  if (typeof value !== 'object' || value === null) return [path];
  const inner: (readonly [Step, unknown])[] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...inner.flatMap(([step, part]) => partsOf(part, [...path, step]))];
};

/** Returns the value with the part at the path replaced by the parts that `change` returns. */
const changed = (value: unknown, path: readonly Step[], change: (part: unknown) => readonly unknown[]): unknown => {
  const [step, ...rest] = path;
  if (step === undefined) return change(value)[0];
  const replace = (part: unknown): readonly unknown[] =>
    rest.length === 0 ? change(part) : [changed(part, rest, change)];
  if (Array.isArray(value)) return value.flatMap((part, i) => (i === step ? replace(part) : [part]));
  return Object.fromEntries(
    Object.entries(value as object).flatMap(([name, part]) =>
      name === step ? replace(part).map((given) => [name, given]) : [[name, part]],
    ),
  );
};

/** Returns the JSON text with these kinds of damage applied in sequence. */
export const damaged = (text: string, damage: readonly Mutation[]): string => {
  let [value, cut] = [JSON.parse(text) as unknown, 0];
  for (const { kind, part, odd } of damage) {
    const parts = partsOf(value);
    const path = parts[part % parts.length] ?? [];
    if (kind === 'cut') cut = part;
    else if (kind === 'drop') value = changed(value, path, () => []);
    else if (kind === 'repeat') value = changed(value, path, (given) => [given, given]);
    else value = changed(value, path, () => [ODD[odd]]);
  }
  const whole = JSON.stringify(value) ?? '';
  return cut === 0 ? whole : whole.slice(0, cut % (whole.length + 1));
};
