// `npm run replay:day [-- --against <commit>]` replays a fixed day of traffic on this tree. It writes the day’s events, answers, reads and
// webhooks to bench-results/replay-<name>.txt, without values that always differ (ids, times, secrets). With --against, it replays the same
// day on a checkout of that commit, and prints "equal" or the first differences (exit code 1). `--against this` replays it on this tree
// twice. Days that contain civil dates must be compared on the same civil day.
import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Checkout, checkoutOf, ROOT, thisTree } from './checkout.ts';
import { playDay } from './replay/day.ts';
import { Merchant } from './replay/merchant.ts';
import { linesOf, recordingOf } from './replay/trace.ts';
import { Side } from './side.ts';

const RESULTS = join(ROOT, 'bench-results');
const LINES_SHOWN = 120;
const COLUMNS_SHOWN = 1_200;

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Returns the path of the file that contains the day. */
const replay = async (checkout: Checkout, name: string): Promise<string> => {
  const beganAt = performance.now();
  const side = await Side.open(checkout);
  const merchant = await Merchant.open(side);
  await playDay(merchant);
  await merchant.quiet();
  const lines = linesOf(await recordingOf(side, merchant));
  await side.close();
  await merchant.close();
  const file = join(RESULTS, `replay-${name}.txt`);
  await mkdir(RESULTS, { recursive: true });
  await writeFile(file, `${lines.join('\n')}\n`);
  say(`${name}: ${lines.length} lines, ${((performance.now() - beganAt) / 1_000).toFixed(0)} s, ${file}`);
  return file;
};

const { values } = parseArgs({ options: { against: { type: 'string' } } });
const { against } = values;
const other = against === undefined || against === 'this' ? thisTree : checkoutOf(against, say);
const ours = await replay(thisTree, 'this');
if (against === undefined) process.exit(0);
const theirs = await replay(other, against === 'this' ? 'again' : other.name);
const { stdout } = spawnSync('git', ['diff', '--no-index', '--unified=0', theirs, ours], { encoding: 'utf8' });
if (stdout === '') process.stdout.write('equal\n');
else {
  const shown = stdout.split('\n').slice(0, LINES_SHOWN);
  process.stdout.write(`${shown.map((line) => line.slice(0, COLUMNS_SHOWN)).join('\n')}\n`);
}
process.exit(stdout === '' ? 0 : 1);
