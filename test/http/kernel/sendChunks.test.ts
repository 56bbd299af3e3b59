// Answers sent in chunks: they finish in time or are cut, and their source is always closed.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { expect } from 'chai';
import type { Request, Response } from 'express';
import { sendResult } from '../../../http/kernel/send.ts';

describe('an answer in chunks', () => {
  let server: Server;
  const endless = async function* () {
    for (;;) yield Buffer.alloc(65_536);
  };
  /** Starts a server; returns its port, the outcome of sending and how often the source was closed. */
  const serve = async (chunks: () => AsyncIterable<Buffer>, sendMs: number) => {
    let closes = 0;
    let report: (outcome: unknown) => void = () => undefined;
    const outcome = new Promise<unknown>((resolve) => {
      report = resolve;
    });
    server = createServer((req, res) => {
      const result = { status: 200, contentType: 'image/png', chunks: chunks(), sendMs, close: () => void closes++ };
      sendResult(req as Request, res as Response, result).then(() => report('sent'), report);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { port: (server.address() as AddressInfo).port, outcome, closes: () => closes };
  };
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('is cut without a fault if the client doesn’t read it in time', async () => {
    const { port, outcome, closes } = await serve(endless, 200);
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
    socket.on('error', () => undefined).once('data', () => socket.pause());
    expect([await outcome, closes()]).to.deep.equal(['sent', 1]);
    socket.resume();
    await once(socket, 'close');
  });
  it('closes its source without a fault if the client disconnects', async () => {
    const { port, outcome, closes } = await serve(endless, 60_000);
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
    socket.once('data', () => socket.destroy());
    expect([await outcome, closes()]).to.deep.equal(['sent', 1]);
  });
  it('is cut with a fault if its source fails', async () => {
    const broken = new Error('broken');
    const { port, outcome, closes } = await serve(async function* () {
      yield Buffer.from('a');
      throw broken;
    }, 60_000);
    const text = await fetch(`http://127.0.0.1:${port}/`).then((reply) => reply.text().catch(() => 'cut'));
    expect([text, await outcome, closes()]).to.deep.equal(['cut', broken, 1]);
  });
  it('closes its source unread for HEAD', async () => {
    let reads = 0;
    const { port, outcome, closes } = await serve(async function* () {
      reads++;
      yield Buffer.from('a');
    }, 60_000);
    const { status } = await fetch(`http://127.0.0.1:${port}/`, { method: 'HEAD' });
    expect([status, await outcome, reads, closes()]).to.deep.equal([200, 'sent', 0, 1]);
  });
});
