import { expect } from 'chai';
import fc from 'fast-check';
import { csvField, csvTextField } from '../../../domain/presentation/csv.ts';

describe('CSV fields', () => {
  it('are quoted only if they contain a comma, a quote or a line break', () => {
    const texts = ['', 'a b', '-1', 'a,b', 'a"b', 'a\nb', 'a\rb'];
    expect(texts.map(csvField)).to.deep.equal(['', 'a b', '-1', '"a,b"', '"a""b"', '"a\nb"', '"a\rb"']);
  });

  it('with free text are escaped so that spreadsheets don’t read them as formulas', () => {
    const formulas = ['=1+1', '+1', '-1', '@SUM(1)', '\t=1', '\r=1', '=HYPERLINK("a","b")'];
    expect(formulas.map(csvTextField)).to.deep.equal([
      ...["'=1+1", "'+1", "'-1", "'@SUM(1)", "'\t=1", '"\'\r=1"', '"\'=HYPERLINK(""a"",""b"")"'],
    ]);
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(csvTextField(text).replace(/^"/, '')).to.not.match(/^[=+\-@\t\r]/);
      }),
    );
  });

  it('with other free text are unchanged', () => {
    for (const text of ['', 'Maria', '1=1', "'=1", 'a-b', ' =1']) expect(csvTextField(text)).to.equal(csvField(text));
  });
});
