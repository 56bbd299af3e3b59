// A mail as the library takes it: the same message whichever adapter sends it.
import type { SendMailOptions } from 'nodemailer';
import type { Mail } from '../../application/ports/mail.ts';

const SENDER = 'Quita';

/** `from`: the sender's address; its host is part of the message's id. */
export const messageOf = ({ id, to, subject, text, html }: Mail, from: string): SendMailOptions => ({
  from: { name: SENDER, address: from },
  // As an object: an address is never read as a list of them.
  to: { name: '', address: to },
  subject,
  text,
  html,
  messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
  // Nobody answers a machine's mail with a machine's mail (RFC 3834).
  headers: { 'Auto-Submitted': 'auto-generated' },
  disableFileAccess: true,
  disableUrlAccess: true,
});
