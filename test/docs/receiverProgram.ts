// Requirements of the receivers in docs/receivers, in any language. They run unchanged against a gateway’s deliveries.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Receivers } from '../world/deliveryFacts.ts';
import type { TestGateway } from '../world/gateway.ts';
import { openReady } from '../world/http.ts';
import { Merchant } from '../world/merchant.ts';
import { freePort } from '../world/program.ts';
import { type Hit, typeOf } from '../world/receiver.ts';

const FOLDER = fileURLToPath(new URL('../../docs/receivers/', import.meta.url));

interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly rawBody: string;
}

const mac = (secret: string, text: string, encoding: 'hex' | 'base64'): string =>
  createHmac('sha256', secret).update(text).digest(encoding);

/** Returns the message signed as Quita would sign it, at another time or with another secret. */
const signed = ({ headers, rawBody }: Message, secret: string, agoSeconds = 0): Message => {
  const t = Math.floor(Date.now() / 1_000) - agoSeconds;
  const isLegacy = headers['x-acme-signature']?.startsWith('sha256=');
  return {
    rawBody,
    headers: {
      ...headers,
      'x-acme-signature': isLegacy
        ? `sha256=${mac(secret, rawBody, 'hex')}`
        : `t=${t},v1=${mac(secret, `${t}.${rawBody}`, 'hex')}`,
      'webhook-timestamp': String(t),
      'webhook-signature': `v1,${mac(secret, `${headers['webhook-id']}.${t}.${rawBody}`, 'base64')}`,
    },
  };
};
const without = ({ headers, rawBody }: Message, ...names: readonly string[]): Message => ({
  rawBody,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name))),
});
const having = ({ headers, rawBody }: Message, more: Readonly<Record<string, string>>): Message => ({
  rawBody,
  headers: { ...headers, ...more },
});
const tampered = ({ headers, rawBody }: Message): Message => ({
  headers,
  rawBody: rawBody.replace('"amount":1234', '"amount":1235'),
});
const STANDARD = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

const OTHER_SECRET = 'f'.repeat(64);
/** Changes of a genuine message that must be rejected, in either family. */
const FORGERIES: Readonly<Record<string, (message: Message, secret: string) => Message>> = {
  'another body': (message) => tampered(message),
  'a space behind the body': ({ headers, rawBody }) => ({ headers, rawBody: `${rawBody} ` }),
  'another secret': (message) => signed(message, OTHER_SECRET),
  'an hour ago': (message, secret) => signed(message, secret, 3_600),
  '301 s ago': (message, secret) => signed(message, secret, 301),
  'an hour ahead': (message, secret) => signed(message, secret, -3_600),
  'no signature at all': (message) => without(message, 'x-acme-signature', ...STANDARD),
  'nonsense for a signature': (message) => having(message, { 'x-acme-signature': 'v1=ab' }),
  'a signature that is too short': (message) => having(message, { 'x-acme-signature': 'sha256=abcd' }),
  'the standard signature of another body': (message, secret) =>
    without(
      having(message, {
        'webhook-signature': signed(tampered(message), secret).headers['webhook-signature'] as string,
      }),
      'x-acme-signature',
    ),
  'another event id, and nothing but the standard headers': (message) =>
    without(having(message, { 'webhook-id': 'evt_another' }), 'x-acme-signature'),
};
/** A signature of the legacy family covers neither time nor event id, so the standard headers must be valid. */
const LEGACY_FORGERIES: typeof FORGERIES = {
  'another event id': (message) => having(message, { 'webhook-id': 'evt_another' }),
  'another time': (message) =>
    having(message, { 'webhook-timestamp': String(Number(message.headers['webhook-timestamp']) - 60) }),
  'no standard headers': (message) => without(message, ...STANDARD),
  'a body that is signed by nothing but the standard headers': (message, secret) => {
    const { 'x-acme-signature': acme } = message.headers;
    return having(signed(tampered(message), secret), { 'x-acme-signature': acme as string });
  },
};
const GENUINE: typeof FORGERIES = {
  'as it came': (message) => message,
  'signed 290 s ago': (message, secret) => signed(message, secret, 290),
  'with nothing but the standard headers': (message) => without(message, 'x-acme-signature'),
  'with a second signature of a version to come': (message) =>
    having(message, { 'webhook-signature': `v2,AAAA ${message.headers['webhook-signature']}` }),
};

