// Texts in and on a merchant’s color are readable, whatever the color (rule O3; WCAG 2.2, 1.4.3).
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  CONTRAST_MIN,
  colorAsset,
  colorUrl,
  contrast,
  textOf,
  textOn,
} from '../../../../http/site/checkout/brandColor.ts';

const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
/** The style sheet with the backgrounds of both color schemes. */
const css = readFileSync(new URL('../../../../http/site/preferences.css', import.meta.url), 'utf8');
const [light = '', dark = ''] = css.split('@media (prefers-color-scheme: dark)');
const groundsOf = (text: string): string[] =>
  ['ground', 'card', 'soft'].map((name) => {
    const found = new RegExp(`--${name}: (#[0-9a-f]{3,6});`).exec(text)?.[1] as string;
    return found.length === 4 ? found.replace(/[0-9a-f]/g, '$&$&') : found;
  });

describe('a merchant’s color', () => {
  it('has the contrast that WCAG defines', () => {
    expect(contrast('#000000', '#ffffff')).to.equal(21);
    expect(contrast('#777777', '#777777')).to.equal(1);
    expect(contrast('#ffffff', '#777777')).to.be.closeTo(4.48, 0.005);
    expect(contrast('#ff0000', '#ffffff')).to.be.closeTo(4, 0.005);
  });
  it('has a readable text color on it', () => {
    fc.assert(fc.property(color, (any) => void expect(contrast(textOn(any), any)).to.be.at.least(CONTRAST_MIN)));
  });
  for (const [scheme, text] of [
    ['light', light],
    ['dark', dark],
  ] as const)
    it(`yields a readable text color on every background of the ${scheme} pages`, () => {
      const grounds = groundsOf(text);
      expect(grounds).to.have.length(3);
      fc.assert(
        fc.property(color, (any) => {
          for (const ground of grounds) expect(contrast(textOf(any, scheme), ground)).to.be.at.least(CONTRAST_MIN);
        }),
      );
    });
  it('is unchanged where it is readable', () => {
    expect([textOf('#046c55', 'light'), textOf('#4fd3ae', 'dark')]).to.deep.equal(['#046c55', '#4fd3ae']);
    expect([textOn('#ffe600'), textOn('#1a1a1a')]).to.deep.equal(['#000000', '#ffffff']);
    expect([textOf('#ffffff', 'dark'), textOf('#000000', 'light')]).to.deep.equal(['#ffffff', '#000000']);
  });
  it('has a style sheet that depends on its file name only', () => {
    const asset = colorAsset('ffe600.css');
    expect(asset?.contentType).to.equal('text/css; charset=utf-8');
    expect(String(asset?.body).split('\n')).to.deep.equal([
      `:root{--accent:#ffe600;--on-accent:#000000;--accent-text:${textOf('#ffe600', 'light')}}`,
      '@media (prefers-color-scheme:dark){:root{--accent-text:#ffe600}}',
      '',
    ]);
    expect(colorUrl('#ffe600')).to.equal(`/pay/colors/ffe600.css?v=${asset?.version}`);
  });
  for (const name of ['', 'ffe600', 'FFE600.css', 'ffe60.css', 'ffe600.css.css', '../ffe600.css', '}body{.css'])
    it(`has no style sheet named ${JSON.stringify(name)}`, () => expect(colorAsset(name)).to.equal(null));
  it('has no URL if it is invalid', () => expect(() => colorUrl('red')).to.throw(RangeError));
});
