import { expect } from 'chai';
import { openThreadedSender } from '../../../infrastructure/webhookSender/threadedSender.ts';
import { openReceiver, timeless, webhook } from './receiver.ts';

describe('the thread of webhooks', () => {
  it('rejects its attempts when it fails, reports the error, and is replaced at the next attempt', async () => {
    let arrived = (): void => undefined;
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const receiver = await openReceiver((response, { path }) => {
      if (path === '/silent') arrived();
      else response.end('ok');
    });
    const errors: string[] = [];
    const sender = openThreadedSender({ allowPrivate: true }, ({ name }) => errors.push(name));
    const silent = sender.send(webhook(`${receiver.url}silent`));
    await arrival;
    // No use case creates such a request. It stands for a fault of the sender itself.
    const impossible = sender.send(webhook(null as never));
    for (const attempt of [silent, impossible])
      expect(await attempt.catch((error: Error) => error.name)).to.equal('SenderFailed');
    expect(errors).to.deep.equal(['TypeError']);
    expect(timeless(await sender.send(webhook(receiver.url)))).to.include({ ok: true, responseBody: 'ok' });
    expect(errors).to.have.length(1);
    await sender.close();
    await receiver.close();
  });

  it('starts with the first attempt, not for a close or an attempt after it, and can be closed twice', async () => {
    let threads = 0;
    const count = (): void => {
      threads++;
    };
    process.on('worker', count);
    const receiver = await openReceiver((response) => response.end());
    const unused = openThreadedSender({ allowPrivate: true }, (error) => {
      throw error;
    });
    await unused.close();
    expect((await unused.send(webhook(receiver.url))).error).to.equal('connection: the sender is closed');
    await unused.close();
    expect([threads, receiver.requests.length]).to.deep.equal([0, 0]);
    const sender = openThreadedSender({ allowPrivate: true }, (error) => {
      throw error;
    });
    for (let n = 0; n < 2; n++) expect(await sender.send(webhook(receiver.url))).to.include({ ok: true });
    await sender.close();
    expect((await sender.send(webhook(receiver.url))).error).to.equal('connection: the sender is closed');
    expect([threads, receiver.requests.length]).to.deep.equal([1, 2]);
    process.off('worker', count);
    await receiver.close();
  });

  it('rejects a request that can’t be posted to the thread, and sends the next one', async () => {
    const receiver = await openReceiver((response) => response.end('ok'));
    const sender = openThreadedSender({ allowPrivate: true }, (error) => {
      throw error;
    });
    const impossible = sender.send(webhook(receiver.url, { headers: { 'x-a': (() => 1) as never } }));
    expect(await impossible.catch((error: Error) => error.name)).to.equal('SenderFailed');
    expect(await sender.send(webhook(receiver.url))).to.include({ ok: true });
    await sender.close();
    await receiver.close();
  });

  it('sends concurrent requests, each with its own outcome', async () => {
    const receiver = await openReceiver((response, { path }) => response.writeHead(Number(path.slice(1))).end());
    const sender = openThreadedSender({ allowPrivate: true }, (error) => {
      throw error;
    });
    const codes = Array.from({ length: 300 }, (_, n) => 200 + n);
    const outcomes = await Promise.all(codes.map((code) => sender.send(webhook(`${receiver.url}${code}`))));
    expect(outcomes.map(({ statusCode }) => statusCode)).to.deep.equal(codes);
    await sender.close();
    await receiver.close();
  });
});
