// Sends mail by SMTP, over TLS (smtps) or STARTTLS. Plain SMTP is allowed only to this machine, or if configured.
import type { MailSender } from '../../application/ports/mail.ts';
import { messageOf } from './message.ts';
import { lateTransport } from './transport.ts';

const CONNECT_MS = 10_000;
/** How long a connection may be idle. */
const SILENCE_MS = 30_000;

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
      await (await transport.opened()).sendMail(messageOf(mail, from));
    },
    forget: async () => undefined, // nothing is kept
    close: () => transport.close(),
  };
};
