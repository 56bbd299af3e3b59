// Requirements of every way of sending mail.
import { expect } from 'chai';
import type { Mail, MailSender } from '../../application/ports/mail.ts';

export const MAIL: Mail = {
  id: '0123456789abcdef',
  to: 'ana@example.com',
  subject: 'Redefinição da sua senha',
  text: 'Olá,\n\nhttps://pay.quita.example/account/password#segredo\n',
  html: '<p>Olá, <a href="https://pay.quita.example/account/password#segredo">senha</a></p>\n',
};
export const FROM = 'quita@pay.quita.example';

interface MailUnderTest {
  readonly sender: MailSender;
  /** Returns the messages that arrived (RFC 5322), in order. A message sent again under its id may appear again. */
  received(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Returns the visible parts of a message, decoded. */
const partsOf = (message: string): readonly string[] => {
  const [, boundary = ''] = /boundary="([^"]+)"/.exec(message) ?? [];
  return message
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const [head = '', ...body] = part.trim().split(/\r?\n\r?\n/);
      const text = body.join('\n\n');
      if (/base64/i.test(head)) return Buffer.from(text, 'base64').toString('utf8');
      if (!/quoted-printable/i.test(head)) return text;
      const bytes = text
        .replaceAll(/=\r?\n/g, '')
        .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
      return Buffer.from(bytes, 'latin1').toString('utf8');
    })
    .map((text) => text.replaceAll('\r\n', '\n').trim());
};
const headerOf = (message: string, name: string): string | undefined =>
  new RegExp(`^${name}: (.*(?:\\r?\\n[ \\t].*)*)`, 'im').exec(message)?.[1]?.replaceAll(/\r?\n[ \t]/g, ' ');

export const mailConformance = (name: string, open: () => Promise<MailUnderTest>): void => {
  describe(`mail: ${name}`, () => {
    let mail: MailUnderTest;
    beforeEach(async () => {
      mail = await open();
    });
    afterEach(() => mail.close());

    it('sends a message with its sender, receiver, subject and id, as text and as HTML', async () => {
      await mail.sender.send(MAIL);
      const [message = '', ...more] = await mail.received();
      expect(more).to.deep.equal([]);
      expect(headerOf(message, 'From')).to.equal(`Quita <${FROM}>`);
      expect(headerOf(message, 'To')).to.equal(MAIL.to);
      expect(headerOf(message, 'Message-ID')).to.equal('<0123456789abcdef@pay.quita.example>');
      expect(headerOf(message, 'Auto-Submitted')).to.equal('auto-generated');
      expect(headerOf(message, 'Subject')).to.match(/^=\?UTF-8\?[QB]\?/);
      expect(partsOf(message)).to.deep.equal([MAIL.text.trim(), MAIL.html.trim()]);
    });
    it('sends a repeated message under the same id', async () => {
      await mail.sender.send(MAIL);
      await mail.sender.send(MAIL);
      const ids = (await mail.received()).map((message) => headerOf(message, 'Message-ID'));
      expect(new Set(ids).size).to.equal(1);
    });
    it('treats an address as one address and a subject as one line, whatever they contain', async () => {
      const to = '"a, b@elsewhere.example"@example.com';
      await mail.sender.send({ ...MAIL, to, subject: 'One\r\nBcc: everybody@example.com' });
      const [message = ''] = await mail.received();
      expect(message).to.not.match(/^Bcc:/im);
      expect(headerOf(message, 'To'))
        .to.include('example.com')
        .and.not.match(/elsewhere\.example>/);
    });
  });
};
