import { expect } from 'chai';
import type { WebhookSender } from '../../../application/ports/webhookSender.ts';
import { checkedAddresses } from '../../../infrastructure/webhookSender/dialer.ts';
import { AttemptFailure } from '../../../infrastructure/webhookSender/failure.ts';
import type { AddressResolver } from '../../../infrastructure/webhookSender/resolver.ts';
import { openWebhookSender } from '../../../infrastructure/webhookSender/webhookSender.ts';
import { openReceiver, type Receiver, timeless, webhook } from './receiver.ts';

const OK = { ok: true, statusCode: 200, error: null, responseBody: 'ok', retryAfterMs: null };
const failed = (error: string) => ({ ok: false, statusCode: null, error, responseBody: null, retryAfterMs: null });
const blocked = (host: string) => failed(`blocked: ${host} has no address that deliveries may go to`);

type Answer = readonly string[] | Error | 'silence';

/** Returns the next answer for each query of a name, and repeats the last one. */
function resolverOf(names: Readonly<Record<string, readonly Answer[]>>): AddressResolver & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async resolve(name) {
      const answers = names[name] ?? [];
      const answer = answers[asked.filter((each) => each === name).length] ?? answers.at(-1);
      asked.push(name);
      if (answer === 'silence') return new Promise(() => {});
      if (answer === undefined || answer instanceof Error)
        throw Object.assign(answer ?? new Error(), { code: 'ENOTFOUND' });
      return answer;
    },
    close() {},
  };
}

