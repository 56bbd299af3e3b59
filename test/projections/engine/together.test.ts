// Concurrent work in one transaction: when it ends, and which failure is reported.
import { expect } from 'chai';
import { failureOf, together } from '../../../projections/engine/together.ts';

const failing = (message: string, code?: string) => async () => {
  throw Object.assign(new Error(message), { code });
};

describe('concurrent work in one transaction', () => {
  it('starts all of it before any ends, and resolves when all has ended', async () => {
    const said: string[] = [];
    const work = (name: string, turns: number) => async () => {
      said.push(`${name} begun`);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      said.push(`${name} ended`);
    };
    await together([work('a', 3), work('b', 1)]);
    expect(said).to.deep.equal(['a begun', 'b begun', 'b ended', 'a ended']);
  });

  it('fails with the first failure that is not a consequence of another', async () => {
    const consequences = [failing('aborted', '25P02'), failing('not prepared', '26000')];
    const works = [...consequences, failing('real', '23505'), failing('another', '22012')];
    expect(await failureOf(works)).to.deep.include({ index: 2 });
    const error = await together(works).catch((caught: Error) => caught.message);
    expect(error).to.equal('real');
  });

  it('fails with a consequence if no cause is known, and with an error thrown synchronously', async () => {
    expect(await failureOf([async () => 1, failing('aborted', '25P02')])).to.deep.include({ index: 1 });
    const thrown = () => {
      throw new TypeError('at once');
    };
    expect((await failureOf([async () => 1, thrown]))?.error).to.be.instanceOf(TypeError);
    expect(await failureOf([async () => 1])).to.equal(null);
  });

  it('waits for the rest after a failure', async () => {
    let isDone = false;
    const slow = async () => {
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
      isDone = true;
    };
    await failureOf([failing('real'), slow]);
    expect(isDone).to.equal(true);
  });
});
