// Every citation in code and documents has a target: rules, sections of the architecture and the contract, files of this repository.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { expect } from 'chai';

const ROOT = join(import.meta.dirname, '..');
const CODE = ['domain', 'application', 'projections', 'infrastructure', 'http', 'migrations', 'test'];
const SELF = relative(ROOT, import.meta.filename);

const listed = async (folder: string, ending: RegExp): Promise<readonly string[]> =>
  (await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .toSorted();
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const RULES = new Set(
  [...read('docs/rules.md').matchAll(/^- \*\*([A-Z]\d+[a-z]?)\*\*/gm)].map(([, id]) => id as string),
);
const LETTERS = [...new Set([...RULES].map((id) => id.charAt(0)))].join('');
const SECTIONS = new Set(
  [...read('docs/architecture.md').matchAll(/^## (\d+)\./gm)].map(([, number]) => number as string),
);
const headingsOf = (path: string): readonly string[] =>
  [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, title]) => title as string);
const TITLES = { 'contract.md': headingsOf('docs/contract.md'), 'pix.md': headingsOf('docs/pix.md') };

/** Returns comments only, because a name such as `K7` in code is not a citation. */
const commentsOf = (text: string): string =>
  [...text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm)].map(([comment]) => comment).join('\n');
/** Joins lines, because a citation may span two lines of a comment. */
const flat = (text: string): string => text.replaceAll(/\n\s*(\/\/|\*)?\s*/g, ' ');

const ruleProblems = (text: string): readonly string[] =>
  [...text.matchAll(new RegExp(String.raw`(?<![\w.#-])([${LETTERS}]\d{1,2}[a-z]?)(?![\w-])`, 'g'))]
    .map(([, id]) => id as string)
    .filter((id) => !RULES.has(id));
const sectionProblems = (text: string): readonly string[] =>
  [...text.matchAll(/§(\d+)/g)].map(([, number]) => number as string).filter((number) => !SECTIONS.has(number));
const titleProblems = (text: string): readonly string[] =>
  Object.entries(TITLES).flatMap(([file, titles]) =>
    [
      ...text.matchAll(
        new RegExp(String.raw`(?<![\w/])${file.replace('.', String.raw`\.`)},? "?([A-Z][^"(),;.:]*)`, 'g'),
      ),
    ]
      .map(([, cited = '']) => cited.trim())
      .filter((cited) => !titles.some((title) => cited.startsWith(title) || title.startsWith(cited)))
      .map((cited) => `${file} ${cited}`),
  );
const DOCUMENTS = new Set(
  readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !path.startsWith('node_modules'))
    .map((path) => path.replaceAll('\\', '/')),
);
/** Finds documents outside the repository, which readers can’t open. A citation must be a name or the end of a path of ours. */
const documentProblems = (text: string): readonly string[] =>
  [...text.matchAll(/(?<![\w/.-])[\w./-]*\w\.md\b/g)]
    .map(([cited]) => cited.replace(/^(?:\.\.?\/)+/, ''))
    .filter((cited) => ![...DOCUMENTS].some((path) => path === cited || path.endsWith(`/${cited}`)));
/** Finds missing paths of this repository, and links that are missing relative to their document. */
const pathProblems = (path: string, text: string): readonly string[] => {
  const rooms = [...CODE, 'docs'].join('|');
  const mentioned = [
    ...text.matchAll(new RegExp(String.raw`(?<![\w/.-])((?:${rooms})/[\w./-]*\w\.(?:ts|md|mjs|css|js))`, 'g')),
  ]
    .map(([, target]) => target as string)
    .filter((target) => !existsSync(join(ROOT, target)));
  const linked = path.endsWith('.md')
    ? [...text.matchAll(/\]\((?!https?:|#|mailto:|\/)([^)#\s]+)/g)]
        .map(([, target]) => target as string)
        .filter((target) => !existsSync(join(ROOT, dirname(path), target)))
    : [];
  return [...mentioned, ...linked];
};

describe('citations', () => {
  it('in code have a target: a rule, a section or a file', async () => {
    const problems: string[] = [];
    for (const path of (await Promise.all(CODE.map((folder) => listed(folder, /\.(ts|mjs|js|css)$/)))).flat()) {
      if (path === SELF || path === 'test/tidy.test.ts' || path.startsWith('test/support/tidy/')) continue;
      const text = flat(commentsOf(read(path)));
      const found = [
        ...ruleProblems(text),
        ...sectionProblems(text),
        ...titleProblems(text),
        ...documentProblems(text),
        ...pathProblems(path, text),
      ];
      problems.push(...found.map((citation) => `${path}: ${citation}`));
    }
    expect(problems, `\n${problems.join('\n')}\n`).to.deep.equal([]);
  });

  it('in documents have a target: a rule, a section or a file', async () => {
    const problems: string[] = [];
    for (const path of ['README.md', ...(await listed('docs', /\.md$/))]) {
      const text = read(path);
      const found = [...titleProblems(text), ...documentProblems(text), ...pathProblems(path, text)];
      problems.push(...found.map((citation) => `${path}: ${citation}`));
    }
    expect(problems, `\n${problems.join('\n')}\n`).to.deep.equal([]);
  });

  it('without a target are found', () => {
    expect(ruleProblems('as rule W99 says (M4, K77)')).to.deep.equal(['W99', 'K77']);
    expect(sectionProblems('architecture §7 and §77')).to.deep.equal(['77']);
    expect(titleProblems('(contract.md Refunds; contract.md Nowhere)')).to.deep.equal(['contract.md Nowhere']);
    const others = 'see shared/decisions.md, design.md §3, ../shared/pix.md, docs/pix.md, pix.md and contract.md';
    expect(documentProblems(others)).to.deep.equal(['shared/decisions.md', 'design.md', 'shared/pix.md']);
    expect(pathProblems('docs/a.md', 'domain/nothing.ts [x](nothing.md) [y](rules.md)')).to.deep.equal([
      'domain/nothing.ts',
      'nothing.md',
    ]);
  });

  it('exist for every rule', async () => {
    const cited = new Set<string>();
    for (const path of (await Promise.all(CODE.map((folder) => listed(folder, /\.ts$/)))).flat())
      for (const [id] of read(path).matchAll(/(?<![\w.#-])[A-Z]\d{1,2}[a-z]?(?![\w-])/g)) cited.add(id);
    // Rules without an implementation have no code that could cite them.
    const TO_COME = ['X4', 'D1', 'D2', 'D3'];
    expect([...RULES].filter((id) => !cited.has(id) && !TO_COME.includes(id))).to.deep.equal([]);
  });
});
