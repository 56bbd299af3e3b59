// Runs the analysts’ guide: a fresh start, `demo --seed`, a granted role, and every question with its answer. The seeded read models equal
// a replay. GUIDE=write writes the answers into both languages.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import pg from 'pg';
import { freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';

const run = promisify(execFile);
const FILES = ['en', 'pt'].map((language) => ({
  language,
  url: new URL(`../../docs/guides/${language === 'en' ? '' : 'pt/'}analytics.md`, import.meta.url),
}));
const CLI = new URL('../../infrastructure/boot/cli.ts', import.meta.url).pathname;
const QUESTIONS = 20;

/** A question’s SQL and the table below it. */
const BLOCK = /^```sql\n([\s\S]*?)^```\n(?:\n((?:^\|.*\n)+))?/gm;

interface Question {
  readonly sql: string;
  readonly answer: string;
}
const questionsOf = (url: URL): readonly Question[] =>
  [...readFileSync(url, 'utf8').matchAll(BLOCK)].map(([, sql = '', answer = '']) => ({ sql, answer }));

const tableOf = ({ fields, rows }: pg.QueryArrayResult<unknown[]>): string => {
  const line = (cells: readonly unknown[]): string => `| ${cells.map((cell) => cell ?? 'null').join(' | ')} |\n`;
  const names = fields.map(({ name }) => name);
  return line(names) + line(names.map(() => '---')) + rows.map(line).join('');
};

describe('the analysts’ guide', () => {
  let dataDir: string;
  let program: Program;
  let analyst: pg.Client;
  const cli = async (...words: string[]) => {
    const env = { ...process.env, DATA_DIR: dataDir };
    return (await run(process.execPath, [CLI, ...words], { env, timeout: 600_000 })).stdout;
  };

  before(async function () {
    this.timeout(600_000);
    dataDir = await newDataDir();
    program = await new Program({ dataDir, port: await freePort() }).ready();
    await cli('demo', '--seed', '--json');
    const { address, password } = JSON.parse(await cli('analytics', 'grant', 'maria', '--json')) as Record<
      string,
      string
    >;
    analyst = new pg.Client({
      connectionString: Object.assign(new URL(address as string), { password }).href,
      types: { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig,
    });
    await analyst.connect();
  });
  after(async () => {
    await analyst?.end();
    await program?.stop();
    await removeDataDir(dataDir);
  });

  const answerTo = async (sql: string): Promise<string> =>
    tableOf(await analyst.query({ text: sql, rowMode: 'array' }));

  for (const { language, url } of FILES)
    it(`shows the right answers (${language})`, async () => {
      const answers: string[] = [];
      const questions = questionsOf(url);
      for (const { sql } of questions) answers.push(await answerTo(sql));
      expect(answers.length).to.equal(QUESTIONS);
      if (process.env['GUIDE'] === 'write') {
        const rest = answers.values();
        const filled = readFileSync(url, 'utf8').replaceAll(
          BLOCK,
          (_, sql) => `\`\`\`sql\n${sql}\`\`\`\n\n${rest.next().value}`,
        );
        writeFileSync(url, filled);
      }
      expect(questionsOf(url).map(({ answer }) => answer)).to.deep.equal(answers);
    });

  it('contains the same SQL in both languages', () => {
    const [english, portuguese] = FILES.map(({ url }) => questionsOf(url).map(({ sql }) => sql));
    expect(portuguese).to.deep.equal(english);
  });

  it('is based on read models that equal a replay of the events', async () => {
    expect(await cli('projections', 'verify')).to.match(/: 0 differences$/m);
  });

  it('relies on `demo --seed`, which fails the second time', async () => {
    const again = await cli('demo', '--seed').catch(({ stderr }: { stderr: string }) => stderr);
    expect(again).to.match(/^quita: the shops of the demo exist already/);
  });
});
