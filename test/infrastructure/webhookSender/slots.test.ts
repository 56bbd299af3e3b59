import { expect } from 'chai';
import { openSlots } from '../../../infrastructure/webhookSender/slots.ts';

describe('slots', () => {
  it('grants a limited number at once, and the next ones in order', async () => {
    const slots = openSlots(2);
    expect([slots.acquire('a'), slots.acquire('a')]).to.deep.equal([true, true]);
    const order: string[] = [];
    const third = Promise.resolve(slots.acquire('a')).then((granted) => order.push(`third ${granted}`));
    const fourth = Promise.resolve(slots.acquire('a')).then((granted) => order.push(`fourth ${granted}`));
    slots.release('a');
    await third;
    expect(order).to.deep.equal(['third true']);
    slots.release('a');
    await fourth;
    expect(order).to.deep.equal(['third true', 'fourth true']);
  });

  it('are separate for each key', () => {
    const slots = openSlots(1);
    expect(slots.acquire('a')).to.equal(true);
    expect(slots.acquire('b')).to.equal(true);
    expect(slots.acquire('a')).to.not.equal(true);
  });

  it('grants released slots again', () => {
    const slots = openSlots(1);
    expect(slots.acquire('a')).to.equal(true);
    slots.release('a');
    expect(slots.acquire('a')).to.equal(true);
  });

  it('lets a waiting request leave when its signal aborts, and grants the slot to the next one', async () => {
    const slots = openSlots(1);
    slots.acquire('a');
    const [leaving, left] = [new AbortController(), AbortSignal.abort(new Error('already left'))];
    const waiting = [leaving.signal, left, undefined].map((signal) => Promise.resolve(slots.acquire('a', signal)));
    leaving.abort(new Error('left'));
    slots.release('a');
    const ends = await Promise.all(waiting.map((one) => one.catch((error: Error) => error.message)));
    expect(ends).to.deep.equal(['left', 'already left', true]);
  });

  it('rejects waiting and later requests after it is closed, even twice', async () => {
    const slots = openSlots(1);
    slots.acquire('a');
    const waiting = slots.acquire('a');
    slots.close();
    slots.close();
    expect(await waiting).to.equal(false);
    expect(slots.acquire('b')).to.equal(false);
  });
});
