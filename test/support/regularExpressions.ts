// All regular expressions in the product’s source, and inputs that may make them backtrack.
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tokenizer } from 'acorn';
import type { JsonSchema } from '../../http/kernel/jsonSchema.ts';
import type { Route } from '../../http/kernel/route.ts';

export interface Found {
  /** Location and text of the expression. */
  readonly name: string;
  readonly expression: RegExp;
}

/** Returns the literals in one file, without expressions built at run time. */
export const expressionsIn = (path: string, root: URL): readonly Found[] => {
  const code = stripTypeScriptTypes(readFileSync(new URL(path, root), 'utf8'));
  return [...tokenizer(code, { ecmaVersion: 'latest', sourceType: 'module' })]
    .filter(({ type }) => type.label === 'regexp')
    .map((token) => {
      const { pattern, flags } = (token as unknown as { value: { pattern: string; flags: string } }).value;
      return { name: `${path} /${pattern}/${flags}`, expression: new RegExp(pattern, flags) };
    });
};

const patternsIn = (schema: JsonSchema): readonly string[] => [
  ...(schema.pattern === undefined ? [] : [schema.pattern]),
  ...Object.values(schema.properties ?? {}).flatMap(patternsIn),
  ...(schema.items === undefined ? [] : patternsIn(schema.items)),
];
/** Returns the patterns as ajv compiles them for bodies. */
export const expressionsOf = (routes: readonly Route[]): readonly Found[] =>
  routes.flatMap(({ operationId, body }) =>
    body.kind === 'json'
      ? patternsIn(body.schema).map((pattern) => ({
          name: `${operationId} ${pattern}`,
          expression: new RegExp(pattern, 'u'),
        }))
      : [],
  );

/** One character for each character class. */
const ANYBODY = ['a', '0', ' ', '.', '-', '/', '\\', '"', '@', ':', '\n', 'é'];
const MISFITS = ['', '\u0000'];

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)];

/** Returns runs of literal characters, as in `eyJ`. */
const literalsIn = ({ source }: RegExp): readonly string[] =>
  unique(
    source.replaceAll(/\\[pPu]\{[^}]*\}|\\[a-zA-Z]|\(\?<?[:=!]|\[\^?/g, ' ').match(/[\w@%/"'`~#&=<>!,;-]+/g) ?? [],
  );

interface Pumped {
  readonly prefix: string;
  readonly unit: string;
  readonly suffix: string;
}
export const textOf = ({ prefix, unit, suffix }: Pumped, length: number): string =>
  prefix + unit.repeat(Math.ceil(length / unit.length)) + suffix;

/** Character classes and escapes. */
const CLASSES = /\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\.|\[(?:\\.|[^\]\\])*\]|\./gs;
const GROUP_STARTS = /\(\?<?[:=!]/g;
/**
 * Returns the first of all characters that the expression can’t distinguish, because an input of the others takes the same steps.
 * Characters that the expression contains literally are always kept.
 */
const distinguished = ({ source, flags }: RegExp, characters: readonly string[]): readonly string[] => {
  const classes = unique(['\\w', '\\n', ...(source.match(CLASSES) ?? [])])
    .filter((text) => !/^\\[bBk\d]$/.test(text))
    .map((text) => new RegExp(`^(?:${text})$`, flags.replaceAll(/[gmy]/g, '')));
  const literal = source.replaceAll(CLASSES, '\0').replaceAll(GROUP_STARTS, '\0').toLowerCase();
  const kindOf = (one: string): string =>
    literal.includes(one) ? one : classes.map((expression) => expression.test(one)).join();
  const first = new Map(characters.toReversed().map((one) => [kindOf(one), one]));
  return characters.filter((one) => first.get(kindOf(one)) === one);
};

/**
 * Returns inputs to repeat: units of one or two pieces, from the expression and from all character classes, each after a possible start of
 * the expression.
 */
export const pumpedFor = (expression: RegExp): readonly Pumped[] => {
  const literals = literalsIn(expression).slice(0, 6);
  const ownPieces = [...literals, ...literals.map((text) => text.charAt(0))];
  const pieces = unique([...ownPieces, ...distinguished(expression, ANYBODY)]);
  const units = unique([...pieces, ...pieces.flatMap((one) => pieces.map((other) => one + other))]);
  const prefixes = unique(['', ...literals.slice(0, 2)]);
  return prefixes.flatMap((prefix) => units.flatMap((unit) => MISFITS.map((suffix) => ({ prefix, unit, suffix }))));
};
