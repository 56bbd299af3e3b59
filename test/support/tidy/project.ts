// Rules about the project as a whole: dead files, migrations, scripts, environment variables, the README.
import { posix } from 'node:path';
import { importsOf, type Problem, type Source } from './source.ts';

export interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
}

/** Returns whether the file runs without an import by name: scripts, migrations and reactions (loaded by folder), tests, benches. */
const isEntry = (path: string, manifest: Manifest): boolean =>
  /^migrations\/\d/.test(path) ||
  /^test\/application\/\w+\/answers\.ts$/.test(path) ||
  path.endsWith('.test.ts') ||
  /^test\/(?:bench|soak)\//.test(path) ||
  Object.values(manifest.scripts).some((script) => script.split(/\s+/).includes(path));

/** Returns the files named in a text, because it may start them as separate programs (`new URL('./owner.ts', …)`). */
const namedBy = ({ path, text }: Source): readonly string[] =>
  [...text.matchAll(/['"`]([\w./-]+\.ts)['"`]/g)].flatMap(([, name = '']) => [
    posix.join(posix.dirname(path), name),
    posix.normalize(name),
  ]);

export const deadFileProblems = (sources: readonly Source[], manifest: Manifest): readonly Problem[] => {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const alive = new Set<string>();
  const visit = (path: string): void => {
    const source = byPath.get(path);
    if (source === undefined || alive.has(path)) return;
    alive.add(path);
    for (const { target, isOurs } of importsOf(source)) if (isOurs) visit(target);
    for (const name of namedBy(source)) visit(name);
  };
  for (const { path } of sources) if (isEntry(path, manifest)) visit(path);
  return sources
    .filter(({ path }) => !alive.has(path))
    .map(({ path }) => `${path}: nothing that runs imports it: delete it`);
};

export const migrationProblems = (names: readonly string[]): readonly Problem[] =>
  [...names].sort().flatMap((name, i) => {
    const number = String(i + 1).padStart(4, '0');
    return new RegExp(`^${number}_[a-zA-Z]\\w*\\.ts$`).test(name)
      ? []
      : [`migrations/${name}: expected number ${number} here, without gap or repeat`];
  });

/** Scripts must use `exec`. Otherwise the shell of npm would receive the program’s signals and end first (S5). */
const NEEDED_SCRIPTS = ['start', 'test', 'check', 'demo', 'bench', 'cli'];
const NOT_A_PROGRAM = ['check'];
export const scriptProblems = ({ scripts }: Manifest, exists: (path: string) => boolean): readonly Problem[] => [
  ...NEEDED_SCRIPTS.filter((name) => scripts[name] === undefined).map((name) => `package.json has no script "${name}"`),
  ...Object.entries(scripts).flatMap(([name, script]) => [
    ...(NOT_A_PROGRAM.includes(name) || script.startsWith('exec ')
      ? []
      : [`package.json: "${name}" must begin with exec`]),
    ...(script.match(/(?<=\s)[\w/.-]+\.ts\b/g) ?? [])
      .filter((path) => !exists(path))
      .map((path) => `package.json: "${name}" runs ${path}, which does not exist`),
  ]),
];

/** Returns the names of environment variables that a source reads. */
export const variablesRead = (text: string): readonly string[] =>
  [...new Set([...text.matchAll(/\benv(?:\[|, )'([A-Z][A-Z0-9_]*)'/g)].map(([, name]) => name as string))].sort();

const variablesOfExample = (text: string): readonly string[] =>
  [...text.matchAll(/^(?:# ?)?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name as string);
/** Returns variables in table rows and before a command of ours. Capitalized words elsewhere are not variables of the program. */
const variablesOfReadme = (text: string): readonly string[] => [
  ...[...text.matchAll(/^\| *`([A-Z][A-Z0-9_]*)`/gm)].map(([, name]) => name as string),
  ...[...text.matchAll(/^.*(?=\b(?:npm|node) )/gm)].flatMap(([before]) =>
    [...before.matchAll(/\b([A-Z][A-Z0-9_]*)=(?!\$\()\S/g)].map(([, name]) => name as string),
  ),
];

/** Variables set by others, or used only by tests. */
const NOT_OURS = [
  'TEST_DATABASE_URL',
  ...['URL', 'CA_FILE', 'USERNAME', 'PASSWORD'].map((name) => `TEST_EVENTSTORE_${name}`),
];

export const variableProblems = (config: string, example: string, readme: string): readonly Problem[] => {
  const read = variablesRead(config);
  const examples = variablesOfExample(example);
  return [
    ...read.filter((name) => !examples.includes(name)).map((name) => `.env.example does not list ${name}`),
    ...read
      .filter((name) => !new RegExp(`\\b${name}\\b`).test(readme))
      .map((name) => `README.md does not name ${name}`),
    ...examples.filter((name) => !read.includes(name)).map((name) => `.env.example lists ${name}, which nothing reads`),
    ...variablesOfReadme(readme)
      .filter((name) => !read.includes(name) && !NOT_OURS.includes(name))
      .map((name) => `README.md sets ${name}, which nothing reads`),
  ];
};

const PROMISED = ['npm ci && npm start', 'npm ci && npm test'];
export const readmeProblems = (readme: string): readonly Problem[] =>
  PROMISED.filter((command) => !readme.includes(command)).map((command) => `README.md does not name \`${command}\``);
