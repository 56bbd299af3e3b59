// What open pages are told (http/pages/statusStreams.ts).

import { expect } from 'chai';
import type { Response } from 'express';
import type { Progress } from '../../application/ports/readModels.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { type LiveStatus, StatusStreams } from '../../http/pages/statusStreams.ts';

const ID = '01hzy3v7q9k2m4n6p8r0s2t4v6' as PaymentId;
const NOW = '2026-11-21T13:00:00.000Z';
const DUE = '2026-11-21T13:30:00.000Z';
const pending = (expires_at: string | null, now = NOW): LiveStatus => ({ status: 'pending', expires_at, now });

/** One open page and a read model that says what the test puts into it. */
const openPage = () => {
  let moved = (): void => undefined;
  const progress = {
    onMove: (listener: () => void) => {
      moved = listener;
      return () => undefined;
    },
  } as Partial<Progress> as Progress;
  const answers: LiveStatus[] = [];
  let asked = Promise.withResolvers<void>();
  const streams = new StatusStreams(progress, async () => {
    asked.resolve();
    asked = Promise.withResolvers<void>();
    return new Map([[ID, answers.shift()!]]);
  });
  const told: LiveStatus[] = [];
  let heard = Promise.withResolvers<void>();
  const res = {
    writeHead: () => res,
    on: () => res,
    end: () => res,
    write: (text: string) => {
      told.push(JSON.parse(/^event: status\ndata: (.*)\n\n$/.exec(text)![1]!) as LiveStatus);
      heard.resolve();
      heard = Promise.withResolvers<void>();
      return true;
    },
  } as unknown as Response;
  return {
    streams,
    res,
    told,
    answers,
    move: () => moved(),
    nextTold: () => heard.promise,
    nextAsked: () => asked.promise,
  };
};

describe('status streams', () => {
  it('tell when a payment can be paid, and when it can be paid for longer', async () => {
    const page = openPage();
    page.answers.push(pending(null), pending(DUE), pending('2026-11-21T14:00:00.000Z'));
    page.streams.add(ID, page.res, pending(null));
    for (const expiresAt of [DUE, '2026-11-21T14:00:00.000Z']) {
      const next = page.nextTold();
      page.move();
      await next;
      expect(page.told.at(-1)).to.deep.equal(pending(expiresAt));
    }
    expect(page.told.map(({ expires_at }) => expires_at)).to.deep.equal([null, DUE, '2026-11-21T14:00:00.000Z']);
    page.streams.close();
  });

  it('tell nothing twice: the time alone is no news', async () => {
    const page = openPage();
    const paid = { status: 'paid', expires_at: DUE, now: NOW };
    page.answers.push(pending(DUE, '2026-11-21T13:00:01.000Z'), paid);
    const asked = page.nextAsked();
    page.streams.add(ID, page.res, pending(DUE));
    await asked;
    const next = page.nextTold();
    page.move();
    await next;
    expect(page.told).to.deep.equal([pending(DUE), paid]);
    page.streams.close();
  });
});