describe('dialing', () => {
  let receiver: Receiver;
  let sender: WebhookSender;
  const openSender = (resolver: AddressResolver, allowPrivate = true): void => {
    sender = openWebhookSender({ allowPrivate, deadlineMs: 20_000, resolver });
  };
  const send = async (host: string, mode: 'test' | 'live' = 'test', more: { deadlineMs?: number } = {}) => {
    const scheme = mode === 'live' ? 'https' : 'http';
    return timeless(await sender.send(webhook(`${scheme}://${host}:${receiver.port}/`, { mode, ...more })));
  };

  beforeEach(async () => {
    receiver = await openReceiver((response) => response.setHeader('connection', 'close').end('ok'));
  });
  afterEach(async () => {
    await sender.close();
    await receiver.close();
  });

  it('connects to the address of a name, with the name as Host', async () => {
    openSender(resolverOf({ 'hooks.example.test': [['127.0.0.1']] }));
    expect(await send('hooks.example.test')).to.deep.equal(OK);
    expect(receiver.requests[0]?.headers.host).to.equal(`hooks.example.test:${receiver.port}`);
  });

  it('never connects to metadata addresses, whatever the settings and names', async () => {
    const addresses = [
      'fd00:ec2::254',
      '169.254.169.254',
      '169.254.170.2',
      '100.100.100.200',
      '192.0.0.192',
      '::ffff:169.254.169.254',
    ];
    const names = Object.fromEntries(addresses.map((address, i) => [`m${i}.example.test`, [[address]]]));
    openSender(resolverOf({ ...names, 'both.example.test': [['fd00:ec2::254', '127.0.0.1']] }));
    for (const name of Object.keys(names)) expect(await send(name), name).to.deep.equal(blocked(name));
    expect(await send('both.example.test')).to.deep.equal(OK); // only the other address was dialed
  });

  it('resolves a name in lower case and without its trailing dot', async () => {
    const resolver = resolverOf({ 'hooks.example.test': [['127.0.0.1']] });
    openSender(resolver);
    expect(await send('Hooks.Example.TEST.')).to.deep.equal(OK);
    expect(resolver.asked).to.deep.equal(['hooks.example.test']);
  });

  it('does not resolve a literal address', async () => {
    const resolver = resolverOf({});
    openSender(resolver);
    expect(await send('127.0.0.1')).to.deep.equal(OK);
    expect(await send('2130706433')).to.deep.equal(OK);
    expect(resolver.asked).to.deep.equal([]);
  });

  it('checks again for every new connection: a name rebound to a forbidden address is blocked', async () => {
    const resolver = resolverOf({ 'rebound.example': [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1']] });
    openSender(resolver);
    expect(await send('rebound.example')).to.deep.equal(OK);
    expect(await send('rebound.example')).to.deep.equal(blocked('rebound.example'));
    expect(await send('rebound.example')).to.deep.equal(OK);
    expect([resolver.asked.length, receiver.sockets.length]).to.deep.equal([3, 2]);
  });

  it('checks again for every new connection: first public, then private', async () => {
    const resolver = resolverOf({ 'rebound.example': [['93.184.215.14'], ['10.0.0.1']] });
    openSender(resolver);
    const policy = { resolver, privateAllowed: false };
    expect(await checkedAddresses('rebound.example', policy)).to.deep.equal(['93.184.215.14']);
    const failure = await checkedAddresses('rebound.example', policy).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(AttemptFailure);
    expect((failure as AttemptFailure).kind).to.equal('blocked');
  });

  it('blocks live deliveries to names with private addresses, even if test deliveries may go there', async () => {
    openSender(resolverOf({ 'hooks.example.test': [['127.0.0.1', '10.0.0.1', '::1', '::ffff:127.0.0.1']] }));
    expect(await send('hooks.example.test', 'live')).to.deep.equal(blocked('hooks.example.test'));
    expect(await send('hooks.example.test', 'test')).to.deep.equal(OK);
    expect(await send('hooks.example.test', 'live')).to.deep.equal(blocked('hooks.example.test'));
    expect(receiver.sockets.length).to.equal(1);
  });

  it('blocks test deliveries to names with private addresses if the deployment does not allow them', async () => {
    openSender(resolverOf({ 'hooks.example.test': [['127.0.0.1']] }), false);
    expect(await send('hooks.example.test')).to.deep.equal(blocked('hooks.example.test'));
    expect(receiver.sockets.length).to.equal(0);
  });

  it('blocks a forbidden URL before it resolves or connects', async () => {
    const resolver = resolverOf({});
    openSender(resolver);
    const refused = await sender.send(webhook(`https://127.0.0.1:${receiver.port}/`, { mode: 'live' }));
    expect(refused).to.deep.equal({ ...failed('blocked: url must not point to a loopback address'), durationMs: 0 });
    const garbage = await sender.send(webhook('no url'));
    expect(garbage).to.deep.equal({
      ...failed('blocked: url must be an absolute http or https URL of at most 2048 characters'),
      durationMs: 0,
    });
    expect([resolver.asked.length, receiver.sockets.length]).to.deep.equal([0, 0]);
  });

  it('skips the forbidden addresses of a name and tries the others in turn', async () => {
    openSender(resolverOf({ 'many.example': [['169.254.169.254', '0.0.0.0', '127.0.0.2', '127.0.0.1']] }));
    expect(await send('many.example')).to.deep.equal(OK);
    expect(receiver.sockets.length).to.equal(1);
  });

  it('names no address in the error if none answers', async () => {
    await receiver.close();
    openSender(resolverOf({ 'many.example': [['127.0.0.2', '127.0.0.3']] }));
    expect(await send('many.example')).to.deep.equal(failed('connection: connect ECONNREFUSED'));
    receiver = await openReceiver(() => {});
  });

  it('rejects resolver answers that are not addresses', async () => {
    openSender(resolverOf({ 'odd.example': [['localhost', '127.1', '::1%lo', '']] }));
    expect(await send('odd.example')).to.deep.equal(blocked('odd.example'));
  });

  it('fails for names that do not resolve', async () => {
    openSender(resolverOf({ 'empty.example': [[]] }));
    expect(await send('unknown.example')).to.deep.equal(failed('dns: ENOTFOUND unknown.example'));
    expect(await send('unknown.example')).to.deep.equal(failed('dns: ENOTFOUND unknown.example'));
    expect(await send('empty.example')).to.deep.equal(failed('dns: ENODATA empty.example'));
  });

  it('ends at the deadline if a name does not resolve, while other names are served', async () => {
    openSender(resolverOf({ 'silent.example': ['silence'], 'hooks.example.test': [['127.0.0.1']] }));
    const silent = Array.from({ length: 100 }, () => send('silent.example', 'test', { deadlineMs: 1_000 }));
    expect(await send('hooks.example.test')).to.deep.equal(OK);
    const outcomes = await Promise.all(silent);
    expect(outcomes).to.deep.equal(outcomes.map(() => failed('timeout: no connection within 1000 ms')));
    expect(await send('hooks.example.test')).to.deep.equal(OK);
  });

  it('ends pending attempts when it is closed', async () => {
    openSender(resolverOf({ 'silent.example': ['silence'] }));
    const silent = send('silent.example');
    await sender.close();
    const { error } = await silent;
    expect(error).to.match(/^connection: /);
  });

  it('resolves localhost and the hosts file with the default resolver', async () => {
    sender = openWebhookSender({ allowPrivate: true });
    expect(await send('localhost')).to.deep.equal(OK);
    expect(await send('shop.localhost')).to.deep.equal(OK);
  });
});
