import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { AddressRefused } from '../../application/ports/mail.ts';
import { outboxMail, smtpMail } from '../../infrastructure/mail/mail.ts';
import { openSmtpServer } from '../world/smtpServer.ts';
import { FROM, MAIL, mailConformance } from './mail.ts';

mailConformance('SMTP', async () => {
  const server = await openSmtpServer();
  const sender = smtpMail({ url: server.url, from: FROM, requiresTls: false });
  return {
    sender,
    received: async () => server.messages,
    close: async () => {
      sender.close();
      await server.close();
    },
  };
});

mailConformance('files', async () => {
  const folder = join(await mkdtemp(join(tmpdir(), 'quita-mail-')), 'outbox');
  const sender = outboxMail(folder, FROM);
  return {
    sender,
    received: async () => Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8'))),
    close: async () => {
      sender.close();
      await rm(join(folder, '..'), { recursive: true });
    },
  };
});

describe('mail by SMTP', () => {
  it('fails if the server rejects the message or is down', async () => {
    const server = await openSmtpServer();
    const sender = smtpMail({ url: server.url, from: FROM, requiresTls: false });
    server.refuse();
    const outcome = () =>
      sender.send(MAIL).then(
        () => 'sent',
        () => 'failed',
      );
    expect(await outcome()).to.equal('failed');
    await server.close();
    expect(await outcome()).to.equal('failed');
    expect(server.messages).to.deep.equal([]);
    sender.close();
  });
  it('is rejected permanently for an unknown address, and temporarily for other errors', async () => {
    const server = await openSmtpServer();
    const sender = smtpMail({ url: server.url, from: FROM, requiresTls: false });
    const outcomes: boolean[] = [];
    for (const line of [
      ...['550 5.1.1 no such user', '550 no such user', '553 not a name here'],
      ...['450 4.2.1 later', '452 4.2.2 full', '550 5.7.1 relaying denied', '554 5.7.1 blocked', '530 log in first'],
    ]) {
      server.refuseReceivers(line);
      const error = await sender.send(MAIL).catch((caught: unknown) => caught);
      expect(error, line).to.be.an.instanceOf(Error);
      outcomes.push(error instanceof AddressRefused);
    }
    expect(outcomes).to.deep.equal([true, true, true, false, false, false, false, false]);
    expect(server.messages).to.deep.equal([]);
    sender.close();
    await server.close();
  });
  it('is never sent without TLS if TLS is required', async () => {
    const server = await openSmtpServer();
    const sender = smtpMail({ url: server.url, from: FROM, requiresTls: true });
    expect(await sender.send(MAIL).catch((error: { code: string }) => error.code)).to.equal('ETLS');
    expect(server.receivers).to.deep.equal([]);
    sender.close();
    await server.close();
  });
});

describe('mail in files', () => {
  it('is one file per message id, readable by its owner only', async () => {
    const folder = join(await mkdtemp(join(tmpdir(), 'quita-mail-')), 'outbox');
    const sender = outboxMail(folder, FROM);
    await sender.send(MAIL);
    await sender.send(MAIL);
    expect(await readdir(folder)).to.deep.equal([`${MAIL.id}.eml`]);
    expect((await stat(join(folder, `${MAIL.id}.eml`))).mode & 0o777).to.equal(0o600);
    expect((await stat(folder)).mode & 0o777).to.equal(0o700);
    await rm(join(folder, '..'), { recursive: true });
  });
});
