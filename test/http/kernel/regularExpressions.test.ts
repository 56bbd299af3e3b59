// No regular expression of the product backtracks without bound: each is run on pumped inputs (issue 18, point 1).

import { expect } from 'chai';
import { documentIn } from '../../../application/privacy/heldData.ts';
import { ROUTES } from '../../../http/api/routes.ts';
import { MESSAGE_MAX, SENTENCES } from '../../../http/site/dashboard/texts/refusals.ts';
import { expressionsIn, expressionsOf, type Found, pumpedFor, textOf } from '../../support/regularExpressions.ts';
import { readSources } from '../../support/tidy/source.ts';

const ROOT = new URL('../../../', import.meta.url);
/** As long as all headers of a request together; fields of a body that are matched are hardly longer. */
const LENGTH_MAX = 16_000;
/** Linear expressions take less than 1 ms, quadratic ones a hundred. CPU time is measured in steps of 4 ms. */
const CPU_MS_MAX = 20;
/** More than the noise of a shared machine can add. */
const CPU_MS_CERTAIN = 100;
const TRIES = 3;
const SHORTEST = 24;
const NOTICEABLE_MS = 0.2;

/** Expressions that are slow on long inputs, with the longest input they get and why it can't be longer. */
const BOUNDED: { readonly [name: string]: readonly [length: number, why: string] } = {
  'domain/kernel/money.ts /\\B(?=(\\d{3})+$)/g': [16, 'digits of an amount that the gateway holds'],
  'http/kernel/address.ts /(\\d+)\\.(\\d+)\\.(\\d+)\\.(\\d+)$/': [45, 'an IPv6 address without its zone'],
  'http/kernel/address.ts /\\d+$/': [15, 'an IPv4 address'],
  'projections/engine/parking.ts /[^\\s"\'<>]+@[^\\s"\'<>]+/g': [1_000, 'the message of an error, cut before'],
  'infrastructure/config/config.ts /\\/+$/': [2_000, 'a variable of the environment'],
  'infrastructure/cli/explain.ts /\\s*\\n\\s*/g': [2_000, 'the message of a database, for its operator'],
  'infrastructure/embeddedPostgres/error.ts /\\s*\\n\\s*/g': [2_000, 'the output of a program that the start runs'],
};

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/**
 * Returns milliseconds. Elapsed time is cheaper to read and never less than CPU time, so it proves that an input is cheap. Slow inputs are
 * judged by the least CPU time of several tries, because the machine is shared.
 */
const costOf = (expression: RegExp, text: string): number => {
  const started = performance.now();
  text.replace(expression, '');
  const elapsed = performance.now() - started;
  if (elapsed <= CPU_MS_MAX) return elapsed;
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < TRIES && least > CPU_MS_MAX; attempt++) {
    const before = cpuMs();
    text.replace(expression, '');
    const cost = cpuMs() - before;
    if (cost >= CPU_MS_CERTAIN) return cost;
    least = Math.min(least, cost);
  }
  return least;
};

/** Returns the next length to try. Slower lengths get smaller steps, so that exponential and cubic expressions stop early. */
const after = (length: number, costMs: number): number => length * (costMs < NOTICEABLE_MS ? 10 : 2);

/** Returns the first pumped text that exceeds the limit, from short to long, or null. */
const tooDear = (expression: RegExp, lengthMax: number): string | null => {
  for (const pumped of pumpedFor(expression)) {
    let length = Math.min(SHORTEST, lengthMax);
    for (;;) {
      const costMs = costOf(expression, textOf(pumped, length));
      if (costMs > CPU_MS_MAX) return `${JSON.stringify(pumped)} × ${length}`;
      if (length === lengthMax) break;
      length = Math.min(after(length, costMs), lengthMax);
    }
  }
  return null;
};

describe('regular expressions', () => {
  const files = readSources(ROOT.pathname).filter(({ path }) => !/^(?:test|migrations)\//.test(path));
  const all = new Map<string, readonly Found[]>([
    ...files.map(({ path }) => [path, expressionsIn(path, ROOT)] as const),
    ['patterns of bodies', expressionsOf(ROUTES)],
  ]);

  for (const [where, found] of all)
    if (found.length > 0)
      it(`in ${where} handle pumped inputs (${found.length} expressions)`, () => {
        for (const { name, expression } of found)
          expect(tooDear(expression, BOUNDED[name]?.[0] ?? LENGTH_MAX), name).to.equal(null);
      });

  it('with a bounded input exist, and exceed the limit without their bound', () => {
    const names = new Map([...all.values()].flat().map(({ name, expression }) => [name, expression]));
    for (const name of Object.keys(BOUNDED)) {
      const expression = names.get(name);
      expect(expression, name).to.not.equal(undefined);
      expect(tooDear(expression as RegExp, LENGTH_MAX), name).to.not.equal(null);
    }
  });
  it('are detected by this method if quadratic, cubic or exponential', () => {
    for (const expression of [
      /ak_(?:test|live)_[\w-]+|eyJ[\w-]+\.[\w-]+\.[\w-]*/g, // Once masked the paths of requests.
      /\s+$/,
      /^(\w+\s?)*$/,
      /(a|a)*b/,
      /(.*)=(.*);!$/,
    ])
      expect(tooDear(expression, LENGTH_MAX), String(expression)).to.not.equal(null);
  });
  it('are only built at run time in four files', () => {
    const made = files.filter(({ text }) => /\bRegExp\(/.test(text)).map(({ path }) => path);
    expect(made).to.deep.equal([
      'application/privacy/heldData.ts',
      'infrastructure/eventStore/eventStoreDb/originalTimestamp.ts',
      'infrastructure/evidence/pdfActions.ts',
      'http/site/dashboard/texts/refusals.ts',
    ]);
  });
  it('that recognize a document handle pumped texts', () => {
    for (const document of ['15350946056', '11111111112', 'AAAAAAAAAAAA01'])
      expect(tooDear(documentIn(document), LENGTH_MAX), document).to.equal(null);
  });
  it('that recognize rejection messages handle pumped messages', () => {
    for (const { pattern } of SENTENCES) expect(tooDear(pattern, MESSAGE_MAX), String(pattern)).to.equal(null);
  });
});
