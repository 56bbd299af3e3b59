// A minimal mail server (RFC 5321) that accepts all messages or none.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

interface SmtpServer {
  readonly url: string;
  /** Accepted messages, without the dots that SMTP adds. */
  readonly messages: readonly string[];
  /** All RCPT commands. */
  readonly receivers: readonly string[];
  /** Rejects all messages from now on. */
  refuse(): void;
  /** Responds to RCPT commands with this line from now on. */
  refuseReceivers(line: string): void;
  close(): Promise<void>;
}

const ANSWERS: { readonly [verb: string]: string } = {
  DATA: '354 go on',
  QUIT: '221 bye',
  STAR: '502 no TLS here',
};

export const openSmtpServer = async (): Promise<SmtpServer> => {
  const messages: string[] = [];
  const receivers: string[] = [];
  const sockets = new Set<Socket>();
  let isRefusing = false;
  let ofReceiver = '250 ok';
  const serve = (socket: Socket): void => {
    sockets.add(socket);
    let pending = '';
    let data: string | null = null;
    const say = (line: string) => void socket.write(`${line}\r\n`);
    const hear = (line: string): void => {
      if (data !== null) {
        if (line !== '.') {
          data += `${line.replace(/^\./, '')}\r\n`;
          return;
        }
        if (isRefusing) say('451 not now');
        else {
          messages.push(data);
          say('250 taken');
        }
        data = null;
        return;
      }
      const verb = line.slice(0, 4).toUpperCase();
      if (verb === 'RCPT') receivers.push(line);
      if (verb === 'DATA') data = '';
      say(ANSWERS[verb] ?? (verb === 'RCPT' ? ofReceiver : '250 ok'));
      if (verb === 'QUIT') socket.end();
    };
    socket.on('data', (chunk) => {
      const lines = (pending + chunk.toString('utf8')).split('\r\n');
      pending = lines.pop() ?? '';
      for (const line of lines) hear(line);
    });
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    say('220 test');
  };
  const server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages,
    receivers,
    refuse: () => {
      isRefusing = true;
    },
    refuseReceivers: (line) => {
      ofReceiver = line;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
