// Reads of one turn are one call. Writes of callers that wait go together, and fail alone.
import { expect } from 'chai';
import { gatheredReads, groupedWrites } from '../../../infrastructure/postgres/gathered.ts';

describe('gathered reads', () => {
  it('read the keys of one turn with one call, each key once, and those of the next turn with another', async () => {
    const calls: (readonly string[])[] = [];
    const read = gatheredReads(async (keys) => {
      calls.push(keys);
      return new Map(keys.map((key) => [key, key.length]));
    });
    const [first, second] = await Promise.all([read(['a', 'bb']), read(['bb', 'ccc'])]);
    expect([first.get('bb'), second.get('ccc')]).to.deep.equal([2, 3]);
    expect((await read(['a'])).get('a')).to.equal(1);
    expect(calls).to.deep.equal([['a', 'bb', 'ccc'], ['a']]);
  });
});

describe('grouped writes', () => {
  interface Call {
    readonly items: readonly string[];
    readonly end: () => void;
    readonly fail: (error: Error) => void;
  }
  let calls: Call[];
  const writes = (itemsMax = 100) =>
    groupedWrites<string>((items) => new Promise<void>((end, fail) => calls.push({ items: [...items], end, fail })), {
      atOnce: 2,
      itemsMax,
    });
  const written = () => calls.map(({ items }) => items.join(''));
  const settled = async (): Promise<void> => void (await new Promise((resolve) => setImmediate(resolve)));
  beforeEach(() => {
    calls = [];
  });

  it('start at once while few are in progress; callers that wait are then written together', async () => {
    const write = writes();
    const all = ['a', 'b', 'c', 'd'].map((item) => write([item]));
    expect(written()).to.deep.equal(['a', 'b']);
    calls[0]?.end();
    await all[0];
    await settled();
    expect(written()).to.deep.equal(['a', 'b', 'cd']);
    for (const { end } of calls) end();
    await Promise.all(all);
    const late = write(['e']);
    expect(written()).to.deep.equal(['a', 'b', 'cd', 'e']);
    calls[3]?.end();
    await late;
  });

  it('are at most as large as allowed, unless one caller brings more', async () => {
    const write = writes(3);
    const all = [['a'], ['b'], ['c', 'd'], ['e'], ['f'], ['g', 'h', 'i', 'j'], ['k']].map((items) => write(items));
    for (let n = 0; n < 6; n++) {
      calls[n]?.end();
      await settled();
    }
    await Promise.all(all);
    expect(written()).to.deep.equal(['a', 'b', 'cde', 'f', 'ghij', 'k']);
  });

  it('reject only the caller whose items can’t be written', async () => {
    const write = writes();
    const outcomes = ['a', 'b', 'c', 'bad', 'e'].map((item) =>
      write([item]).then(
        () => `${item} written`,
        (error: Error) => `${item}: ${error.message}`,
      ),
    );
    for (let n = 0; n < 6; n++) {
      const { items, end, fail } = calls[n] as Call;
      if (items.includes('bad')) fail(new Error('invalid'));
      else end();
      await settled();
    }
    expect(await Promise.all(outcomes)).to.deep.equal([
      'a written',
      'b written',
      'c written',
      'bad: invalid',
      'e written',
    ]);
    expect(written()).to.deep.equal(['a', 'b', 'cbade', 'c', 'bad', 'e']);
  });
});
