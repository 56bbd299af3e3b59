// Mails with a link to set a password, in Portuguese like the linked pages. They contain no user input.
import type { Mail } from '../ports/mail.ts';
import type { LinkPurpose } from '../ports/passwordLinks.ts';

const WORDS: {
  readonly [Purpose in LinkPurpose]: { readonly subject: string; readonly opening: string; readonly link: string };
} = {
  invitation: {
    subject: 'Seu acesso à Quita',
    opening: 'Você foi convidado a acessar o painel da Quita. Crie a sua senha por este link:',
    link: 'Criar a senha',
  },
  reset: {
    subject: 'Redefinição da sua senha na Quita',
    opening: 'Recebemos um pedido para redefinir a sua senha na Quita. Defina uma nova por este link:',
    link: 'Definir uma nova senha',
  },
};
const NOTE = 'O link vale por uma hora e pode ser usado uma única vez.';
const IGNORE = 'Se você não esperava esta mensagem, ignore-a: nada muda sem o link. Não o encaminhe a ninguém.';

/** `link` must not contain characters that are special in HTML. */
export const passwordMail = (purpose: LinkPurpose, link: string): Pick<Mail, 'subject' | 'text' | 'html'> => {
  const { subject, opening, link: label } = WORDS[purpose];
  return {
    subject,
    text: `Olá,\n\n${opening}\n\n${link}\n\n${NOTE}\n${IGNORE}\n\nQuita\n`,
    html: `<!doctype html>
<html lang="pt-BR"><body style="font:16px/1.5 system-ui,sans-serif;color:#14201b">
<p>Olá,</p><p>${opening}</p>
<p><a href="${link}">${label}</a></p>
<p>${NOTE}<br>${IGNORE}</p><p>Quita</p>
</body></html>
`,
  };
};
