// Mail to people. Sent by jobs alone: whoever asks for one never waits for a mail server.
export interface Mail {
  /** Names the message, also to whoever receives it: sent twice it is the same one. Letters, digits and `-`. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface MailSender {
  /** Resolves when somebody has taken the message over for good; throws when that is not known. A repeat is safe. */
  send(mail: Mail): Promise<void>;
  close(): void;
}
