// Messages to open pages (http/site/statusStreams.ts).

import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import type { Request, Response } from 'express';
import type { Progress } from '../../../application/ports/readModels/progress.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { addressOf } from '../../../http/kernel/address.ts';
import { sendError, sendResult } from '../../../http/kernel/send.ts';
import type { LiveStatus } from '../../../http/kernel/serverContext.ts';
import type { StreamBounds } from '../../../http/site/liveStreams.ts';
import { StatusStreams } from '../../../http/site/statusStreams.ts';

const ID = '01hzy3v7q9k2m4n6p8r0s2t4v6' as PaymentId;
const NOW = '2026-11-21T13:00:00.000Z';
const DUE = '2026-11-21T13:30:00.000Z';
const PAID: LiveStatus = { status: 'paid', expires_at: DUE, now: NOW };
const paymentId = (n: number) => `${ID.slice(0, -3)}${String(n).padStart(3, '0')}` as PaymentId;
const pending = (expires_at: string | null, now = NOW): LiveStatus => ({ status: 'pending', expires_at, now });

/** Opens pages over a read model that returns the test’s answers. */
const openPages = (bounds: Partial<StreamBounds> = {}) => {
  let moved = (): void => undefined;
  const progress = {
    onMove: (listener: () => void) => {
      moved = listener;
      return () => undefined;
    },
  } as Partial<Progress> as Progress;
  const answers: LiveStatus[] = [];
  let asked = Promise.withResolvers<void>();
  const find = async (ids: readonly PaymentId[]) => {
    asked.resolve();
    asked = Promise.withResolvers<void>();
    const answer = answers.shift();
    return new Map(answer ? ids.map((id) => [id, answer]) : []);
  };
  const streams = new StatusStreams(progress, find, bounds);
  const open = (id: PaymentId = ID, ip = '203.0.113.1', status = pending(DUE), method = 'GET', destroyed = false) => {
    const told: LiveStatus[] = [];
    let heard = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const res = Object.assign(new EventEmitter(), {
      statusCode: 0,
      destroyed,
      headers: {} as Record<string, string>,
      text: '',
      status: (code: number) => Object.assign(res, { statusCode: code }),
      writeHead: (code: number) => Object.assign(res, { statusCode: code }),
      flushHeaders: () => undefined,
      setHeader: (name: string, value: string) => {
        res.headers[name] = value;
      },
      hasHeader: (name: string) => name in res.headers,
      write: (text: string) => {
        told.push(JSON.parse(/^event: status\ndata: (.*)\n\n$/.exec(text)![1]!) as LiveStatus);
        heard.resolve();
        heard = Promise.withResolvers<void>();
        return true;
      },
      end: (text = '') => {
        res.text = text;
        ended.resolve();
        res.emit('close');
      },
    });
    const app = { get: () => 'https://quita.test' };
    const req = { method, ip, socket: {}, app, accepts: () => 'json' } as unknown as Request;
    const answer = streams.answer(id, addressOf(req), status);
    if (isRejection(answer)) sendError(req, res as unknown as Response, answer);
    else sendResult(req, res as unknown as Response, answer);
    return { res, told, ended: ended.promise, nextTold: () => heard.promise };
  };
  return { streams, answers, open, move: () => moved(), nextAsked: () => asked.promise };
};

