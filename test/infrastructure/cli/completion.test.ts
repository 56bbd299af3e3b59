// The script of `completion`, run in a real bash: it suggests the words that may follow the typed ones.
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { COMMANDS } from '../../../infrastructure/cli/commands.ts';
import { completionScript } from '../../../infrastructure/cli/completion.ts';
import { runCli } from '../../../infrastructure/cli/run.ts';

const ROOT = '/srv/quita';
/** Returns the suggestions for each list of typed words, whose last word may be incomplete or empty. One bash runs all. */
const completed = (asked: readonly (readonly string[])[], program = '_quita'): readonly (readonly string[])[] => {
  const quoted = (word: string) => `'${word}'`;
  const lines = asked.map((words) => `ask ${words.map(quoted).join(' ')}`);
  const script = [
    completionScript('bash', COMMANDS, ROOT),
    `ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); ${program}; echo "\${COMPREPLY[*]}"; }`,
    ...lines,
  ].join('\n');
  const out = execFileSync('bash', ['--norc', '--noprofile', '-u'], { input: script, encoding: 'utf8' });
  return out
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' ').filter((word) => word !== ''));
};

describe('shell completion', () => {
  it('suggests every command, its options and their values', () => {
    const cases = COMMANDS.flatMap(({ name, args, options }) => {
      const words = ['quita', ...name.split(' ')];
      const isChoice = (i: number) => args[i]?.choices ?? [];
      return [
        { words, expected: [words.at(-1) as string] },
        { words: [...words, ''], expected: isChoice(0) },
        {
          words: [...words, '--'],
          expected: [...Object.keys(options).map((each) => `--${each}`), '--json', '--help', '--version'],
        },
        ...Object.entries(options).flatMap(([option, { flag, choices }]) =>
          flag ? [] : [{ words: [...words, `--${option}`, ''], expected: choices ?? [] }],
        ),
      ];
    });
    const answers = completed(cases.map(({ words }) => words));
    for (const [i, { words, expected }] of cases.entries()) expect(answers[i], words.join(' ')).to.deep.equal(expected);
  });

  it('completes partial words, values after "=", and words after leading options', () => {
    const CASES: readonly (readonly [string, string])[] = [
      [
        '',
        'account key user held med payout provider reconcile privacy jobs order projections parked events ledger requests deliveries dlq statement audit analytics doctor secrets listen trigger demo completion help',
      ],
      ['acc', 'account'],
      ['account ', 'create list settings suspend reopen'],
      ['help projections v', 'verify'],
      ['account create --name Loja --e', '--email'],
      ['account settings acct_1 --rate-limit 5 --ch', '--charge-window'],
      ['account list ', ''],
      ['frobnicate ', ''],
      ['completion bash ', ''],
      ['completion z', 'zsh'],
      ['--json projections rebuild wal', 'wallet'],
      ['parked list --consumer = wal', 'wallet'],
    ];
    const answers = completed(CASES.map(([line]) => ['quita', ...line.split(' ')]));
    for (const [i, [line, expected]] of CASES.entries()) expect(answers[i]?.join(' '), line).to.equal(expected);
  });

  it('completes after npm run cli --, and calls the earlier completion for other npm commands', () => {
    const words = [
      ['npm', 'run', 'cli', '--', 'held', 'r'],
      ['npm', 'run', '-s', 'cli', '--', 'doct'],
      ['npm', 'run', 'c'],
    ];
    expect(completed(words, '_quita_npm')).to.deep.equal([['release', 'return'], ['doctor'], []]);
    const other = 'other() { COMPREPLY=(theirs); }; complete -F other npm';
    const asked = 'COMP_WORDS=(npm in); COMP_CWORD=1; _quita_npm; echo "$COMPREPLY"';
    const input = [other, completionScript('bash', COMMANDS, ROOT), asked].join('\n');
    expect(execFileSync('bash', ['--norc'], { input, encoding: 'utf8' })).to.equal('theirs\n');
  });

  it('is printed for each shell, without a database or a valid configuration', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      let [out, err] = ['', ''];
      const code = await runCli(
        COMMANDS,
        ['completion', shell],
        { PORT: 'wrong' },
        { write: (text) => (out += text) },
        { write: (text) => (err += text) },
      );
      expect([code, err]).to.deep.equal([0, '']);
      expect(out).to.match(new RegExp(`^# ${shell} completion of Quita's command line: `));
      for (const { name } of COMMANDS) expect(out, shell).to.contain(`'${name}'`);
    }
  });
});
