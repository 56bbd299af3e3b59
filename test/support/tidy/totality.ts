// A switch on an event type must name every event type of its group, so that a new type doesn’t compile until each reader of the group
// handles it. A consumer ignores whole groups, not lists of types (architecture §2).
import type { Problem, Source } from './source.ts';

/** Files that still have switches with an open `default:`, and their number, which may only decrease. */
const OPEN_DEFAULTS: Readonly<Record<string, number>> = {};

const SWITCH = /^( *).*\bswitch \((?:[\w.]+\.)?type\) \{$/;
/** The end of an exhaustive switch. The compiler proves that it is unreachable. */
const NEVER = /\bsatisfies never\b|\b(?:ignore|unreachable)\(/;

interface OpenDefault {
  readonly path: string;
  readonly line: number;
}

const openDefaultsOf = ({ path, text }: Source): readonly OpenDefault[] => {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    const indent = SWITCH.exec(line)?.[1];
    if (indent === undefined) return [];
    const rest = lines.slice(at + 1);
    const body = rest.slice(0, rest.indexOf(`${indent}}`));
    const start = body.findIndex((one) => one.startsWith(`${indent}  default:`));
    return start < 0 || NEVER.test(body.slice(start).join('\n')) ? [] : [{ path, line: at + 2 + start }];
  });
};

/** Rejects a `default:` other than `never` in a switch on an event’s type. `allowed` has their number by file. */
export const totalityProblems = (
  sources: readonly Source[],
  allowed: Readonly<Record<string, number>> = OPEN_DEFAULTS,
): readonly Problem[] =>
  sources.flatMap((source) => {
    const found = openDefaultsOf(source);
    return found.length <= (allowed[source.path] ?? 0)
      ? []
      : found.map(
          ({ path, line }) =>
            `${path}:${line}: a default in a switch on an event type: name what is ignored, and end in \`satisfies never\``,
        );
  });

/** Returns entries of the list that allow more open defaults than there are. */
export const staleOpenDefaults = (
  sources: readonly Source[],
  allowed: Readonly<Record<string, number>> = OPEN_DEFAULTS,
): readonly Problem[] =>
  Object.entries(allowed).flatMap(([path, count]) => {
    const source = sources.find((one) => one.path === path);
    const found = source === undefined ? 0 : openDefaultsOf(source).length;
    return found < count
      ? [`${path} has ${found} open defaults: take it off the list in test/support/tidy/totality.ts`]
      : [];
  });

/** Number of types that a consumer may ignore one by one within the groups it reads. */
const IGNORED_MAX = 3;
/** Consecutive cases of a switch without an effect. A fold that returns its state is not a consumer. */
const EMPTY_CASES =
  /(?:\bcase '[A-Z][a-z]\w+':\s*(?:\/\/.*\s+)*)+(?:return(?: null| undefined| \[\]| Promise\.resolve\(\))?|break);/g;

/** Returns the numbers of ignored types in each table of reactions, reading and switch. */
const ignoredTypesIn = (text: string): readonly number[] => {
  const count = (part: string, one: RegExp): number => [...part.matchAll(one)].length;
  return [
    ...text.split(/\breacting\(/).map((table) => count(table, /^ *\w+: nothing,/gm)),
    ...[...text.matchAll(/\bnothing: \[[^\]]*\]/g)].map(([list]) => count(list, /'\w+'/g)),
    ...[...text.matchAll(EMPTY_CASES)].map(([cases]) => count(cases, /\bcase '/g)),
  ];
};

/** Rejects consumers that ignore a list of types. */
export const ignoredTypesProblems = (sources: readonly Source[]): readonly Problem[] =>
  sources
    .filter(({ path }) => !path.startsWith('test/'))
    .flatMap(({ path, text }) =>
      ignoredTypesIn(text)
        .filter((ignored) => ignored > IGNORED_MAX)
        .map(
          (ignored) =>
            `${path}: ignores ${ignored} types of event one by one, at most ${IGNORED_MAX}: ignore their group, or split it`,
        ),
    );
