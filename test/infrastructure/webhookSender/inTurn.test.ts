// Attempts that wait for others at the same origin: the request is made again if it has become too old.
import { expect } from 'chai';
import type { WebhookRequest, WebhookSender } from '../../../application/ports/webhookSender.ts';
import { openThreadedSender } from '../../../infrastructure/webhookSender/threadedSender.ts';
import { openWebhookSender } from '../../../infrastructure/webhookSender/webhookSender.ts';
import { openReceiver, type Receiver, webhook } from './receiver.ts';

const REQUEST_MS = 100;
const OPTIONS = { allowPrivate: true, connections: 1, requestMs: REQUEST_MS };
const SENDERS = {
  'in this thread': () => openWebhookSender(OPTIONS),
  'in a thread of its own': () =>
    openThreadedSender(OPTIONS, (error) => {
      throw error;
    }),
};

for (const [where, openSender] of Object.entries(SENDERS))
  describe(`waiting webhook attempts, ${where}`, () => {
    let sender: WebhookSender;
    let receiver: Receiver;
    let other: Receiver;
    let answerFirst: () => void;
    let first: Promise<unknown>;
    /** Holds the only slot until `answerFirst` is called. */
    beforeEach(async () => {
      sender = openSender();
      other = await openReceiver((response) => response.end());
      let arrived = (): void => undefined;
      const arrival = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      receiver = await openReceiver((response, { body }) => {
        if (body !== 'first') return void response.end();
        answerFirst = () => void response.end();
        return arrived();
      });
      first = sender.send(webhook(receiver.url, { body: 'first' }));
      await arrival;
    });
    afterEach(async () => {
      await sender.close();
      await Promise.all([receiver.close(), other.close()]);
    });

    /** Resolves when requests that were made before are too old. */
    const outdated = async (): Promise<void> => {
      const since = performance.now();
      while (performance.now() - since <= 2 * REQUEST_MS) await sender.send(webhook(other.url));
    };
    /** A maker of requests with numbered bodies, or what `more` returns for the number. */
    const numbered = (more: (n: number) => WebhookRequest | null | undefined = () => undefined) => {
      let made = 0;
      return async () => {
        made += 1;
        const given = more(made);
        return given === undefined ? webhook(receiver.url, { body: `${made}` }) : given;
      };
    };
    const bodies = () => receiver.requests.map(({ body }) => body);

    it('send a request that was made again, and only then', async () => {
      const waiting = sender.sendInTurn(numbered());
      await outdated();
      answerFirst();
      expect(await waiting).to.include({ ok: true });
      await first;
      expect(await sender.sendInTurn(numbered())).to.include({ ok: true });
      expect(bodies()).to.deep.equal(['first', '2', '1']);
    });
    it('are given up if there is no request any more, and the next one gets its turn', async () => {
      const waiting = [sender.sendInTurn(numbered((n) => (n === 2 ? null : undefined))), sender.sendInTurn(numbered())];
      await outdated();
      answerFirst();
      expect((await Promise.all(waiting)).map((outcome) => outcome?.ok ?? null)).to.deep.equal([null, true]);
      expect(await sender.sendInTurn(async () => null)).to.equal(null);
      expect(bodies()).to.deep.equal(['first', '2']);
    });
    it('reject with the error of making it again, and the next one gets its turn', async () => {
      const failing = numbered((n) => {
        if (n === 2) throw new Error('no secret');
        return undefined;
      });
      const waiting = [sender.sendInTurn(failing), sender.sendInTurn(numbered())];
      await outdated();
      answerFirst();
      const ends = waiting.map((one) => one.then((outcome) => outcome?.ok).catch(({ message }) => message));
      expect(await Promise.all(ends)).to.deep.equal(['no secret', true]);
      expect(bodies()).to.deep.equal(['first', '2']);
    });
    it('leave when their signal aborts, which does not end an attempt that has begun', async () => {
      const leaving = new AbortController();
      const begun = sender.sendInTurn(
        numbered(() => webhook(other.url)),
        leaving.signal,
      );
      const waiting = sender.sendInTurn(numbered(), leaving.signal);
      expect(await begun).to.include({ ok: true });
      leaving.abort(new Error('given up'));
      const late = sender.sendInTurn(numbered(), leaving.signal);
      const ends = [waiting, late].map((one) => one.catch(({ message }: Error) => message));
      expect(await Promise.all(ends)).to.deep.equal(['given up', 'given up']);
      answerFirst();
      await first;
      expect(bodies()).to.deep.equal(['first']);
    });
    it('end when the sender is closed', async () => {
      let asked = (): void => undefined;
      const asking = new Promise<void>((resolve) => {
        asked = resolve;
      });
      let made = 0;
      const renewing = sender.sendInTurn(() => {
        made += 1;
        if (made === 1) return Promise.resolve(webhook(receiver.url, { body: '1' }));
        asked();
        return new Promise(() => undefined);
      });
      const waiting = sender.sendInTurn(numbered());
      await outdated();
      answerFirst();
      await asking;
      await sender.close();
      expect((await waiting)?.error).to.equal('connection: the sender is closed');
      if (where !== 'in this thread') expect(await renewing).to.equal(null);
      expect(bodies()).to.deep.equal(['first']);
    });
  });
