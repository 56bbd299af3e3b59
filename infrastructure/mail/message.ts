// Builds a mail in nodemailer's form, the same for every adapter.
import type { SendMailOptions } from 'nodemailer';
import type { Mail } from '../../application/ports/mail.ts';

const SENDER = 'Quita';

/** `from` is the sender's address. Its host becomes part of the message id. */
export const messageOf = ({ id, to, subject, text, html }: Mail, from: string): SendMailOptions => ({
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
