// Every guide exists in English and Portuguese, with the same headings, code, tables and links.
import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { Marked, type Token, type Tokens } from 'marked';
import { GUIDES } from '../../http/site/docs/guides.ts';

const FOLDER = new URL('../../docs/guides/', import.meta.url);
const NAMES = GUIDES.map(({ path }) => `${path.slice('/docs/'.length)}.md`);

const filesOf = (folder: string): readonly string[] =>
  readdirSync(new URL(folder, FOLDER)).filter((name) => name.endsWith('.md'));
const tokensOf = (text: string): readonly Token[] => {
  const marked = new Marked();
  const all: Token[] = [];
  marked.walkTokens(marked.lexer(text), (token) => void all.push(token));
  return all;
};

/** Returns the parts that a translation keeps, in order. */
const skeletonOf = (tokens: readonly Token[]): readonly string[] =>
  tokens.flatMap((token) => {
    if (token.type === 'heading') return [`heading ${(token as Tokens.Heading).depth}`];
    if (token.type === 'code') return [`code ${(token as Tokens.Code).lang}\n${(token as Tokens.Code).text}`];
    if (token.type === 'table') return [`table of ${(token as Tokens.Table).rows.length} rows`];
    if (token.type === 'list') return [`list of ${(token as Tokens.List).items.length} items`];
    if (token.type === 'paragraph') return ['paragraph'];
    return [];
  });
/** Returns links and field names, sorted, because a translated sentence may change their order. */
const namesOf = (tokens: readonly Token[]): readonly string[] =>
  tokens
    .flatMap((token) => {
      if (token.type === 'link') return [`link ${(token as Tokens.Link).href}`];
      return token.type === 'codespan' ? [(token as Tokens.Codespan).text] : [];
    })
    .toSorted();
const textsOf = (tokens: readonly Token[]): readonly string[] =>
  tokens.flatMap((token) => (['heading', 'paragraph'].includes(token.type) ? [(token as Tokens.Paragraph).text] : []));

describe('docs/guides', () => {
  it('are the served guides, in both languages', () => {
    expect([filesOf('.').toSorted(), filesOf('pt').toSorted()]).to.deep.equal([NAMES.toSorted(), NAMES.toSorted()]);
  });
  it('have unique positions in the order', () => {
    const places = GUIDES.map(({ order }) => order);
    expect(places.every((place) => place > 0)).to.equal(true);
    expect(new Set(places).size).to.equal(places.length);
  });
  for (const { path, title, summary, text, pt } of GUIDES) {
    it(`${path} has a title and a summary in both languages`, () => {
      for (const line of [title, summary, pt.title, pt.summary]) expect(line).to.match(/\S/);
    });
    it(`${path} has the same structure in both languages`, () => {
      expect(skeletonOf(tokensOf(pt.text))).to.deep.equal(skeletonOf(tokensOf(text)));
    });
    it(`${path} has the same links and names in both languages`, () => {
      expect(namesOf(tokensOf(pt.text))).to.deep.equal(namesOf(tokensOf(text)));
    });
    it(`${path} has no untranslated text`, () => {
      const english = new Set(textsOf(tokensOf(text)).filter((line) => line.includes(' ')));
      expect(textsOf(tokensOf(pt.text)).filter((line) => english.has(line))).to.deep.equal([]);
    });
  }
});
