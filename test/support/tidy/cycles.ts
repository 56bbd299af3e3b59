// Files whose values need each other before either is evaluated: which of them works depends on who is imported first.
import { importsOf, type Problem, type Source } from './source.ts';

/** Each ring of value imports once, by its files in order. Types don't count: they are gone before anything runs. */
export const cycleProblems = (sources: readonly Source[]): readonly Problem[] => {
  const needs = new Map(
    sources.map((source) => [
      source.path,
      importsOf(source).flatMap(({ target, isOurs, values }) => (isOurs && values.length > 0 ? [target] : [])),
    ]),
  );
  const problems: Problem[] = [];
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]): void => {
    const from = way.indexOf(path);
    if (from !== -1) problems.push(`${[...way.slice(from), path].join(' → ')}: these import each other's values`);
    if (from !== -1 || done.has(path)) return;
    for (const target of needs.get(path) ?? []) visit(target, [...way, path]);
    done.add(path);
  };
  for (const path of needs.keys()) visit(path, []);
  return problems;
};
