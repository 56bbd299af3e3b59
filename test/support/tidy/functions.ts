// Limits the length of functions. Blank lines and comments don’t count. Inner functions count as part of the outer one.
import { stripTypeScriptTypes } from 'node:module';
import { type Node, parse } from 'acorn';
import type { Problem, Source } from './source.ts';

const FUNCTION_LINES_MAX = 70;
/** Product files that still have longer functions. This list may only get shorter. */
const LONG_FUNCTIONS_ALLOWED: readonly string[] = [];

interface FunctionLength {
  readonly path: string;
  readonly line: number;
  readonly lines: number;
}

const isCode = (line: string): boolean => !/^\s*(?:$|\/\/|\/?\*)/.test(line);

const nodesIn = (value: unknown): readonly Node[] => {
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  if (typeof value !== 'object' || value === null || !('type' in value)) return [];
  return [value as Node, ...Object.values(value).flatMap(nodesIn)];
};

/** Returns the functions in product code, longest first. */
export const longestFunctions = (sources: readonly Source[]): readonly FunctionLength[] =>
  sources
    .filter(({ path }) => !path.startsWith('test/'))
    .flatMap(({ path, text }) => {
      const code = text.split('\n').map(isCode);
      const program = parse(stripTypeScriptTypes(text), {
        ecmaVersion: 'latest',
        sourceType: 'module',
        locations: true,
      });
      return nodesIn(program)
        .filter(({ type }) => /^(?:Arrow)?Function/.test(type))
        .map(({ loc }) => ({
          path,
          line: loc!.start.line,
          lines: code.slice(loc!.start.line - 1, loc!.end.line).filter(Boolean).length,
        }));
    })
    .sort((a, b) => b.lines - a.lines);

export const functionProblems = (sources: readonly Source[], allowed = LONG_FUNCTIONS_ALLOWED): readonly Problem[] =>
  longestFunctions(sources)
    .filter(({ path, lines }) => lines > FUNCTION_LINES_MAX && !allowed.includes(path))
    .map(
      ({ path, line, lines }) => `${path}:${line}: a function of ${lines} lines of code, at most ${FUNCTION_LINES_MAX}`,
    );

/** Returns listed files that no longer have a function above the limit. */
export const staleLongFunctions = (
  sources: readonly Source[],
  allowed = LONG_FUNCTIONS_ALLOWED,
): readonly Problem[] => {
  const long = new Set(functionProblems(sources, []).map((problem) => problem.split(':')[0]));
  return allowed
    .filter((path) => !long.has(path))
    .map(
      (path) => `${path} has no function that is too long: remove it from the list in test/support/tidy/functions.ts`,
    );
};
