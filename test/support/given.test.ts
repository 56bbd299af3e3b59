import { AssertionError, expect } from 'chai';
import type { Decider, Decision } from '../../domain/kernel/decider.ts';
import { reject } from '../../domain/kernel/rejection.ts';
import { given } from './given.ts';

interface Noted {
  readonly type: 'Noted';
  readonly data: { readonly text: string; readonly at: string };
}
interface State {
  readonly notes: readonly string[];
}
const notes: Decider<State, Noted> = {
  initial: { notes: [] },
  evolve: (state, event) => ({ notes: [...state.notes, event.data.text] }),
};
const noted = (text: string, at = '2026-11-21T13:00:00.000Z'): Noted => ({ type: 'Noted', data: { text, at } });
const note =
  (...texts: string[]): Decision<State, Noted, string> =>
  (state) =>
    texts.includes('refuse')
      ? reject('invalid_request', 'no', { param: 'text' })
      : { events: texts.filter((text) => !state.notes.includes(text)).map((text) => noted(text)), reply: 'done' };

describe('given/when/then', () => {
  it('accepts exactly the written events and the reply', () => {
    given(notes, noted('a')).when(note('b', 'c')).then(noted('b'), noted('c'), 'done').again('done');
    given(notes, noted('a')).when(note('a')).then('done');
    given(notes).when(note('refuse')).rejected('invalid_request', 'text');
  });

  const mustFail: readonly (readonly [string, () => unknown])[] = [
    ['the other order', () => given(notes).when(note('a', 'b')).then(noted('b'), noted('a'), 'done')],
    ['a subset', () => given(notes).when(note('a', 'b')).then(noted('a'), 'done')],
    ['more than was written', () => given(notes).when(note('a')).then(noted('a'), noted('b'), 'done')],
    ['no events where there were some', () => given(notes).when(note('a')).then('done')],
    ['another date', () => given(notes).when(note('a')).then(noted('a', '2026-11-21T13:00:00.001Z'), 'done')],
    ['another reply', () => given(notes).when(note('a')).then(noted('a'), 'other')],
    ['another code', () => given(notes).when(note('refuse')).rejected('not_found', 'text')],
    ['another param', () => given(notes).when(note('refuse')).rejected('invalid_request', 'other')],
    ['a param left out', () => given(notes).when(note('refuse')).rejected('invalid_request')],
    [
      'an event with a field more',
      () => {
        const more = { type: 'Noted' as const, data: { text: 'a', at: '2026-11-21T13:00:00.000Z', more: 1 } };
        given(notes).when(note('a')).then(more, 'done');
      },
    ],
    ['another reply the second time', () => given(notes).when(note('a')).then(noted('a'), 'done').again('other')],
    [
      'events the second time',
      () => {
        const restless: Decision<State, Noted, string> = () => ({ events: [noted('a')], reply: 'done' });
        given(notes).when(restless).then(noted('a'), 'done').again('done');
      },
    ],
  ];
  for (const [name, wrong] of mustFail) it(`fails on ${name}`, () => expect(wrong).to.throw(AssertionError));

  it('fails on an unexpected acceptance and on an unexpected rejection', () => {
    expect(() => given(notes).when(note('a')).rejected('invalid_request')).to.throw(/but it was accepted/);
    expect(() => given(notes).when(note('refuse')).then('done')).to.throw(/unexpectedly rejected: invalid_request/);
  });

  it('fails if a decision or evolve mutates its input', () => {
    const mutating: Decision<State, Noted, string> = (state) => {
      (state.notes as string[]).push('mine');
      return { events: [], reply: 'done' };
    };
    expect(() => given(notes, noted('a')).when(mutating).then('done')).to.throw(TypeError);
    const sloppy: Decider<{ list: string[] }, Noted> = {
      initial: { list: [] },
      evolve: (state, event) => {
        event.data.text satisfies string;
        (event.data as { text: string }).text = 'changed';
        return state;
      },
    };
    expect(() => given(sloppy, noted('a'))).to.throw(TypeError);
  });
});
