// Chooses how mail is sent: through SMTP_URL, or into files.

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SendMailOptions } from 'nodemailer';
import { AddressRefused, type Mail, type MailSender } from '../../application/ports/mail.ts';
import { isLoopbackHost } from '../../http/kernel/address.ts';
import type { Config } from '../config/config.ts';
import { writeWhole } from '../secrets/privateFiles.ts';

// --- Loads nodemailer with the first mail, which saves 85 ms of CPU at every start ---

interface Closable {
  close(): void;
}

interface LateTransport<T extends Closable> {
  opened(): Promise<T>;
  /** No-op if no mail was sent. */
  close(): void;
}

const lateTransport = <T extends Closable>(open: (nodemailer: typeof import('nodemailer')) => T): LateTransport<T> => {
  let transport: Promise<T> | null = null;
  return {
    opened: () => {
      transport ??= import('nodemailer').then(open);
      return transport;
    },
    close: () => void transport?.then((opened) => opened.close()),
  };
};

// --- Builds a mail in nodemailer's form, the same for every adapter ---

const SENDER = 'Quita';

/** `from` is the sender's address. Its host becomes part of the message id. */
const messageOf = ({ id, to, subject, text, html }: Mail, from: string): SendMailOptions => ({
  from: { name: SENDER, address: from },
  // An object, because nodemailer would parse a string as a list of addresses.
  to: { name: '', address: to },
  subject,
  text,
  html,
  messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
  // Prevents automatic replies (RFC 3834).
  headers: { 'Auto-Submitted': 'auto-generated' },
  disableFileAccess: true,
  disableUrlAccess: true,
});

// --- Writes mail to files when there is no mail server. Any mail program can open them. ---

/** Writes `<folder>/<id>.eml` atomically, readable only by its owner. */
export const outboxMail = (folder: string, from: string): MailSender => {
  const transport = lateTransport(({ createTransport }) =>
    createTransport({ streamTransport: true, buffer: true, newline: 'unix' }),
  );
  return {
    send: async (mail) => {
      const { message } = await (await transport.opened()).sendMail(messageOf(mail, from));
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeWhole(join(folder, `${mail.id}.eml`), message.toString());
    },
    forget: async (ids) => {
      for (const id of ids) await rm(join(folder, `${id}.eml`), { force: true });
    },
    close: () => transport.close(),
  };
};

// --- Sends mail by SMTP, over TLS (smtps) or STARTTLS. Plain SMTP is allowed only to this machine, or if configured. ---

const CONNECT_MS = 10_000;
/** How long a connection may be idle. */
const SILENCE_MS = 30_000;

/** RFC 5321: no such mailbox, or its name is not allowed. */
const NO_MAILBOX = [550, 551, 553];
/** RFC 3463: the server's policy refuses the mail, which the operator can change. */
const BY_POLICY = /^\d{3}[ -]5\.7\./;

/** Returns whether the server permanently refused the receiver's address. */
const isAddressRefused = (error: unknown): boolean => {
  const { command, responseCode, response } = error as { command?: string; responseCode?: number; response?: string };
  return command === 'RCPT TO' && NO_MAILBOX.includes(responseCode ?? 0) && !BY_POLICY.test(response ?? '');
};

interface SmtpOptions {
  /** `smtp://user:password@host:port` or `smtps://…`. */
  readonly url: string;
  readonly from: string;
  readonly requiresTls: boolean;
}

export const smtpMail = ({ url, from, requiresTls }: SmtpOptions): MailSender => {
  const transport = lateTransport(({ createTransport }) =>
    createTransport({
      url,
      requireTLS: requiresTls && !url.startsWith('smtps:'),
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
    }),
  );
  return {
    send: async (mail) => {
      try {
        await (await transport.opened()).sendMail(messageOf(mail, from));
      } catch (error) {
        throw isAddressRefused(error)
          ? new AddressRefused('the mail server refuses the address', { cause: error })
          : error;
      }
    },
    forget: async () => undefined, // nothing is kept
    close: () => transport.close(),
  };
};

type MailConfig = Pick<Config, 'smtpUrl' | 'mailFrom' | 'dataDir' | 'allowPlainConnections'>;

export const mailOf = ({ smtpUrl, mailFrom, dataDir, allowPlainConnections }: MailConfig): MailSender => {
  if (smtpUrl === null) return outboxMail(join(dataDir, 'outbox'), mailFrom);
  const requiresTls = !allowPlainConnections && !isLoopbackHost(new URL(smtpUrl).hostname);
  return smtpMail({ url: smtpUrl, from: mailFrom, requiresTls });
};
