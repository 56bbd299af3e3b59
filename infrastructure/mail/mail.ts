// Chooses how mail is sent: through SMTP_URL, or into files.
import { join } from 'node:path';
import type { MailSender } from '../../application/ports/mail.ts';
import { isLoopbackHost } from '../../http/kernel/address.ts';
import type { Config } from '../config/config.ts';
import { outboxMail } from './outbox.ts';
import { smtpMail } from './smtp.ts';

type MailConfig = Pick<Config, 'smtpUrl' | 'mailFrom' | 'dataDir' | 'allowPlainConnections'>;

export const mailOf = ({ smtpUrl, mailFrom, dataDir, allowPlainConnections }: MailConfig): MailSender => {
  if (smtpUrl === null) return outboxMail(join(dataDir, 'outbox'), mailFrom);
  const requiresTls = !allowPlainConnections && !isLoopbackHost(new URL(smtpUrl).hostname);
  return smtpMail({ url: smtpUrl, from: mailFrom, requiresTls });
};
