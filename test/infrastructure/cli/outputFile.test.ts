// Output files of commands: complete or absent, however a command ends, and one writer at a time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { UsageError } from '../../../infrastructure/cli/command.ts';
import { writeOutput, writingAlone } from '../../../infrastructure/cli/outputFile.ts';
import { runCopy } from '../../../infrastructure/databaseCopy/program.ts';
import { runWords, toolEnv } from '../../support/cli.ts';
import { startedDatabase, TestGateway } from '../../world/gateway.ts';
import type { TestDatabase } from '../../world/postgres.ts';

const MODULE = fileURLToPath(new URL('../../../infrastructure/cli/outputFile.ts', import.meta.url));

describe('a file that a command writes', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'quita-output-'));
    file = join(folder, 'out.csv');
    writeFileSync(file, 'old');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const refusal = async (work: Promise<unknown>): Promise<string> => {
    const error = await work.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(UsageError);
    return (error as UsageError).message.replaceAll(folder, '');
  };
  const content = () => readFileSync(file, 'utf8');

  it('is replaced once the new one is complete, and no draft is left', async () => {
    const result = await writeOutput(file, async (draft) => {
      await writeFile(draft, 'half,', { flag: 'wx' });
      expect(content()).to.equal('old');
      await appendFile(draft, 'whole');
      return 7;
    });
    expect([result, content(), readdirSync(folder)]).to.deep.equal([7, 'half,whole', ['out.csv']]);
  });

  it('stays unchanged if the command fails or is stopped', async () => {
    const stopped = new Error('stopped');
    const writing = writeOutput(file, async (draft) => {
      await writeFile(draft, 'half');
      throw stopped;
    });
    expect(await writing.catch((error: unknown) => error)).to.equal(stopped);
    expect([content(), readdirSync(folder)]).to.deep.equal(['old', ['out.csv']]);
  });

  it('has one writer: a second one is rejected without effect', async () => {
    const second = 'another command is writing /out.csv: wait until it ends, or choose another path';
    await writeOutput(file, async (draft) => {
      await writeFile(draft, 'first', { flag: 'wx' });
      expect(await refusal(writeOutput(file, (other) => writeFile(other, 'second')))).to.equal(second);
    });
    expect(content()).to.equal('first');
    await writeOutput(file, (draft) => writeFile(draft, 'third'));
    expect(content()).to.equal('third');
  });

  it('stays unchanged if the process is killed, and later commands can write it', async () => {
    const program = `
      const { writeOutput } = await import(process.argv[1]);
      const { writeFile } = await import('node:fs/promises');
      await writeOutput(process.argv[2], async (draft) => {
        await writeFile(draft, 'half');
        process.kill(process.pid, 'SIGKILL');
      });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, MODULE, file], { stdio: 'ignore' });
    expect(await once(child, 'exit')).to.deep.equal([null, 'SIGKILL']);
    expect(content()).to.equal('old');
    expect(existsSync(`${file}.part`)).to.equal(true);
    await writeOutput(file, (draft) => writeFile(draft, 'whole', { flag: 'wx' }));
    expect([content(), readdirSync(folder)]).to.deep.equal(['whole', ['out.csv']]);
  });

  it('is rejected if it can’t be written, and written directly if it is not a regular file', async () => {
    const never = () => expect.fail('was written');
    expect(await refusal(writeOutput(join(folder, 'no', 'x'), never))).to.equal("/no/x can't be written (ENOENT)");
    expect(await refusal(writeOutput(file, never, { isNew: true }))).to.equal("/out.csv can't be written (EEXIST)");
    for (const options of [{}, { isNew: true }])
      expect(await refusal(writeOutput(folder, never, options))).to.equal(' is a folder: name a file');
    const link = join(folder, 'link');
    symlinkSync('/dev/null', link);
    expect(await writeOutput(link, async (draft) => draft)).to.equal(link);
    expect(lstatSync(link).isSymbolicLink()).to.equal(true);
  });
});

describe('commands that write files', () => {
  let database: TestDatabase;
  let account: string;
  let folder: string;
  before(async () => {
    database = await startedDatabase();
    const gateway = await TestGateway.open({ database });
    account = `acct_${gateway.tenant.accountId}`;
    await gateway.close();
    folder = mkdtempSync(join(tmpdir(), 'quita-output-'));
  });
  after(async () => {
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  const cli = async (...words: string[]): Promise<string> => {
    const { code, err } = await runWords(database.connectionString, ...words);
    expect(code).to.equal(2);
    return err;
  };
  const dump = async (out: string): Promise<string> => {
    const said: string[] = [];
    const screen = { write: (text: string) => void said.push(text) };
    expect(await runCopy('dump', ['--out', out], { ...toolEnv(database.connectionString) }, screen, screen)).to.equal(
      2,
    );
    return said.join('');
  };
  for (const [name, lockOf, run] of [
    ['statement', (out: string) => `${out}.lock`, (out: string) => cli('statement', account, '2026-01', '--out', out)],
    [
      'analytics export',
      (out: string) => `${out}.lock`,
      (out: string) => cli('analytics', 'export', '--table', 'payments', '--format', 'csv', '--out', out),
    ],
    ['audit export', () => join(folder, '.lock'), () => cli('audit', 'export', '--out', folder)],
    ['dump', (out: string) => `${out}.lock`, dump],
  ] as const)
    it(`${name} is rejected while another command writes to the same path`, async () => {
      const out = join(folder, name);
      const said = await writingAlone(out, lockOf(out), () => run(out));
      const path = name === 'audit export' ? folder : out;
      // No program runs, so commands also warn that read models are behind.
      expect(said.split('\n').slice(-2).join('\n')).to.equal(
        `quita: another command is writing ${path}: wait until it ends, or choose another path\n`,
      );
      expect(readdirSync(folder)).to.deep.equal([]);
    });
});
