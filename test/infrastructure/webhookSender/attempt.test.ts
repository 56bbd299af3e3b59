import { expect } from 'chai';
import type { Dispatcher } from 'undici';
import { runAttempt } from '../../../infrastructure/webhookSender/attempt.ts';
import { timeless } from './receiver.ts';

const REQUEST = { origin: 'http://hooks.example.test', path: '/', headers: {}, body: '{}' };
const failed = (error: string) => ({ ok: false, statusCode: null, error, responseBody: null, retryAfterMs: null });

/** Returns a dispatcher that only captures the handler. */
function held(): { dispatcher: Dispatcher; handler: () => Dispatcher.DispatchHandler } {
  let handler: Dispatcher.DispatchHandler | null = null;
  const dispatch = (_options: unknown, given: Dispatcher.DispatchHandler) => {
    handler = given;
    return true;
  };
  return { dispatcher: { dispatch } as unknown as Dispatcher, handler: () => handler ?? expect.fail('not dispatched') };
}

function controllerOf(aborts: string[]): Dispatcher.DispatchController {
  const abort = (reason: Error) => aborts.push(reason.message);
  return { aborted: false, paused: false, reason: null, abort, pause() {}, resume() {} };
}

describe('runAttempt', () => {
  it('sends nothing on a connection that opens after the deadline', async () => {
    const { dispatcher, handler } = held();
    const outcome = await runAttempt(dispatcher, REQUEST, 1);
    expect(timeless(outcome)).to.deep.equal(failed('timeout: no connection within 1 ms'));
    const aborts: string[] = [];
    handler().onRequestStart?.(controllerOf(aborts), null);
    expect(aborts).to.deep.equal(['attempt over']);
  });

  it('ends once and ignores later events', async () => {
    const { dispatcher, handler } = held();
    const outcome = runAttempt(dispatcher, REQUEST, 10_000);
    const aborts: string[] = [];
    const controller = controllerOf(aborts);
    handler().onRequestStart?.(controller, null);
    handler().onResponseError?.(controller, new Error('cut'));
    handler().onResponseError?.(controller, new Error('cut again'));
    handler().onResponseStart?.(controller, 200, {});
    handler().onResponseEnd?.(controller, {});
    expect(timeless(await outcome)).to.deep.equal(failed('connection: cut'));
    expect(aborts).to.deep.equal(['attempt over']);
  });

  it('returns an outcome if the dispatcher throws', async () => {
    const dispatch = () => {
      throw new TypeError('not today');
    };
    const outcome = await runAttempt({ dispatch } as unknown as Dispatcher, REQUEST, 10_000);
    expect(timeless(outcome)).to.deep.equal(failed('connection: not today'));
  });
});
