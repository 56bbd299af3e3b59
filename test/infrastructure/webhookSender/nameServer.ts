// A DNS server on loopback that knows a few names, denies all others, and stays silent about some (RFC 1035 §4).
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** `null` means that the server never answers. */
export type Zone = Readonly<
  Record<string, { readonly a?: readonly string[]; readonly aaaa?: readonly string[] } | null>
>;

export interface NameServer {
  /** `127.0.0.1:port`, as `Resolver.setServers` takes it. */
  readonly address: string;
  close(): Promise<void>;
}

const A = 1;
const AAAA = 28;
const NXDOMAIN = 3;

export async function openNameServer(zone: Zone): Promise<NameServer> {
  const socket = createSocket('udp4');
  socket.on('message', (query, peer) => {
    const answer = answerTo(query, zone);
    if (answer !== null) socket.send(answer, peer.port, peer.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function answerTo(query: Buffer, zone: Zone): Buffer | null {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = query.readUInt16BE(at + 1);
  const question = query.subarray(12, at + 5);
  const known = zone[labels.join('.').toLowerCase()];
  if (known === null) return null;
  const records = type === A ? (known?.a ?? []).map(ipv4) : type === AAAA ? (known?.aaaa ?? []).map(ipv6) : [];
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | (known === undefined ? NXDOMAIN : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, question, ...records.map((data) => record(type, data))]);
}

function record(type: number, data: Buffer): Buffer {
  const head = Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length]);
  return Buffer.concat([head, data]);
}

const ipv4 = (address: string): Buffer => Buffer.from(address.split('.').map(Number));
/** Encodes a full address without `::`. */
const ipv6 = (address: string): Buffer =>
  Buffer.from(
    address
      .split(':')
      .map((group) => group.padStart(4, '0'))
      .join(''),
    'hex',
  );
