// A response as sent over the wire.
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Sending {
  readonly status: number;
  readonly contentType: string;
  /** If null, there is no body and no content type. */
  readonly text: string | null;
}

export const send = (
  res: ServerResponse,
  { status, contentType, text }: Sending,
  more: Readonly<Record<string, string>> = {},
): void => {
  if (res.destroyed) return;
  res.writeHead(status, { ...(text === null ? {} : { 'content-type': contentType }), ...more });
  res.end(text ?? undefined);
};

/** Returns the body of a request as text. */
export const bodyOf = async (req: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};
