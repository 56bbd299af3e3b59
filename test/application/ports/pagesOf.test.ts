// Reading in pages: every row once, in order, and no further read after a short page.
import { expect } from 'chai';
import { pagesOf } from '../../../application/ports/pagesOf.ts';

describe('pagesOf', () => {
  /** Returns pages of the numbers from 1, and the keys after which they were read. */
  const read = async (count: number, limit: number) => {
    const asked: (number | null)[] = [];
    const numbers = Array.from({ length: count }, (_, n) => n + 1);
    const page = async (last: number | null) => {
      asked.push(last);
      return { rows: numbers.filter((n) => n > (last ?? 0)).slice(0, limit) };
    };
    const pages: (readonly string[])[] = [];
    const shown = (rows: readonly number[]) => rows.flatMap((n) => (n === 2 ? [] : [`${n}`]));
    for await (const items of pagesOf(limit, page, shown)) pages.push(items);
    return { asked, pages };
  };

  it('reads after the last row of the previous page, even if rows are filtered out', async () => {
    expect(await read(5, 2)).to.deep.equal({ asked: [null, 2, 4], pages: [['1'], ['3', '4'], ['5']] });
  });
  it('ends with an empty page after a full one, and with the first page if there are no rows', async () => {
    expect(await read(4, 2)).to.deep.equal({ asked: [null, 2, 4], pages: [['1'], ['3', '4'], []] });
    expect(await read(0, 2)).to.deep.equal({ asked: [null], pages: [[]] });
  });
  it('reads no page that is not consumed', async () => {
    let reads = 0;
    const page = async () => {
      reads += 1;
      return { rows: [reads] };
    };
    for await (const _ of pagesOf(1, page, (rows) => rows)) if (reads === 2) break;
    expect(reads).to.equal(2);
  });
});
