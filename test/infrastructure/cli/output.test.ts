// Output of the command line: colors and tables on a terminal, plain lines elsewhere, and the progress of long work.
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import type { Position } from '../../../application/ports/eventStore.ts';
import { COMMANDS } from '../../../infrastructure/cli/commands.ts';
import { type Out, progressOn, screenOf, table } from '../../../infrastructure/cli/output.ts';
import { runCli } from '../../../infrastructure/cli/run.ts';
import { shareOf } from '../../../infrastructure/eventStore/share.ts';

const ESCAPE = String.fromCharCode(27);
const nowhere = { write: () => undefined };

describe('the output of the command line', () => {
  const HEAD = ['WHEN', 'WHO', 'AMOUNT', 'WHY'];
  const ROWS = [
    ['2026-11-22', 'Ana Souza', '10.00', 'no payer document was named by the bank of the payer'],
    ['2026-11-23', `Ed${ESCAPE}[2J`, '-1200.50', 'held'],
  ];

  it('is complete outside a terminal, with two spaces between cells', () => {
    const screen = screenOf(nowhere, { FORCE_COLOR: '' });
    expect(table(screen, HEAD, ROWS).split('\n')).to.deep.equal([
      '2026-11-22  Ana Souza  10.00  no payer document was named by the bank of the payer',
      '2026-11-23  Ed?[2J  -1200.50  held',
    ]);
  });
  it('has one line per row outside a terminal, whatever a payer’s name contains', () => {
    const forged = [['2026-11-24', 'Ana\r\n2026-11-25  Rui', '1.00', 'held']];
    expect(table(screenOf(nowhere, {}), HEAD, forged)).to.equal('2026-11-24  Ana??2026-11-25  Rui  1.00  held');
  });
  it('is an aligned table with a header on a terminal, no wider than it and without escape sequences from the data', () => {
    const on = (columns: number) => table(screenOf({ ...nowhere, isTTY: true, columns }, {}), HEAD, ROWS);
    expect(stripVTControlCharacters(on(120)).split('\n')).to.deep.equal([
      'WHEN        WHO          AMOUNT  WHY',
      '2026-11-22  Ana Souza     10.00  no payer document was named by the bank of the payer',
      '2026-11-23  Ed?[2J     -1200.50  held',
    ]);
    for (const columns of [80, 60, 44, 30])
      for (const line of stripVTControlCharacters(on(columns)).split('\n')) expect(line.length).to.be.at.most(columns);
    expect(stripVTControlCharacters(on(60)).split('\n')[1]).to.equal(
      '2026-11-22  Ana Souza     10.00  no payer document was name…',
    );
  });

  const COLOURS: readonly (readonly [boolean, Record<string, string>, boolean])[] = [
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { TERM: 'dumb' }, false],
    [false, { FORCE_COLOR: '1' }, true],
    [false, { FORCE_COLOR: '0' }, false],
    [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  ];
  for (const [isTTY, env, isColoured] of COLOURS)
    it(`on ${isTTY ? 'a terminal' : 'a pipe'} with ${JSON.stringify(env)} has ${isColoured ? 'colours' : 'none'}`, async () => {
      let shown = '';
      const out: Out = { write: (text) => (shown += text), isTTY };
      expect(await runCli(COMMANDS, ['--help'], env, out, nowhere)).to.equal(0);
      expect(shown.includes(ESCAPE)).to.equal(isColoured);
      expect(stripVTControlCharacters(shown)).to.match(/^Usage: npm run cli -- <command>/);
    });

  it('shows a progress bar on a terminal and removes it at the end', () => {
    const terminal = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
    const progress = progressOn(terminal, () => 0);
    progress.show(0.5, 'payments: 4000 events');
    progress.clear();
    progress.clear();
    const shown = String(terminal.read());
    expect(stripVTControlCharacters(shown)).to.match(/█{15}░{15} 50 % {2}payments: 4000 events/);
    expect(shown, 'the cursor is there again').to.contain(`${ESCAPE}[?25h`);
  });
  it('shows progress at most once a second outside a terminal', () => {
    let [nowMs, said] = [0, ''];
    const progress = progressOn({ write: (text) => (said += text) }, () => nowMs);
    for (const [atMs, share] of [
      [900, 0.1],
      [1_000, 0.259],
      [1_999, 0.3],
      [2_000, 0.5],
    ] as const) {
      nowMs = atMs;
      progress.show(share, `wallet: ${share * 1_000} events`);
    }
    progress.clear();
    expect(said).to.equal('25 %  wallet: 259 events\n50 %  wallet: 500 events\n');
  });
  it('measures progress along the log of either event store', () => {
    const of = (position: string | null, head: string | null) => shareOf(position as Position, head as Position);
    const digits = (n: number, width: number) => String(n).padStart(width, '0');
    expect(of(null, null)).to.equal(1);
    expect(of(null, digits(8, 19))).to.equal(0);
    expect(of(digits(2, 19), digits(8, 19))).to.equal(0.25);
    expect(of(`${digits(300, 20)}/${digits(300, 20)}`, `${digits(400, 20)}/${digits(399, 20)}`)).to.equal(0.75);
    expect(of(digits(9, 19), digits(8, 19))).to.equal(1);
  });
});
