import { expect } from 'chai';
import type { Fact } from '../../../domain/kernel/decider.ts';
import { partition, reading } from '../../../domain/kernel/eventGroups.ts';

type Opened = Fact<'Opened', { readonly at: number }>;
type Event =
  | Opened
  | Fact<'Renamed', { readonly name: string }>
  | Fact<'Paid', { readonly amount: number }>
  | Fact<'Closed', object>;

const GROUPS = partition<Event>()({ life: { start: ['Opened'], end: ['Closed'] }, name: ['Renamed'], money: ['Paid'] });

const paid: Event = { type: 'Paid', data: { amount: 1 } };

describe('event groups', () => {
  it('partition() requires each type in exactly one group', () => {
    const of = partition<Event>();
    // @ts-expect-error: a type is in no group
    of({ life: ['Opened', 'Closed'], money: ['Paid'] });
    // @ts-expect-error: a type is in two groups
    of({ life: ['Opened', 'Closed'], name: ['Renamed', 'Paid'], money: ['Paid'] });
    // @ts-expect-error: a type is in two parts of a group
    of({ life: { start: ['Opened', 'Closed'], end: ['Closed'] }, name: ['Renamed'], money: ['Paid'] });
    // @ts-expect-error: a type is in a group and in a part of another
    of({ life: { start: ['Opened'], end: ['Closed'] }, name: ['Renamed', 'Closed'], money: ['Paid'] });
    // @ts-expect-error: a type is in a group twice
    of({ life: ['Opened', 'Closed', 'Opened'], name: ['Renamed'], money: ['Paid'] });
    // @ts-expect-error: a type is unknown
    of({ life: ['Opened', 'Closed', 'Reopened'], name: ['Renamed'], money: ['Paid'] });
  });

  it('reading() requires every group to be either read or ignored', () => {
    reading(GROUPS, { reads: ['money'], ignores: ['life', 'name'] });
    reading(GROUPS, { reads: ['money', 'start'], ignores: ['end', 'name'] });
    // @ts-expect-error: a group is neither read nor ignored
    reading(GROUPS, { reads: ['money'], ignores: ['life'] });
    // @ts-expect-error: a part is neither read nor ignored
    reading(GROUPS, { reads: ['money', 'start'], ignores: ['name'] });
    // @ts-expect-error: a group is both read and ignored
    reading(GROUPS, { reads: ['money', 'name'], ignores: ['life', 'name'] });
    // @ts-expect-error: a part is ignored of a group that is read
    reading(GROUPS, { reads: ['money', 'life'], ignores: ['end', 'name'] });
    // @ts-expect-error: there is no such group
    reading(GROUPS, { reads: ['money'], ignores: ['life', 'name', 'death'] });
    // @ts-expect-error: a single type means nothing only in a group that is read
    reading(GROUPS, { reads: ['money'], nothing: ['Closed'], ignores: ['life', 'name'] });
  });

  it('the guard narrows to the types that are read, so that the compiler checks each of them', () => {
    const isRead = reading(GROUPS, { reads: ['money', 'life'], nothing: ['Closed'], ignores: ['name'] });
    const amountOf = (event: Event): number | null => {
      if (!isRead(event)) return null;
      switch (event.type) {
        case 'Paid':
          return event.data.amount;
        default:
          // @ts-expect-error: `Opened` is read and not handled
          event satisfies never;
          return event.data.at;
      }
    };
    expect(amountOf(paid)).to.equal(1);
    expect(amountOf({ type: 'Opened', data: { at: 2 } })).to.equal(2);
    expect(amountOf({ type: 'Closed', data: {} })).to.equal(null);
    expect(amountOf({ type: 'Renamed', data: { name: 'a' } })).to.equal(null);
    expect(isRead.types).to.have.members(['Paid', 'Opened']);
    expect(isRead.silent).to.deep.equal(['Closed']);
    expect([isRead.isRead('Paid'), isRead.isRead('Closed'), isRead.isRead('Renamed')]).to.deep.equal([
      true,
      false,
      false,
    ]);
  });
});
