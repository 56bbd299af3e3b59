// Writes mail to files when there is no mail server. Any mail program can open them.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { MailSender } from '../../application/ports/mail.ts';
import { writeWhole } from '../secrets/privateFiles.ts';
import { messageOf } from './message.ts';
import { lateTransport } from './transport.ts';

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
