// Finds phrases that are hard to read, in comments and texts of product code and in documents.
import type { Problem, Source } from './source.ts';

const TURNS = /\b(?:is none|whoever|(?<![`"'])nobody|no more(?! than\b)|are told|of before)\b/gi;

/** How many remain, by folder. Those of migrations are in SQL whose hash a test checks. */
const LEFT: Readonly<Record<string, number>> = { migrations: 10 };

/** Code blocks in documents, where `None` may be a keyword. */
const FENCED = /^```[\s\S]*?^```/gm;
/** Comments and quoted texts. */
const SPOKEN = /\/\*[\s\S]*?\*\/|\/\/.*$|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/gm;
const proseOf = ({ path, text }: Source): string =>
  path.endsWith('.md') ? text.replaceAll(FENCED, '') : [...text.matchAll(SPOKEN)].map(([spoken]) => spoken).join('\n');
/** Joins lines, because a phrase may span two lines. */
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

/** Reports the phrases of a folder that has more of them than `left` allows. */
export const proseProblems = (sources: readonly Source[], left = LEFT): readonly Problem[] =>
  [...turnsIn(sources)].flatMap(([place, problems]) =>
    problems.length <= (left[place] ?? 0)
      ? []
      : [...problems, `${place} has ${problems.length} such turns, at most ${left[place] ?? 0}`],
  );

/** Returns folders in the list that have none left. */
export const staleProse = (sources: readonly Source[], left = LEFT): readonly Problem[] => {
  const found = turnsIn(sources);
  return Object.keys(left)
    .filter((place) => !found.has(place))
    .map((place) => `${place} has no such turn left: take it off the list in test/support/tidy/prose.ts`);
};