const messageOf = ({ headers, rawBody }: Hit): Message => ({
  rawBody,
  headers: Object.fromEntries(
    Object.entries(headers).filter(([name]) => /^(x-acme-.*|webhook-.*|content-type)$/.test(name)),
  ) as Record<string, string>,
});

/** Runs `command` in docs/receivers with PORT and WEBHOOK_SECRETS. */
export const describeReceiver = (name: string, command: readonly [string, ...string[]]): void => {
  describe(`the receiver in ${name}`, () => {
    let gateway: TestGateway;
    let merchant: Merchant;
    let receiver: ChildProcess;
    let url: string;
    let printed = '';
    /** The secret of another endpoint, which the receiver also accepts, and that endpoint’s messages. */
    let secret: string;
    let canonical: Message;
    let legacy: Message;
    const receivers = new Receivers();

    before(async () => {
      gateway = await openReady();
      merchant = await Merchant.open(gateway);
      const port = await freePort();
      url = `http://127.0.0.1:${port}/webhooks`;
      const recorder = await receivers.open();
      const endpoint = await merchant.register(url);
      ({ secret } = await merchant.register(recorder.url));
      const [file, ...args] = command;
      receiver = spawn(file, args, {
        cwd: FOLDER,
        env: { ...process.env, PORT: String(port), WEBHOOK_SECRETS: `${endpoint.secret},${secret}` },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      receiver.stdout?.on('data', (chunk: Buffer) => {
        printed += chunk;
      });
      await once(receiver, 'spawn');
      while (receiver.exitCode === null && !(await fetch(url).catch(() => null)));
      const charge = await merchant.charge();
      await merchant.pay(charge.id);
      await merchant.flush();
      const sent = (type: string) => messageOf(recorder.got.find((hit) => typeOf(hit) === type) as Hit);
      [canonical, legacy] = [sent('charge.paid'), sent('payment.completed')];
    });
    after(async () => {
      receiver.kill('SIGKILL');
      await gateway.close();
      await receivers.close();
    });
    const answer = async ({ headers, rawBody }: Message): Promise<number> =>
      (await fetch(url, { method: 'POST', headers, body: rawBody })).status;
    const handled = () => printed.split('\n').slice(0, -1);

    it('accepts the gateway’s deliveries of both families and handles each event once', async () => {
      const { data } = await merchant.deliveries();
      expect(data.map(({ status }) => status)).to.deep.equal(Array(10).fill('DELIVERED'));
      expect(handled().map((line) => /^signature valid: (\S+) evt_\w{26}$/.exec(line)?.[1])).to.have.members([
        ...['charge.created', 'payment.created'],
        ...['charge.paid', 'payment.completed', 'payment.status_changed'],
      ]);
    });

    it('accepts a ping', async () => {
      const { data } = (await merchant.get<{ data: { id: string; url: string }[] }>('/v1/webhooks/endpoints')).body;
      const { id } = data.find((endpoint) => endpoint.url === url) as { id: string };
      const { body } = await gateway.post(`/v1/webhooks/endpoints/${id}/ping`, undefined, merchant);
      expect([body['delivered'], body['statusCode']]).to.deep.equal([true, 204]);
      expect(handled().at(-1)).to.match(/^signature valid: ping ping_\w+$/);
    });

    it('accepts known events signed with the second secret, without handling them again', async () => {
      const before = handled();
      for (const message of [canonical, legacy])
        for (const [how, change] of Object.entries(GENUINE))
          for (const times of ['once', 'twice'])
            expect(await answer(change(message, secret)), `${how} ${times}`).to.equal(204);
      expect(handled()).to.deep.equal(before);
    });

    it('rejects forged messages without handling them', async () => {
      const before = handled();
      for (const [how, change] of Object.entries(FORGERIES))
        for (const message of [canonical, legacy]) expect(await answer(change(message, secret)), how).to.equal(400);
      for (const [how, change] of Object.entries(LEGACY_FORGERIES))
        expect(await answer(change(legacy, secret)), how).to.equal(400);
      expect(handled()).to.deep.equal(before);
    });

    it('rejects signed messages that are not events', async () => {
      for (const rawBody of [
        '',
        'null',
        '[]',
        '1',
        '{}',
        '{"id":1,"type":"x"}',
        '{"id":"evt_1","type":',
        '"charge.paid"',
      ])
        expect(await answer(signed({ ...canonical, rawBody }, secret)), rawBody).to.equal(400);
    });

    it('handles new events after rejections', async () => {
      const events = handled().length;
      await merchant.charge();
      await merchant.flush();
      expect(handled().length).to.equal(events + 2);
    });
  });
};
