// Turns of phrase that need two readings, in comments and texts of product code and in documents: plain English says what is the case.
import type { Problem, Source } from './source.ts';

const TURNS = /\b(?:is none|whoever|(?<![`"'])nobody|no more(?! than\b)|are told|of before)\b/gi;

/** How many remain, by folder: SQL of migrations, which a test holds to its hash. */
const LEFT: Readonly<Record<string, number>> = { migrations: 10 };

/** Code in a document, where `None` may be a keyword. */
const FENCED = /^```[\s\S]*?^```/gm;
/** Comments, and texts in quotes. */
const SPOKEN = /\/\*[\s\S]*?\*\/|\/\/.*$|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/gm;
const proseOf = ({ path, text }: Source): string =>
  path.endsWith('.md') ? text.replaceAll(FENCED, '') : [...text.matchAll(SPOKEN)].map(([spoken]) => spoken).join('\n');
/** A turn may run over two lines. */
const flat = (prose: string): string => prose.replaceAll(/\s*\n\s*(?:\/\/|\*(?!\/))?\s*/g, ' ');

const placeOf = (path: string): string => path.split('/')[0] as string;

const turnsIn = (sources: readonly Source[]): ReadonlyMap<string, readonly Problem[]> => {
  const found = sources
    .filter(({ path }) => !path.startsWith('test/'))
    .flatMap((source) => {
      const prose = flat(proseOf(source));
      return [...prose.matchAll(TURNS)].map(({ 0: turn, index }) => ({
        place: placeOf(source.path),
        problem: `${source.path}: "${turn}" in "${prose.slice(Math.max(0, index - 40), index + 40).trim()}": say who does what`,
      }));
    });
  return new Map(
    [...Map.groupBy(found, ({ place }) => place)].map(([place, all]) => [place, all.map(({ problem }) => problem)]),
  );
};

/** Refuses more such turns in a folder than `left` says. */
export const proseProblems = (sources: readonly Source[], left = LEFT): readonly Problem[] =>
  [...turnsIn(sources)].flatMap(([place, problems]) =>
    problems.length <= (left[place] ?? 0)
      ? []
      : [...problems, `${place} has ${problems.length} such turns, at most ${left[place] ?? 0}`],
  );

/** Names of the list that have none left. */
export const staleProse = (sources: readonly Source[], left = LEFT): readonly Problem[] => {
  const found = turnsIn(sources);
  return Object.keys(left)
    .filter((place) => !found.has(place))
    .map((place) => `${place} has no such turn left: take it off the list in test/support/tidy/prose.ts`);
};
