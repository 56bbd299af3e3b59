// Mail to people. Only jobs send mail, so that requests never wait for a mail server.
export interface Mail {
  /** Identifies the message to its receiver, so that a mail sent twice counts as one. Letters, digits and `-`. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The mail server rejected the address. A retry would be rejected, too. */
export class AddressRefused extends Error {
  override name = 'AddressRefused';
}

export interface MailSender {
  /** Resolves when a mail server has accepted the message. Throws AddressRefused, or another error if a retry may help. A retry is safe. */
  send(mail: Mail): Promise<void>;
  /** Removes the messages with these ids, as far as this service still has them. A mail server's copies are out of reach. */
  forget(ids: readonly string[]): Promise<void>;
  close(): void;
}