describe('status streams', () => {
  it('announce when a payment becomes payable and when its due time moves', async () => {
    const { streams, answers, open, move } = openPages();
    answers.push(pending(null), pending(DUE), pending('2026-11-21T14:00:00.000Z'));
    const page = open(ID, '203.0.113.1', pending(null));
    for (const expiresAt of [DUE, '2026-11-21T14:00:00.000Z']) {
      const next = page.nextTold();
      move();
      await next;
      expect(page.told.at(-1)).to.deep.equal(pending(expiresAt));
    }
    expect(page.told.map(({ expires_at }) => expires_at)).to.deep.equal([null, DUE, '2026-11-21T14:00:00.000Z']);
    streams.close();
  });

  it('don’t count a page that disconnected before its stream opened', () => {
    const { streams, open } = openPages({ ofKey: 1 });
    const gone = open(ID, '203.0.113.1', pending(DUE), 'GET', true);
    const next = open();
    expect([gone.told.length, next.res.statusCode, next.told.length]).to.deep.equal([0, 200, 1]);
    streams.close();
  });

  it('send no message if only the time changed', async () => {
    const { streams, answers, open, move, nextAsked } = openPages();
    answers.push(pending(DUE, '2026-11-21T13:00:01.000Z'), PAID);
    const asked = nextAsked();
    const page = open();
    await asked;
    const next = page.nextTold();
    move();
    await next;
    expect(page.told).to.deep.equal([pending(DUE), PAID]);
    streams.close();
  });

  for (const status of ['paid', 'failed', 'expired', 'cancelled', 'refunded', 'disputed'])
    it(`end after ${status} and answer 204 from then on`, async () => {
      const { streams, answers, open, move } = openPages();
      const last = { ...PAID, status };
      answers.push(pending(DUE), { ...PAID, status: 'processing' }, last);
      const page = open();
      for (let i = 0; i < 2; i++) {
        const next = page.nextTold();
        move();
        await next;
      }
      await page.ended;
      expect(page.told.map((told) => told.status)).to.deep.equal(['pending', 'processing', status]);
      for (let again = 0; again < 2; again++) {
        const late = open(ID, '203.0.113.1', last);
        await late.ended;
        expect([late.res.statusCode, late.res.text, late.told]).to.deep.equal([204, '', []]);
      }
      streams.close();
    });

  it('are limited to 20 per charge for all addresses, until one closes', () => {
    const { streams, open } = openPages();
    const pages = Array.from({ length: 20 }, (_, i) => open(ID, `203.0.113.${i}`));
    expect(pages.map(({ res }) => res.statusCode)).to.deep.equal(Array(20).fill(200));
    for (let i = 0; i < 2; i++) {
      const { res } = open(ID, '198.51.100.1');
      const { error } = JSON.parse(res.text) as { error: { code: string } };
      expect([res.statusCode, error.code, res.headers['Retry-After']]).to.deep.equal([429, 'rate_limited', '30']);
    }
    expect(open(paymentId(1)).res.statusCode).to.equal(200);
    pages[0]!.res.emit('close');
    expect([open().res.statusCode, open().res.statusCode]).to.deep.equal([200, 429]);
    streams.close();
  });

  it('are limited to 100 per address or /64, across charges', () => {
    const { streams, open } = openPages();
    for (const address of [(_: number) => '203.0.113.1', (i: number) => `2001:db8::${i}`]) {
      for (let i = 0; i < 100; i++) expect(open(paymentId(i), address(i)).res.statusCode).to.equal(200);
      expect(open(paymentId(100), address(100)).res.statusCode).to.equal(429);
    }
    expect(open(paymentId(100), '203.0.113.2').res.statusCode).to.equal(200);
    streams.close();
  });

  it('are limited in total', () => {
    const { streams, open } = openPages({ inAll: 3 });
    const codes = [1, 2, 3, 4].map((i) => open(paymentId(i), `203.0.113.${i}`).res.statusCode);
    expect(codes).to.deep.equal([200, 200, 200, 503]);
    streams.close();
  });

  it('are not opened by HEAD', async () => {
    const { streams, open } = openPages({ inAll: 1 });
    const head = open(ID, '203.0.113.1', pending(DUE), 'HEAD');
    await head.ended;
    expect([head.res.statusCode, head.res.text, head.told]).to.deep.equal([200, '', []]);
    expect(open().res.statusCode).to.equal(200);
    streams.close();
  });

  it('end after their lifetime and free their slot', async () => {
    const { streams, open } = openPages({ ofKey: 1, lifetimeMs: 20 });
    const page = open();
    expect(open().res.statusCode).to.equal(429);
    await page.ended;
    expect(open().res.statusCode).to.equal(200);
    streams.close();
  });
});
